"""Commands for local models: list, pull and where."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.terminal import OutputLine, Progress
from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.providers.weights.catalogue import CatalogueEntry

app = typer.Typer()
models = typer.Typer(help="List and download models that run on this machine.")
app.add_typer(models, name="models")

_WITHOUT = ("space", "database")
Catalogue = Annotated[
    str | None, typer.Option("--catalogue", metavar="FILE", help="A catalogue of your own, in JSON.  [default: ours]")
]


@command(models, "list", opens=False, local=True, without=_WITHOUT)
async def list_models(ctx: CommandContext, *, catalogue: Catalogue = None) -> Result:
    """List the models that can be downloaded, and those that are."""
    from bethink.providers.weights.pull import is_whole  # noqa: PLC0415 - as every import here, for a quick --help

    known, folder = _known(catalogue), ctx.target.settings.models_folder
    data: list[dict[str, Any]] = [
        {
            "name": each.name,
            "task": each.manifest.task,
            "megabytes": each.megabytes,
            "licence": each.manifest.licence,
            "languages": each.manifest.languages,
            "about": each.about,
            "downloaded": is_whole(each, folder),
        }
        for each in known.values()
    ]
    rows = [
        [
            each["name"],
            each["task"],
            f"{each['megabytes']} MB",
            each["licence"],
            "yes" if each["downloaded"] else "no",
            each["about"],
        ]
        for each in data
    ]
    head = ["NAME", "SETTING", "SIZE", "LICENCE", "DOWNLOADED", "ABOUT"]
    return Result(data=data, lines=ctx.table(rows, head=head))


@command(models, effect="changes", opens=False, local=True, without=_WITHOUT)
async def pull(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(help="The model, as 'bethink models list' shows it.")],
    *,
    catalogue: Catalogue = None,
) -> Result:
    """Download a model and check every file. Nothing else in Bethink downloads anything."""
    from bethink.providers.weights.pull import pull as download  # noqa: PLC0415

    settings = ctx.target.settings
    entry = _find(name, catalogue)
    total = entry.megabytes * 1_000_000
    with Progress("bytes", total, quiet=ctx.options.quiet or ctx.options.json) as progress:
        new = await download(entry, settings.models_folder, base=settings.models_url, progress=progress.advance)
    home = settings.models_folder / entry.name
    lines = [f"{'downloaded' if new else 'already there:'} {home} ({entry.manifest.licence})"]
    lines.append(f'set {entry.manifest.task} = "{entry.name}" to use it')
    data = {"name": entry.name, "folder": str(home), "licence": entry.manifest.licence, "new": new}
    return Result(data=data, lines=[OutputLine(line) for line in lines])


@command(models, opens=False, local=True, without=_WITHOUT)
async def where(
    ctx: CommandContext,
    name: Annotated[str | None, typer.Argument(help="A downloaded model.")] = None,
) -> Result:
    """Print the folder of the downloaded models, or of one of them."""
    from bethink.providers.weights.catalogue import is_model_name  # noqa: PLC0415

    folder = ctx.target.settings.models_folder
    if name is not None:
        if not is_model_name(name) or not (folder / name).is_dir():
            raise NotFound(f"the model {name} is not downloaded.", hint=f"Run 'bethink models pull {name}'.")
        folder = folder / name
    return Result(data={"folder": str(folder)}, lines=[OutputLine(str(folder))])


def _known(catalogue: str | None) -> "dict[str, CatalogueEntry]":
    from bethink.providers.weights.catalogue import read_catalogue  # noqa: PLC0415

    return read_catalogue(None if catalogue is None else Path(catalogue))


def _find(name: str, catalogue: str | None) -> "CatalogueEntry":
    known = _known(catalogue)
    if name not in known:
        raise UsageError(f"unknown model {name!r}.", hint=f"Use one of {', '.join(known)}.")
    return known[name]
