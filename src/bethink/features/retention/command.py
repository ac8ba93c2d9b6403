"""Commands for retention rules and legal holds: admin retention and admin hold."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, DryRun, Yes, command
from bethink.cli.forget import deletion_counts, deletion_line
from bethink.cli.groups import called_alone
from bethink.cli.paging import MOST, After, Limit, list_page, slice_page
from bethink.cli.results import Result
from bethink.cli.terminal import OutputLine, one_line, when
from bethink.errors import PermissionDeniedError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bethink.model.holds import LegalHold
from bethink.features.retention.records import RetentionKind, RetentionRule

app = typer.Typer()
retention = typer.Typer(cls=called_alone("show"), help="Show or set how long data is kept.")
app.add_typer(retention, name="admin retention")
holds = typer.Typer(cls=called_alone("list"), help="Place or lift legal holds.")
app.add_typer(holds, name="admin hold")

Kind = Annotated[str, typer.Argument(metavar="KIND", help="message, session_summary, fact, document or thread.")]
Origin = Annotated[
    str | None, typer.Option(metavar="ORIGIN", help="Origin: user, assistant, tool, tool:NAME or another.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Reason for the record.")]
_HEAD = ("HOLD", "SPACE", "PLACED", "ACTOR", "REASON", "LIFTED", "ACTOR", "REASON")


@command(retention)
async def show(ctx: CommandContext) -> Result:
    """Show retention rules and current legal holds. 'bethink admin retention' alone does the same."""
    rules = await ctx.space.admin.retention.list()
    current: list[LegalHold] = []
    with suppress(PermissionDeniedError):  # a key that may only read sees the rules
        current = [hold for hold in await ctx.space.admin.holds.list() if hold.lifted_at is None]
    for hold in current:
        ctx.note(f"note: a legal hold blocks deletions since {when(hold.placed_at)}: {one_line(hold.reason)}")
    return Result(data={"rules": rules.items, "holds": current}, lines=_rules(ctx, rules))


@command(retention, "set", effect="creates")
async def set_rule(
    ctx: CommandContext,
    kind: Kind,
    *,
    older_than: Annotated[int, typer.Option(metavar="DAYS", help="Age in days.")],
    origin: Origin = None,
    yes: Yes = False,
) -> Result:
    """Delete items older than N days, with derived data. A worker applies the rule."""
    age = plural(older_than, "day")
    ctx.confirm(f"Delete items of kind {kind} older than {age} in space {ctx.space_name} from now on?", yes=yes)
    rule = await ctx.space.admin.retention.set(_kind(kind), older_than, origin=origin)
    return Result(data=rule, lines=_rules(ctx, [rule]))


@command(retention, effect="changes")
async def remove(ctx: CommandContext, kind: Kind, *, origin: Origin = None) -> Result:
    """Remove a retention rule."""
    await ctx.space.admin.retention.remove(_kind(kind), origin=origin)
    return Result(
        data={"removed": kind, "origin": origin}, lines=[OutputLine(f"Removed the rule for {one_line(kind)}.")]
    )


@command(retention, effect="deletes")
async def sweep(ctx: CommandContext, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Apply the rules now, and delete expired facts. This cannot be undone."""
    report = await ctx.space.admin.retention.run(dry_run=True)
    if not dry_run:
        ctx.confirm(f"Delete {deletion_counts(report.deletion)} from space {ctx.space_name}?", yes=yes)
        report = await ctx.space.admin.retention.run()
        if report.more:
            ctx.note("note: more items are due; run the command again, or start a worker")
    lines = [OutputLine(deletion_line(report.deletion, dry_run=dry_run))]
    lines += [OutputLine(f"  {item}") for item in (report.deletion.refs if dry_run else report.erasures)]
    return Result(data=report, lines=lines)


@command(holds, "place", effect="changes")
async def place_hold(ctx: CommandContext, *, reason: Reason) -> Result:
    """Place a legal hold on a space. Nothing in it can be deleted until the hold is lifted."""
    hold = await ctx.space.admin.holds.place(reason)
    return Result(data=hold, lines=[OutputLine(f"Placed legal hold {hold.id} on space {one_line(hold.space)}.")])


@command(holds, "list")
async def list_holds(
    ctx: CommandContext,
    *,
    all_spaces: Annotated[bool, typer.Option("--all", help="Current holds of all spaces.")] = False,
    limit: Limit = 100,
    after: After = "",
) -> Result:
    """List the legal holds on a space, including lifted ones."""
    entries = await (ctx.memory.admin.holds.list(limit=MOST) if all_spaces else ctx.space.admin.holds.list(limit=MOST))
    page = slice_page(entries, lambda hold: hold.id, after=after, limit=limit)
    return list_page(ctx, page, _hold_row, _HEAD, all_spaces=all_spaces)


@command(holds, "lift", effect="changes")
async def lift_hold(
    ctx: CommandContext,
    hold_id: Annotated[
        str, typer.Argument(metavar="HOLD", help="Id of the hold, as 'bethink admin hold list' prints it.")
    ],
    *,
    reason: Reason,
    yes: Yes = False,
) -> Result:
    """Lift a legal hold. Retention rules and pending deletions apply again."""
    ctx.confirm(f"Lift the legal hold {hold_id} on space {ctx.space_name}?", yes=yes)
    lifted = await ctx.memory.admin.holds.lift(ctx.space_name, hold_id, reason)
    return Result(data=lifted, lines=ctx.table([_hold_row(lifted)], head=_HEAD))


def _kind(word: str) -> "RetentionKind":
    from bethink.features.retention.records import RetentionKind  # noqa: PLC0415
    from bethink.model.checks import any_of  # noqa: PLC0415 - see command.py

    return any_of("kind", (word,), RetentionKind)[0]


def _rules(ctx: CommandContext, rules: "Sequence[RetentionRule]") -> list[OutputLine]:
    rows = [
        [rule.kind, rule.origin or "any", plural(rule.older_than, "day"), one_line(rule.set_by), when(rule.set_at)]
        for rule in rules
    ]
    return ctx.table(rows, head=["KIND", "ORIGIN", "OLDER THAN", "SET BY", "SET"])


def _hold_row(hold: "LegalHold") -> list[str]:
    return [
        hold.id,
        one_line(hold.space),
        when(hold.placed_at),
        one_line(hold.placed_by),
        one_line(hold.reason),
        when(hold.lifted_at),
        one_line(hold.lifted_by),
        one_line(hold.lift_reason),
    ]
