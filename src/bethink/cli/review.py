"""Commands of the review inbox: claims that were not believed at once, and changes to documents that wait."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.groups import called_alone
from bethink.cli.lists import MOST, Limit
from bethink.cli.recall import fact_rows, quote_lines
from bethink.cli.refs import document_path
from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.errors import NotFound
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.consolidation import ChangeSet
    from bethink.model.reviews import Review


app = typer.Typer()
review = typer.Typer(
    cls=called_alone("list"), help="Decide about what was not believed at once, and about changes to documents."
)
app.add_typer(review, name="review")

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids as 'bethink review' lists them.")]
_CLAIM = "rev_"
_HINT = "Run 'bethink review' to list what waits."
_WIDTH = 100
_STATUSES = ("held", "refused", "approved", "rejected")


@command(review, "list")
async def list_reviews(
    ctx: CommandContext,
    *,
    status: Annotated[str, typer.Option(metavar="STATUS", help=f"One of {', '.join(_STATUSES)}.")] = "held",
    limit: Limit = 20,
    after: Annotated[str, typer.Option(metavar="ID", help="List the claims that follow this one.")] = "",
) -> Result:
    """List what waits for a decision, newest first. This is what 'bethink review' does."""
    from bethink.model.reviews import ReviewStatus  # noqa: PLC0415 - as every import here, for a quick --help

    if status not in _STATUSES:
        raise UsageError(f"unknown status {status!r}.", hint=f"Use one of {', '.join(_STATUSES)}.")
    claims = await ctx.space.reviews.all(status=ReviewStatus(status), limit=limit, after=after)
    sets = [] if after else await change_sets(ctx.space, status)
    rows = [[each.id, when(each.created_at), each.reason, one_line(each.claim.fact.content, _WIDTH)] for each in claims]
    rows += [[each.run, when(each.created_at), "documents", _paths(each)] for each in sets]
    if len(claims) == limit:
        ctx.note(f"note: there may be more; continue with --after {claims[-1].id}")
    return Result(
        data={"claims": claims, "changes": sets}, lines=ctx.table(rows, head=["ID", "SINCE", "REASON", "WHAT"])
    )


@command(review)
async def show(
    ctx: CommandContext, name: Annotated[str, typer.Argument(metavar="ID", help="An id as 'bethink review' lists it.")]
) -> Result:
    """Show a claim with its quotes and the reason, or a change set."""
    if name.startswith(_CLAIM):
        found = await ctx.space.reviews.get(name)
        return Result(data=found, lines=list(_claim_lines(found)))
    held = await _change_set(ctx.space, name)
    return Result(data=held, lines=list(_change_lines(held)))


@command(review, effect="changes")
async def approve(
    ctx: CommandContext,
    names: Ids,
    *,
    edit: Annotated[str | None, typer.Option(metavar="TEXT", help="What the fact shall say instead.")] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for later.")] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Of one change set, only this document; the rest is discarded. Repeatable."),
    ] = None,
) -> Result:
    """Believe claims, which become facts, or apply changes to documents, whole or in part."""
    if edit is not None and (len(names) != 1 or not names[0].startswith(_CLAIM)):
        raise UsageError("--edit is for one claim.", hint="Approve the others without it.")
    if path and (len(names) != 1 or names[0].startswith(_CLAIM)):
        raise UsageError("--path is for one change set.", hint="Approve the others without it.")
    await _check(ctx.space, names)
    facts_of = await _approve_claims(ctx.space, [name for name in names if name.startswith(_CLAIM)], edit, note)
    paths = None if not path else [document_path(each) or each for each in path]
    for name in dict.fromkeys(names):
        if not name.startswith(_CLAIM):
            await ctx.space.documents.approve(name, paths=paths)
    done: list[dict[str, Any]] = [{"id": name, "fact_id": facts_of.get(name)} for name in names]
    facts = [f": fact {each['fact_id']}" if each["fact_id"] else "" for each in done]
    lines = [OutputLine(f"approved {name}{fact}") for name, fact in zip(names, facts, strict=True)]
    return Result(data=done, lines=lines)


@command(review, effect="changes")
async def reject(
    ctx: CommandContext,
    names: Ids,
    *,
    why: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for later.")] = None,
) -> Result:
    """Decide that claims are not believed, or discard changes to documents."""
    await _check(ctx.space, names)
    claims = [name for name in names if name.startswith(_CLAIM)]
    if claims:
        await ctx.space.reviews.reject_all(claims, note=why)
    for name in dict.fromkeys(names):
        if not name.startswith(_CLAIM):
            await ctx.space.documents.reject(name)
    return Result(data=[{"id": name} for name in names], lines=[OutputLine(f"rejected {name}") for name in names])


async def _approve_claims(
    space: "Space", claims: Sequence[str], edit: str | None, note: str | None
) -> dict[str, str | None]:  # fmt: skip
    """Approve claims, all or none, and return the fact that each became."""
    if edit is not None:
        return {name: (await space.reviews.approve(name, statement=edit, note=note)).fact_id for name in claims}
    done = await space.reviews.approve_all(claims, note=note) if claims else []
    return {each.id: each.fact_id for each in done}


async def waiting(space: "Space") -> dict[str, int]:
    """Count what waits for a decision in a space: claims, and changes to documents."""
    counted = await space.reviews.count()
    return {"claims": counted["held"], "changes": len(await change_sets(space, "held"))}


async def change_sets(space: "Space", status: str) -> "list[ChangeSet]":
    """Return the change sets of a space with a status; those that were applied count as approved."""
    wanted = {"approved": "applied"}.get(status, status)
    return [each for each in await space.documents.changes(limit=MOST) if each.status == wanted]


async def _check(space: "Space", names: Sequence[str]) -> None:
    """Refuse before anything is decided if one of several ids is unknown."""
    for name in dict.fromkeys(names):
        if name.startswith(_CLAIM):
            await space.reviews.get(name)
        else:
            await _change_set(space, name)


async def _change_set(space: "Space", run: str) -> "ChangeSet":
    for each in await space.documents.changes(limit=MOST):
        if each.run == run:
            return each
    raise NotFound(f"nothing under review has the id {run!r} in space {space.name!r}.", hint=_HINT)


def _claim_lines(found: "Review") -> Iterator[OutputLine]:
    fact = found.claim.fact
    yield OutputLine(found.id, "bold")
    yield OutputLine(f"  {fact.content}")
    rows = {
        "status": str(found.status),
        "reason": one_line(f"{found.reason}: {found.detail}" if found.detail else found.reason),
        "about": one_line(fact.subject or ""),
        **fact_rows(fact),
        "would change": "" if found.claim.change == "new" else f"{found.claim.change} {' '.join(found.claim.known)}",
        "decided": when(found.decided_at),
        "note": one_line(found.note or ""),
        "fact": found.fact_id or "",
    }
    yield from columns([[f"  {name}", value] for name, value in rows.items() if value])
    yield from quote_lines(found.claim.quotes)


def _change_lines(held: "ChangeSet") -> Iterator[OutputLine]:
    yield OutputLine(held.run, "bold")
    yield OutputLine(f"  {held.status}, {plural(len(held.changes), 'document')}")
    for change in held.changes:
        what = "ends" if change.draft is None else "new" if change.expected is None else f"after v{change.expected}"
        yield OutputLine(f"  {change.path} ({what})")
        for line in (change.draft.body if change.draft is not None else "").splitlines():
            yield OutputLine(f"    {line}")


def _paths(held: "ChangeSet") -> str:
    return one_line(", ".join(change.path for change in held.changes), _WIDTH)
