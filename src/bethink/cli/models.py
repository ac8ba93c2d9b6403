"""Commands for local models: data models list, pull and where."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.groups import called_alone
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, Progress, columns
from bethink.errors import NotFoundError

if TYPE_CHECKING:
    from bethink.providers.weights.catalog import CatalogEntry

app = typer.Typer()
models = typer.Typer(cls=called_alone("list"), help="List and download local models.")
app.add_typer(models, name="data models")

_WITHOUT = ("space", "database")
Catalog = Annotated[
    str | None, typer.Option("--catalog", metavar="FILE", help="Custom catalog, in JSON.  [default: built-in]")
]


@command(models, "list", opens=False, local=True, without=_WITHOUT)
async def list_models(ctx: CommandContext, *, catalog: Catalog = None) -> Result:
    """List local models, downloaded or not."""
    from bethink.providers.weights.pull import is_downloaded  # noqa: PLC0415 - as every import here, for a quick --help

    entries, folder = _entries(catalog), ctx.target.settings.models_folder
    data: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "task": entry.manifest.task,
            "megabytes": entry.megabytes,
            "license": entry.manifest.license,
            "languages": entry.manifest.languages,
            "about": entry.about,
            "downloaded": is_downloaded(entry, folder),
        }
        for entry in entries.values()
    ]
    rows = [
        [
            model["name"],
            model["task"],
            f"{model['megabytes']} MB",
            model["license"],
            "yes" if model["downloaded"] else "no",
            model["about"],
        ]
        for model in data
    ]
    head = ["NAME", "SETTING", "SIZE", "LICENSE", "DOWNLOADED", "ABOUT"]
    return Result(data=data, lines=columns(rows, head=head))


@command(models, effect="changes", opens=False, local=True, without=_WITHOUT)
async def pull(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(help="Model, as 'bethink data models' lists it.")],
    *,
    catalog: Catalog = None,
) -> Result:
    """Download a model and verify every file. No other command downloads anything."""
    from bethink.providers.weights.pull import pull as download  # noqa: PLC0415

    settings = ctx.target.settings
    entry = _find(name, catalog)
    total = entry.megabytes * 1_000_000
    with Progress("bytes", total, quiet=ctx.options.quiet or ctx.options.json) as progress:
        new = await download(entry, settings.models_folder, base=settings.models_url, progress=progress.advance)
    home = settings.models_folder / entry.name
    lines = [f"{'Downloaded' if new else 'Already downloaded:'} {home} ({entry.manifest.license})"]
    lines.append(f'Set {entry.manifest.task} = "{entry.name}" to use it')
    data = {"name": entry.name, "folder": str(home), "license": entry.manifest.license, "new": new}
    return Result(data=data, lines=[OutputLine(line) for line in lines])


@command(models, opens=False, local=True, without=_WITHOUT)
async def where(
    ctx: CommandContext,
    name: Annotated[str | None, typer.Argument(help="Downloaded model.")] = None,
) -> Result:
    """Print the folder of the downloaded models, or of one model."""
    from bethink.providers.weights.catalog import is_model_name  # noqa: PLC0415

    folder = ctx.target.settings.models_folder
    if name is not None:
        if not is_model_name(name) or not (folder / name).is_dir():
            raise NotFoundError(f"Model {name} is not downloaded.", hint=f"Run 'bethink data models pull {name}'.")
        folder = folder / name
    return Result(data={"folder": str(folder)}, lines=[OutputLine(str(folder))])


def _entries(catalog: str | None) -> "dict[str, CatalogEntry]":
    from bethink.providers.weights.catalog import read_catalog  # noqa: PLC0415

    return read_catalog(None if catalog is None else Path(catalog))


def _find(name: str, catalog: str | None) -> "CatalogEntry":
    entries = _entries(catalog)
    if name not in entries:
        raise UsageError(f"Unknown model {name!r}.", hint=f"Use one of {', '.join(entries)}.")
    return entries[name]
