"""Commands about versions: log, diff and revert."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, DryRun, Result, Yes, command
from bethink.cli.refs import LIST_HINT, parse_name
from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.api.documents import Documents
    from bethink.model.documents import Document, DocumentEntry
    from bethink.model.facts import Fact

app = typer.Typer()

Named = Annotated[str, typer.Argument(metavar="DOCUMENT", help="A path, id or ref. Quote a path that begins with ~.")]


@command(app)
async def log(
    ctx: CommandContext,
    name: Annotated[
        str | None, typer.Argument(metavar="DOCUMENT|FACT", help="A path, id or ref. Without one, list all documents.")
    ] = None,
) -> Result:
    """List the versions of a document or a fact. Without a name, list all documents."""
    documents = ctx.space.documents
    if name is None:
        tree = await documents.tree()
        return Result(data=tree, lines=_tree_lines(ctx, tree))
    kind, wanted = parse_name(name)
    if kind in ("", "document"):
        found = await _versions(documents, wanted)
        if found:
            return Result(data=found, lines=_document_lines(found))
    if kind in ("", "fact"):
        facts = await ctx.space.facts.versions(wanted)
        if facts:
            return Result(data=facts, lines=_fact_lines(facts))
    raise NotFound(f"no document or fact {name!r} in space {ctx.space_name!r}.", hint=LIST_HINT)


@command(app)
async def diff(
    ctx: CommandContext,
    name: Named,
    before: Annotated[int, typer.Argument(help="A version; 0 is an empty document.", min=0)],
    after: Annotated[int, typer.Argument(help="Another version.", min=0)],
) -> Result:
    """Compare two versions of a document."""
    documents = ctx.space.documents
    document = await _last(documents, name, space=ctx.space_name)
    text = await _diff(documents, document, before, after)
    return Result(data={"document": document.id, "before": before, "after": after, "diff": text}, lines=_diffed(text))


@command(app, effect="changes")
async def revert(
    ctx: CommandContext,
    name: Named,
    version: Annotated[int, typer.Argument(help="The version to restore.", min=1)],
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Restore an earlier version of a document. This adds a new version; none is lost."""
    documents = ctx.space.documents
    current = await _last(documents, name, space=ctx.space_name)
    text = await _diff(documents, current, current.version, version)
    if dry_run:
        data = {"document": current.id, "from": current.version, "to": version, "diff": text, "dry_run": True}
        return Result(data=data, lines=_diffed(text) or [OutputLine("nothing would change")])
    ctx.confirm(f"Restore version {version} of {current.slug}, now at {current.version}?", yes=yes)
    expected = current.version if current.valid_to is None else None
    written = await documents.restore(current.id, version, expected=expected)
    line = f"{current.slug} is now at version {written.version}, a copy of version {version}"
    return Result(data=written, lines=[OutputLine(line)])


async def _versions(documents: "Documents", name: str) -> "list[Document]":
    if name.startswith("~/"):
        document = await documents.find(name)
        return [] if document is None else await documents.versions(document.id)
    return await documents.versions(name)


async def _last(documents: "Documents", name: str, *, space: str) -> "Document":
    versions = await _versions(documents, parse_name(name)[1])
    if not versions:
        raise NotFound(f"no document {name!r} in space {space!r}.", hint="Run 'bethink log' to list all documents.")
    return versions[-1]


async def _diff(documents: "Documents", document: "Document", before: int, after: int) -> str:
    try:
        return await documents.diff(document.id, before, after)
    except NotFound as error:
        error.hint = f"Run 'bethink log {document.id}' to list its versions."
        raise


def _tree_lines(ctx: CommandContext, tree: "dict[str, DocumentEntry]") -> list[OutputLine]:
    rows = [[path, f"v{each.version}", when(each.valid_from), each.id, each.title] for path, each in tree.items()]
    return ctx.table(rows, head=["PATH", "VERSION", "SINCE", "ID", "TITLE"])


def _document_lines(versions: "Sequence[Document]") -> list[OutputLine]:
    def row(each: "Document") -> list[str]:
        by: Any = f"{each.author.kind} {each.author.id}".strip()
        return [f"v{each.version}", when(each.valid_from), when(each.valid_to), by, each.author.reason or each.title]

    return columns([row(each) for each in reversed(versions)], head=["VERSION", "FROM", "TO", "BY", "WHAT"])


def _fact_lines(versions: "Sequence[Fact]") -> list[OutputLine]:
    rows = [
        [f"v{each.version}", when(each.recorded_at), when(each.retired_at), str(each.origin), one_line(each.content)]
        for each in reversed(versions)
    ]
    return columns(rows, head=["VERSION", "FROM", "TO", "ORIGIN", "WHAT"])


def _diffed(text: str) -> list[OutputLine]:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return [OutputLine(line, styles.get(line[:1], "")) for line in text.splitlines()]
