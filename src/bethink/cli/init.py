"""Commands that set up Bethink: init, config show and completion."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, UsageError, command
from bethink.cli.terminal import OutputLine, columns
from bethink.errors import Conflict, Misconfigured

app = typer.Typer()
config = typer.Typer(help="Show the settings.")

_SHELLS = ("bash", "zsh", "fish", "powershell")
_FILE = """\
# Settings of Bethink. `bethink config show --origin` lists them all.

{database}

# A model turns conversations into facts and documents. It is sent redacted transcripts. Without one, memory quotes.
# [model]
# name = "openai:gpt-6-luna"
# base_url = "http://127.0.0.1:8080/v1"

# [learning]
# daily_spend_cap = 5.0

# With an embedder, recall also finds what was said in other words. By default it is the one of bethink[local], if that
# is installed; 'bethink models list' shows better ones.
# [embedder]
# name = "bge-small-en"
"""


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
async def init(
    ctx: CommandContext,
    *,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> Result:
    """Write a settings file and create an empty memory.

    The file is bethink.toml in the user's settings folder, or --config.
    """
    from bethink.base.folders import config_folder, data_folder  # noqa: PLC0415

    path = Path(ctx.options.config) if ctx.options.config else config_folder() / "bethink.toml"
    if path.exists() and not force:
        raise Conflict(f"{path} already exists.", hint="Pass --force to overwrite it, or --config for another file.")
    text = _FILE.format(database=_database(ctx.options.database, folder=data_folder()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(
            f"cannot create {path.parent}: {error.strerror}.", hint="Check HOME, or pass --config."
        ) from error
    await _create(ctx.options.database or str(data_folder() / "memory.db"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)  # it may hold a password; an existing file keeps its mode otherwise
        file.write(text)
    named = f" --config {path}" if ctx.options.config else ""
    steps = [
        f"bethink doctor{named}",
        f'bethink add "I moved to Bergen in May."{named}',
        f'bethink recall "Where do I live?" --explain{named}',
    ]
    lines = [
        OutputLine(f"wrote {path}"),
        OutputLine(),
        OutputLine("Next:", "bold"),
        *(OutputLine(f"  {each}") for each in steps),
    ]
    return Result(data={"file": str(path), "next": steps}, lines=lines)


async def _create(target: str) -> None:
    """Create a SQLite file, so that the next command finds it. A PostgreSQL database must already exist."""
    from bethink.api.connect import connect  # noqa: PLC0415
    from bethink.config.groups import LearningSettings, SqliteSettings  # noqa: PLC0415
    from bethink.config.settings import Settings, settings_of  # noqa: PLC0415

    path = settings_of(target).get("sqlite_path")
    if path:
        settings = Settings(sqlite=SqliteSettings(path=path), learning=LearningSettings(enabled=False))
        async with connect(settings=settings):
            pass


def _database(target: str | None, *, folder: Path) -> str:
    from bethink.config.settings import settings_of  # noqa: PLC0415

    given = settings_of(target or "")
    if not given:
        return f"# memory.db in this folder holds everything.\ndata_dir = {_quoted(str(folder))}"
    module, *rest = given.items()
    [(name, value)] = rest
    group, _, key = name.partition("_")
    absolute = str(Path(value).resolve()) if key == "path" else value
    return f'module = "{module[1]}"\n\n[{group}]\n{key} = {_quoted(absolute)}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # JSON strings are valid TOML


@command(config, "show", opens=False, local=True, without=NO_SPACE)
async def show_config(
    ctx: CommandContext,
    *,
    origin: Annotated[bool, typer.Option("--origin", help="Show where each value comes from.")] = False,
) -> Result:
    """Show the settings in force. Secrets are masked."""
    from bethink.config.masked import shown_values  # noqa: PLC0415 - other commands need none of it

    settings = ctx.target.settings
    values = shown_values(settings)
    data = {
        name: {"value": value, "origin": settings.origins[name]} if origin else value for name, value in values.items()
    }
    rows = [
        [name, _written(value), settings.origins[name]] if origin else [name, _written(value)]
        for name, value in values.items()
    ]
    return Result(data={"file": ctx.target.file, "settings": data}, lines=columns(rows))


app.add_typer(config, name="config")


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@command(app, opens=False, local=True, without=(*NO_SPACE, "config", "database"))
async def completion(
    ctx: CommandContext,  # noqa: ARG001 - every command gets one
    shell: Annotated[str, typer.Argument(help="bash, zsh, fish or powershell.  [default: from $SHELL]")] = "",
) -> Result:
    """Print the completion script for a shell. Source it in the start file of the shell."""
    from typer._completion_shared import get_completion_script  # noqa: PLC0415

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        raise UsageError(f"unknown shell {name!r}.", hint=f"Use one of {', '.join(_SHELLS)}.")
    script = get_completion_script(prog_name="bethink", complete_var="_BETHINK_COMPLETE", shell=name)
    return Result(data={"shell": name, "script": script}, lines=[OutputLine(line) for line in script.split("\n")])
