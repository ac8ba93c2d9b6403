"""Commands about how long a space keeps what: rules, sweeping, and legal holds."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, DryRun, Result, Yes, command
from bethink.cli.forget import counted
from bethink.cli.groups import called_alone
from bethink.cli.lists import Limit
from bethink.cli.terminal import OutputLine, one_line, when
from bethink.errors import Denied
from bethink.model.plural import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bethink.model.holds import LegalHold
from bethink.features.retention.records import RetentionKind, RetentionRule

app = typer.Typer()
retention = typer.Typer(
    cls=called_alone("show"), help="Show or set how long a space keeps what, and place legal holds."
)
app.add_typer(retention, name="retention")

Kind = Annotated[str, typer.Argument(metavar="KIND", help="message, session_memory, fact, document or thread.")]
Origin = Annotated[
    str | None, typer.Option(metavar="ORIGIN", help="Only what came from user, assistant, tool, tool:NAME or another.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.")]
_HEAD = ["HOLD", "SPACE", "PLACED", "BY", "REASON", "LIFTED", "BY", "REASON"]


@command(retention)
async def show(ctx: CommandContext) -> Result:
    """Show the rules of a space, and whether a legal hold stands. This is what 'bethink retention' does."""
    rules = await ctx.space.retention.all()
    standing: list[LegalHold] = []
    with suppress(Denied):  # a key that may only read sees the rules
        standing = [each for each in await ctx.space.retention.holds() if each.lifted_at is None]
    for each in standing:
        ctx.note(f"note: nothing is erased: a legal hold stands since {when(each.placed_at)}: {one_line(each.reason)}")
    return Result(data={"rules": rules, "holds": standing}, lines=_rules(ctx, rules))


@command(retention, "set", effect="creates")
async def set_rule(
    ctx: CommandContext,
    kind: Kind,
    *,
    older_than: Annotated[int, typer.Option(metavar="DAYS", help="After how many days it is erased.")],
    origin: Origin = None,
    yes: Yes = False,
) -> Result:
    """Let what is older than so many days be erased, with what was made of it. A worker does so."""
    what = f"what is older than {plural(older_than, 'day')}"
    ctx.confirm(f"Erase {what}, of kind {kind} in space {ctx.space_name}, from now on?", yes=yes)
    rule = await ctx.space.retention.set(_kind(kind), older_than, origin=origin)
    return Result(data=rule, lines=_rules(ctx, [rule]))


@command(retention, effect="changes")
async def remove(ctx: CommandContext, kind: Kind, *, origin: Origin = None) -> Result:
    """Remove a rule: what it was about is kept from now on."""
    await ctx.space.retention.remove(_kind(kind), origin=origin)
    return Result(data={"removed": kind, "origin": origin}, lines=[OutputLine(f"removed: {one_line(kind)}")])


@command(retention, effect="changes")
async def sweep(ctx: CommandContext, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Erase now what the rules say and facts that have expired, with receipts. This cannot be undone."""
    swept = await ctx.space.retention.sweep(dry_run=True)
    if not dry_run:
        ctx.confirm(f"Erase {counted(swept.went)} from space {ctx.space_name}?", yes=yes)
        swept = await ctx.space.retention.sweep()
        if swept.more:
            ctx.note("note: more is due; run it again, or let a worker go on")
    state = "would be erased" if dry_run else "erased"
    lines = [OutputLine(f"{state}: {counted(swept.went)}")]
    lines += [OutputLine(f"  {each}") for each in (swept.went.refs if dry_run else swept.erasures)]
    return Result(data=swept, lines=lines)


@command(retention, effect="changes")
async def hold(ctx: CommandContext, *, reason: Reason) -> Result:
    """Place a legal hold on a space: until it is lifted, nothing of it can be erased."""
    placed = await ctx.space.retention.hold(reason)
    return Result(data=placed, lines=[OutputLine(f"legal hold {placed.id} stands on space {one_line(placed.space)}")])


@command(retention)
async def holds(
    ctx: CommandContext,
    *,
    everywhere: Annotated[bool, typer.Option("--all", help="List those that stand, in all spaces.")] = False,
    limit: Limit = 100,
) -> Result:
    """List the legal holds on a space, also those that were lifted."""
    found = await (ctx.memory.legal_holds(limit=limit) if everywhere else ctx.space.retention.holds(limit=limit))
    return Result(data=found, lines=ctx.table(_holds(found), head=_HEAD))


@command(retention, effect="changes")
async def lift(
    ctx: CommandContext,
    hold_id: Annotated[str, typer.Argument(metavar="HOLD", help="The hold, as 'bethink retention holds' names it.")],
    *,
    reason: Reason,
    yes: Yes = False,
) -> Result:
    """Lift a legal hold. What the rules say is erased again from then on, and what waited for it."""
    ctx.confirm(f"Lift the legal hold {hold_id} on space {ctx.space_name}?", yes=yes)
    lifted = await ctx.memory.lift_legal_hold(ctx.space_name, hold_id, reason)
    return Result(data=lifted, lines=ctx.table(_holds([lifted]), head=_HEAD))


def _kind(word: str) -> "RetentionKind":
    from bethink.features.retention.records import RetentionKind  # noqa: PLC0415
    from bethink.model.checks import any_of  # noqa: PLC0415 - see command.py

    return any_of("kind", (word,), RetentionKind)[0]


def _rules(ctx: CommandContext, rules: "Sequence[RetentionRule]") -> list[OutputLine]:
    rows = [
        [each.kind, each.origin or "any", plural(each.older_than, "day"), one_line(each.set_by), when(each.set_at)]
        for each in rules
    ]
    return ctx.table(rows, head=["KIND", "ORIGIN", "OLDER THAN", "SET BY", "SET"])


def _holds(found: "Sequence[LegalHold]") -> list[list[str]]:
    return [
        [
            each.id,
            one_line(each.space),
            when(each.placed_at),
            one_line(each.placed_by),
            one_line(each.reason),
            when(each.lifted_at),
            one_line(each.lifted_by),
            one_line(each.lifted_because),
        ]
        for each in found
    ]
