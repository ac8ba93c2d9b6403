"""Commands that set Bethink up: init, config show and completion."""

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.frame import SPACE, Answer, Door, Usage, command
from bethink.cli.terminal import Line, columns
from bethink.errors import Conflict, Misconfigured

if TYPE_CHECKING:
    from bethink.settings import Settings

app = typer.Typer()
config = typer.Typer(help="Look at the settings.")

_SHELLS = ("bash", "zsh", "fish", "powershell")
_FILE = """\
# Settings of Bethink; the others keep their defaults. `bethink config show --origin` lists them all.

# A model makes facts and documents of what was said; without one, memory quotes. Redacted transcripts go to it.
# model = "openai:gpt-6-luna"
# model_base_url = "http://127.0.0.1:8080/v1"
# daily_spend_cap = 5.0

# An embedder finds what means much the same.
# embedder = "onnx:/path/to/a/model"

{database}
"""


@command(app, does="makes", opens=False, without=SPACE)
async def init(
    door: Door,
    *,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> Answer:
    """Write a settings file, make an empty memory, and say what to do next.

    The file goes to the usual place, or where --config says.
    """
    from bethink.cli.place import config_folder, data_folder  # noqa: PLC0415

    path = Path(door.common.config) if door.common.config else config_folder() / "bethink.toml"
    if path.exists() and not force:
        raise Conflict(f"{path} is there already.", hint="Give --force to write over it, or --config for another.")
    text = _FILE.format(database=_database(door.common.database, folder=data_folder()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(
            f"{path.parent} cannot be made: {error.strerror}.", hint="Check HOME, or --config."
        ) from error
    await _make(door.common.database or str(data_folder() / "memory.db"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)  # it may hold a password, so only its owner may read it, also if it was there
        file.write(text)
    named = f" --config {path}" if door.common.config else ""
    steps = [
        f"bethink doctor{named}",
        f'bethink add "I moved to Bergen in May."{named}',
        f'bethink recall "Where do I live?" --explain{named}',
    ]
    lines = [Line(f"wrote {path}"), Line(), Line("Next:", "bold"), *(Line(f"  {each}") for each in steps)]
    return Answer(data={"file": str(path), "next": steps}, lines=lines)


async def _make(target: str) -> None:
    """Make the file, so that who looks next finds it; a server's database is somebody else's to make."""
    from bethink.build import memory_from  # noqa: PLC0415
    from bethink.settings import Settings, settings_of  # noqa: PLC0415

    path = settings_of(target).get("sqlite_path")
    if path:
        async with memory_from(Settings(sqlite_path=path, learn=False)):
            pass


def _database(target: str | None, *, folder: Path) -> str:
    from bethink.settings import settings_of  # noqa: PLC0415

    given = settings_of(target or "")
    if not given:
        return f"# One file in this folder holds everything.\ndata_dir = {_quoted(str(folder))}"
    module, *rest = given.items()
    [(name, value)] = rest
    key = name.partition("_")[2]
    absolute = str(Path(value).resolve()) if key == "path" else value
    return f'module = "{module[1]}"\n\n[modules."{module[1]}"]\n{key} = {_quoted(absolute)}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # JSON's strings are strings of TOML


@command(config, "show", opens=False, without=SPACE)
async def show_config(
    door: Door,
    *,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
) -> Answer:
    """Show every setting in force; secrets are masked."""
    settings = door.place.settings
    values = _values(settings)
    data = {
        name: {"value": value, "origin": settings.origins[name]} if origin else value for name, value in values.items()
    }
    rows = [
        [name, _told(value), settings.origins[name]] if origin else [name, _told(value)]
        for name, value in values.items()
    ]
    return Answer(data={"file": door.place.file, "settings": data}, lines=columns(rows))


app.add_typer(config, name="config")


def _told(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _values(settings: "Settings") -> dict[str, object]:
    from bethink.cli.place import SECRETS, masked  # noqa: PLC0415

    found: dict[str, object] = {}
    for each in fields(settings):
        if each.name not in ("agents", "origins"):
            value = getattr(settings, each.name)
            text = masked(value) if isinstance(value, str) else value
            found[each.name] = "***" if value and each.name in SECRETS else text
    return found


@command(app, opens=False, without=(*SPACE, "config", "database"))
async def completion(
    door: Door,  # noqa: ARG001 - every command gets one
    shell: Annotated[str, typer.Argument(help="bash, zsh, fish or powershell.  [default: from $SHELL]")] = "",
) -> Answer:
    """Print the completion script of a shell. Source it from the shell's start file."""
    from typer._completion_shared import get_completion_script  # noqa: PLC0415

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        raise Usage(f"no completion for {name!r}.", hint=f"Give one of {', '.join(_SHELLS)}.")
    script = get_completion_script(prog_name="bethink", complete_var="_BETHINK_COMPLETE", shell=name)
    return Answer(data={"shell": name, "script": script}, lines=[Line(line) for line in script.split("\n")])
