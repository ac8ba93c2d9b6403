"""Commands about versions: log, diff and restore."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.forgetting import DryRun, Yes
from bethink.cli.frame import Answer, Door, command
from bethink.cli.naming import LISTED, named
from bethink.cli.terminal import Line, columns, one_line
from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.documents.service import Documents
    from bethink.model.documents import Document
    from bethink.model.records import Fact

app = typer.Typer()

Named = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its path, id or ref; quote a path with a tilde.")]


@command(app)
async def log(
    door: Door,
    name: Annotated[
        str | None, typer.Argument(metavar="DOCUMENT|FACT", help="A path, id or ref; nothing lists all documents.")
    ] = None,
) -> Answer:
    """Show the versions of a document or a fact. Without a name, list the documents."""
    documents = door.memory.documents(space=door.space)
    if name is None:
        tree = await documents.tree()
        return Answer(data=tree, lines=_tree_lines(door, tree))
    kind, wanted = named(name)
    if kind in ("", "document"):
        found = await _versions(documents, wanted)
        if found:
            return Answer(data=found, lines=_document_lines(found))
    if kind in ("", "fact"):
        facts = await door.memory.facts(space=door.space).versions(wanted)
        if facts:
            return Answer(data=facts, lines=_fact_lines(facts))
    raise NotFound(f"no document or fact {name!r} in space {door.space!r}.", hint=LISTED)


@command(app)
async def diff(
    door: Door,
    name: Named,
    before: Annotated[int, typer.Argument(help="A version; 0 is nothing.", min=0)],
    after: Annotated[int, typer.Argument(help="A later version.", min=0)],
) -> Answer:
    """Show what changed between two versions of a document."""
    documents = door.memory.documents(space=door.space)
    document = await _last(documents, name, space=door.space)
    text = await _diff(documents, document, before, after)
    return Answer(data={"document": document.id, "before": before, "after": after, "diff": text}, lines=_diffed(text))


@command(app, does="changes")
async def restore(
    door: Door,
    name: Named,
    version: Annotated[int, typer.Argument(help="The version to write again.", min=1)],
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Write an old version of a document again as its newest. The others stay."""
    documents = door.memory.documents(space=door.space)
    current = await _last(documents, name, space=door.space)
    text = await _diff(documents, current, current.version, version)
    if dry_run:
        data = {"document": current.id, "from": current.version, "to": version, "diff": text, "dry_run": True}
        return Answer(data=data, lines=_diffed(text) or [Line("nothing would change")])
    door.confirm(f"Restore version {version} of {current.slug}, now at {current.version}?", yes=yes)
    expected = current.version if current.valid_to is None else None
    written = await documents.restore(current.id, version, expected=expected)
    now = current.version if written is None else written.version
    return Answer(data=written, lines=[Line(f"{current.slug} is at version {now}, which says what {version} said")])


async def _versions(documents: "Documents", name: str) -> "list[Document]":
    if name.startswith("~/"):
        document = await documents.find(name)
        return [] if document is None else await documents.history(document.id)
    return await documents.history(name)


async def _last(documents: "Documents", name: str, *, space: str) -> "Document":
    versions = await _versions(documents, named(name)[1])
    if not versions:
        raise NotFound(f"no document {name!r} in space {space!r}.", hint="Run 'bethink log' for all there are.")
    return versions[-1]


async def _diff(documents: "Documents", document: "Document", before: int, after: int) -> str:
    try:
        return await documents.diff(document.id, before, after)
    except NotFound as error:
        error.hint = f"Run 'bethink log {document.id}' for its versions."
        raise


def _tree_lines(door: Door, tree: "dict[str, Document]") -> list[Line]:
    from bethink.cli.plain import when  # noqa: PLC0415

    rows = [[path, f"v{each.version}", when(each.valid_from), each.id, each.title] for path, each in tree.items()]
    return door.table(rows, head=["PATH", "VERSION", "SINCE", "ID", "TITLE"])


def _document_lines(versions: "Sequence[Document]") -> list[Line]:
    from bethink.cli.plain import when  # noqa: PLC0415

    def row(each: "Document") -> list[str]:
        by: Any = f"{each.author.kind} {each.author.id}".strip()
        return [f"v{each.version}", when(each.valid_from), when(each.valid_to), by, each.author.reason or each.title]

    return columns([row(each) for each in reversed(versions)], head=["VERSION", "FROM", "TO", "BY", "WHAT"])


def _fact_lines(versions: "Sequence[Fact]") -> list[Line]:
    from bethink.cli.plain import when  # noqa: PLC0415

    rows = [
        [f"v{each.version}", when(each.recorded_at), when(each.retired_at), str(each.origin), one_line(each.content)]
        for each in reversed(versions)
    ]
    return columns(rows, head=["VERSION", "FROM", "TO", "ORIGIN", "WHAT"])


def _diffed(text: str) -> list[Line]:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return [Line(line, styles.get(line[:1], "")) for line in text.splitlines()]
