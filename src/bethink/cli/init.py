"""Commands that set up Bethink: admin init, admin config show and admin completion."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.groups import called_alone
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, columns
from bethink.errors import ConfigurationError, ConflictError

app = typer.Typer()
config = typer.Typer(cls=called_alone("show"), help="Show settings.")

_SHELLS = ("bash", "zsh", "fish", "powershell")
_FILE = """\
# Settings of Bethink. `bethink admin config show --sources` lists them all.

{database}

# A model learns facts and documents from conversations. It reads redacted transcripts.
# [model]
# name = "openai:gpt-6-luna"
# base_url = "http://127.0.0.1:8080/v1"

# [learning]
# daily_budget = 5.0

# With an embedder, recall also finds other words for the same. The default is the one of bethink[local], if that is
# installed; 'bethink data models' lists better ones.
# [embedder]
# name = "bge-small-en"
"""


@command(app, "admin init", effect="creates", opens=False, local=True, without=NO_SPACE)
async def init(
    ctx: CommandContext,
    *,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> Result:
    """Write a settings file and create a database.

    The file is bethink.toml in the user's settings folder, or --config.
    """
    from bethink.base.folders import config_folder, data_folder  # noqa: PLC0415

    path = Path(ctx.options.config) if ctx.options.config else config_folder() / "bethink.toml"
    if path.exists() and not force:
        raise ConflictError(
            f"{path} already exists.", hint="Pass --force to overwrite it, or --config for another file."
        )
    text = _FILE.format(database=_database(ctx.options.database, folder=data_folder()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"Cannot create {path.parent}: {error.strerror}.", hint="Check HOME, or pass --config."
        ) from error
    await _create(ctx.options.database or str(data_folder() / "memory.db"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)  # it may hold a password; an existing file keeps its mode otherwise
        file.write(text)
    option = f" --config {path}" if ctx.options.config else ""
    steps = [
        f"bethink doctor{option}",
        f'bethink add "I moved to Bergen in May."{option}',
        f'bethink recall "Where do I live?" --explain{option}',
    ]
    lines = [
        OutputLine(f"Wrote {path}."),
        OutputLine(),
        OutputLine("Next:", "bold"),
        *(OutputLine(f"  {step}") for step in steps),
    ]
    return Result(data={"file": str(path), "next": steps}, lines=lines)


async def _create(target: str) -> None:
    """Create a SQLite file, so that the next command opens it. A PostgreSQL database must already exist."""
    from bethink.api.connect import connect  # noqa: PLC0415
    from bethink.config.addresses import settings_of  # noqa: PLC0415
    from bethink.config.groups import LearningSettings, SqliteSettings  # noqa: PLC0415
    from bethink.config.settings import Settings  # noqa: PLC0415

    path = settings_of(target).get("sqlite_path")
    if path:
        settings = Settings(sqlite=SqliteSettings(path=path), learning=LearningSettings(enabled=False))
        async with connect(settings=settings):
            pass


def _database(target: str | None, *, folder: Path) -> str:
    from bethink.config.addresses import settings_of  # noqa: PLC0415

    if not target:
        return f"# The folder of memory.db.\ndata_dir = {_quote(str(folder))}"
    path = settings_of(target).get("sqlite_path")
    return f"database = {_quote(str(Path(path).resolve()) if path else target)}"


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)  # JSON strings are valid TOML


@command(config, "show", opens=False, local=True, without=NO_SPACE)
async def show_config(
    ctx: CommandContext,
    *,
    sources: Annotated[bool, typer.Option("--sources", help="Show the source of each value.")] = False,
) -> Result:
    """Show settings. Secrets are masked."""
    from bethink.config.masking import masked_values  # noqa: PLC0415 - other commands need none of it

    settings = ctx.target.settings
    values = masked_values(settings)
    data = {
        name: {"value": value, "origin": settings.origins[name]} if sources else value for name, value in values.items()
    }
    rows = [
        [name, _quote(value), settings.origins[name]] if sources else [name, _quote(value)]
        for name, value in values.items()
    ]
    return Result(data={"file": ctx.target.file, "settings": data}, lines=columns(rows))


app.add_typer(config, name="admin config")


@command(app, "admin completion", opens=False, local=True, without=(*NO_SPACE, "config", "database"))
async def completion(
    ctx: CommandContext,  # noqa: ARG001 - every command gets one
    shell: Annotated[str, typer.Argument(help="bash, zsh, fish or powershell.  [default: $SHELL]")] = "",
) -> Result:
    """Print shell completion. Source it in the startup file of your shell."""
    from typer._completion_shared import get_completion_script  # noqa: PLC0415

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        raise UsageError(f"Unknown shell {name!r}.", hint=f"Use one of {', '.join(_SHELLS)}.")
    script = get_completion_script(prog_name="bethink", complete_var="_BETHINK_COMPLETE", shell=name)
    return Result(data={"shell": name, "script": script}, lines=[OutputLine(line) for line in script.split("\n")])
