"""Commands for versions: doc list, history, diff and revert, and fact history."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, DryRun, Yes, command
from bethink.cli.paging import After, Limit, list_page, slice_page
from bethink.cli.refs import LIST_HINT, parse_name
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, one_line, when
from bethink.errors import NotFoundError

if TYPE_CHECKING:
    from bethink.api.documents import Documents
    from bethink.model.documents import Document, TreeEntry
    from bethink.model.facts import Fact

app = typer.Typer()

Named = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Path, id or ref. Quote a path that begins with ~.")]


@command(app, "doc list")
async def list_documents(ctx: CommandContext, *, limit: Limit = 100, after: After = "") -> Result:
    """List documents."""
    page = await ctx.space.documents.list(limit=limit, after=after)
    return list_page(ctx, page, _tree_row, ("PATH", "VERSION", "SINCE", "ID", "TITLE"))


@command(app, "doc history")
async def document_history(ctx: CommandContext, name: Named, *, limit: Limit = 100, after: After = "") -> Result:
    """List the versions of a document. Newest first."""
    versions = await _versions_of(ctx.space.documents, name, space=ctx.space_name)
    page = slice_page(versions[::-1], lambda version: str(version.version), after=after, limit=limit)
    return list_page(ctx, page, _document_row, ("VERSION", "FROM", "TO", "AUTHOR", "REASON"))


@command(app, "fact history")
async def fact_history(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(metavar="FACT", help="Id or ref of a fact.")],
    *,
    limit: Limit = 100,
    after: After = "",
) -> Result:
    """List the versions of a fact. Newest first."""
    kind, fact_id = parse_name(name)
    if kind == "document":
        raise UsageError(f"{name!r} is a document.", hint=f"Run 'bethink doc history {name}'.")
    versions = await ctx.space.facts.versions(fact_id)
    if not versions:
        raise NotFoundError(f"No fact {name!r} in space {ctx.space_name!r}.", hint=LIST_HINT)
    page = slice_page(versions[::-1], lambda fact: str(fact.version), after=after, limit=limit)
    return list_page(ctx, page, _fact_row, ("VERSION", "FROM", "TO", "ORIGIN", "FACT"))


@command(app, "doc diff")
async def diff(
    ctx: CommandContext,
    name: Named,
    before: Annotated[int, typer.Argument(help="Version; 0 is an empty document.", min=0)],
    after: Annotated[int, typer.Argument(help="Other version.", min=0)],
) -> Result:
    """Compare two versions of a document."""
    documents = ctx.space.documents
    document = (await _versions_of(documents, name, space=ctx.space_name))[-1]
    text = await _diff(documents, document, before, after)
    data = {"document": document.id, "before": before, "after": after, "diff": text}
    return Result(data=data, lines=_diff_lines(text))


@command(app, "doc revert", effect="changes")
async def revert(
    ctx: CommandContext,
    name: Named,
    version: Annotated[int, typer.Argument(help="Version to restore.", min=1)],
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Restore an earlier version of a document. This adds a new version."""
    documents = ctx.space.documents
    current = (await _versions_of(documents, name, space=ctx.space_name))[-1]
    text = await _diff(documents, current, current.version, version)
    if dry_run:
        data = {"document": current.id, "from": current.version, "to": version, "diff": text, "dry_run": True}
        return Result(data=data, lines=_diff_lines(text) or [OutputLine("Nothing would change.")])
    ctx.confirm(f"Restore version {version} of {current.slug}, now at {current.version}?", yes=yes)
    expected = current.version if current.valid_to is None else None
    restored = await documents.restore(current.id, version, if_version=expected)
    line = f"{current.slug} is now at version {restored.version}, a copy of version {version}"
    return Result(data=restored, lines=[OutputLine(line)])


async def _versions_of(documents: "Documents", name: str, *, space: str) -> "list[Document]":
    """Return the versions of a document, oldest first."""
    kind, key = parse_name(name)
    if kind == "fact":
        raise UsageError(f"{name!r} is a fact.", hint=f"Run 'bethink fact history {name}'.")
    versions: list[Document] = []
    if not key.startswith("~/"):
        versions = await documents.versions(key)
    elif (document := await documents.find(key)) is not None:
        versions = await documents.versions(document.id)
    if not versions:
        raise NotFoundError(
            f"No document {name!r} in space {space!r}.", hint="Run 'bethink doc list' to list documents."
        )
    return versions


async def _diff(documents: "Documents", document: "Document", before: int, after: int) -> str:
    try:
        return await documents.diff(document.id, before, after)
    except NotFoundError as error:
        error.hint = f"Run 'bethink doc history {document.id}' to list its versions."
        raise


def _tree_row(entry: "TreeEntry") -> list[str]:
    return [entry.path, f"v{entry.version}", when(entry.valid_from), entry.id, entry.title]


def _document_row(version: "Document") -> list[str]:
    author = f"{version.author.kind} {version.author.id}".strip()
    reason = version.author.reason or version.title
    return [f"v{version.version}", when(version.valid_from), when(version.valid_to), author, reason]


def _fact_row(fact: "Fact") -> list[str]:
    from bethink.model.status_words import status_mark  # noqa: PLC0415 - --help must not wait for it

    mark = status_mark(fact)
    text = f"{fact.text} ({mark})" if mark else fact.text
    return [f"v{fact.version}", when(fact.recorded_at), when(fact.replaced_at), str(fact.origin), one_line(text)]


def _diff_lines(text: str) -> list[OutputLine]:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return [OutputLine(line, styles.get(line[:1], "")) for line in text.splitlines()]
