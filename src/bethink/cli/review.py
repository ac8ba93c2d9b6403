"""Commands of the review inbox: pending claims and document changes."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.groups import called_alone
from bethink.cli.lineage import fact_rows, quote_lines
from bethink.cli.paging import MOST, After, Limit
from bethink.cli.refs import document_path
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.errors import NotFoundError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.consolidation import ChangeSet
    from bethink.model.reviews import Review


app = typer.Typer()
review = typer.Typer(cls=called_alone("list"), help="Approve or reject pending facts and document changes.")
app.add_typer(review, name="review")

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, as 'bethink review' lists them.")]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="Note for the record.")]
_CLAIM = "rev_"
_HINT = "Run 'bethink review' to list pending items."
_WIDTH = 100
_STATUSES = ("pending", "refused", "approved", "rejected")


@command(review, "list")
async def list_reviews(
    ctx: CommandContext,
    *,
    status: Annotated[str, typer.Option(metavar="STATUS", help=f"Status: {', '.join(_STATUSES)}.")] = "pending",
    limit: Limit = 20,
    after: After = "",
) -> Result:
    """List pending items, newest first. 'bethink review' alone does the same."""
    from bethink.model.reviews import ReviewStatus  # noqa: PLC0415 - as every import here, for a quick --help

    if status not in _STATUSES:
        raise UsageError(f"Unknown status {status!r}.", hint=f"Use one of {', '.join(_STATUSES)}.")
    claims = await ctx.space.reviews.list(status=ReviewStatus(status), limit=limit, after=after)
    sets = [] if after else await change_sets(ctx.space, status)
    rows = [[item.id, when(item.created_at), item.reason, one_line(item.claim.fact.text, _WIDTH)] for item in claims]
    rows += [[change.run, when(change.created_at), "documents", _paths(change)] for change in sets]
    if claims.next:
        ctx.note(f"note: there may be more; continue with --after {claims.next}")
    return Result(
        data={"claims": claims.items, "changes": sets, "next": claims.next},
        lines=ctx.table(rows, head=["ID", "SINCE", "REASON", "CLAIM"]),
    )


@command(review)
async def show(
    ctx: CommandContext, name: Annotated[str, typer.Argument(metavar="ID", help="Id, as 'bethink review' lists it.")]
) -> Result:
    """Show a claim with its quotes and reason, or a change set."""
    if name.startswith(_CLAIM):
        item = await ctx.space.reviews.get(name)
        return Result(data=item, lines=list(_claim_lines(item)))
    changes = await _change_set(ctx.space, name)
    return Result(data=changes, lines=list(_change_lines(changes)))


@command(review, effect="changes")
async def approve(
    ctx: CommandContext,
    names: Ids,
    *,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="Approve with this text instead.")] = None,
    note: Note = None,
    path: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Document to approve in a change set; others are discarded. Repeatable."),
    ] = None,
) -> Result:
    """Approve claims and document changes."""
    if text is not None and (len(names) != 1 or not names[0].startswith(_CLAIM)):
        raise UsageError("--text works with one claim only.", hint="Approve the others without it.")
    if path and (len(names) != 1 or names[0].startswith(_CLAIM)):
        raise UsageError("--path works with one change set only.", hint="Approve the others without it.")
    await _check(ctx.space, names)
    facts_of = await _approve_claims(ctx.space, [name for name in names if name.startswith(_CLAIM)], text, note)
    paths = None if not path else [document_path(name) or name for name in path]
    for name in dict.fromkeys(names):
        if not name.startswith(_CLAIM):
            await ctx.space.documents.changes.approve(name, paths=paths)
    data: list[dict[str, Any]] = [{"id": name, "fact_id": facts_of.get(name)} for name in names]
    facts = [f": fact {item['fact_id']}" if item["fact_id"] else "" for item in data]
    lines = [OutputLine(f"Approved {name}{fact}") for name, fact in zip(names, facts, strict=True)]
    return Result(data=data, lines=lines)


@command(review, effect="changes")
async def reject(ctx: CommandContext, names: Ids, *, note: Note = None) -> Result:
    """Reject claims and document changes."""
    await _check(ctx.space, names)
    claims = [name for name in names if name.startswith(_CLAIM)]
    if claims:
        await ctx.space.reviews.reject_many(claims, note=note)
    for name in dict.fromkeys(names):
        if not name.startswith(_CLAIM):
            await ctx.space.documents.changes.reject(name)
    return Result(data=[{"id": name} for name in names], lines=[OutputLine(f"Rejected {name}") for name in names])


async def _approve_claims(
    space: "Space", claims: Sequence[str], text: str | None, note: str | None
) -> dict[str, str | None]:  # fmt: skip
    """Approve claims, all or none, and return the fact that each became."""
    if text is not None:
        return {name: (await space.reviews.approve(name, text=text, note=note)).fact_id for name in claims}
    approved = await space.reviews.approve_many(claims, note=note) if claims else []
    return {item.id: item.fact_id for item in approved}


async def pending_counts(space: "Space") -> dict[str, int]:
    """Count the pending claims and document changes of a space."""
    counts = await space.reviews.count()
    return {"claims": counts["pending"], "changes": len(await change_sets(space, "pending"))}


async def change_sets(space: "Space", status: str) -> "list[ChangeSet]":
    """Return the change sets of a space with a status; those that were applied count as approved."""
    state = {"approved": "applied"}.get(status, status)
    return [changes for changes in await space.documents.changes.list(limit=MOST) if changes.status == state]


async def _check(space: "Space", names: Sequence[str]) -> None:
    """Refuse before anything is decided if one of several ids is unknown."""
    for name in dict.fromkeys(names):
        if name.startswith(_CLAIM):
            await space.reviews.get(name)
        else:
            await _change_set(space, name)


async def _change_set(space: "Space", run: str) -> "ChangeSet":
    for changes in await space.documents.changes.list(limit=MOST):
        if changes.run == run:
            return changes
    raise NotFoundError(f"No pending item {run!r} in space {space.name!r}.", hint=_HINT)


def _claim_lines(item: "Review") -> Iterator[OutputLine]:
    fact = item.claim.fact
    yield OutputLine(item.id, "bold")
    yield OutputLine(f"  {fact.text}")
    rows = {
        "status": str(item.status),
        "reason": one_line(f"{item.reason}: {item.detail}" if item.detail else item.reason),
        "about": one_line(fact.subject or ""),
        **fact_rows(fact),
        "would change": ""
        if item.claim.change == "new"
        else f"{item.claim.change} {' '.join(item.claim.existing_ids)}",
        "decided": when(item.decided_at),
        "note": one_line(item.note or ""),
        "fact": item.fact_id or "",
    }
    yield from columns([[f"  {name}", value] for name, value in rows.items() if value])
    yield from quote_lines(item.claim.quotes)


def _change_lines(changes: "ChangeSet") -> Iterator[OutputLine]:
    yield OutputLine(changes.run, "bold")
    yield OutputLine(f"  {changes.status}, {plural(len(changes.changes), 'document')}")
    for change in changes.changes:
        state = "ends" if change.draft is None else "new" if change.expected is None else f"after v{change.expected}"
        yield OutputLine(f"  {change.path} ({state})")
        for line in (change.draft.body if change.draft is not None else "").splitlines():
            yield OutputLine(f"    {line}")


def _paths(changes: "ChangeSet") -> str:
    return one_line(", ".join(change.path for change in changes.changes), _WIDTH)
