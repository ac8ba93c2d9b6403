"""Commands that learn a space again: learn relearn, apply and undo."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import read_file, read_text
from bethink.cli.command import CommandContext, command
from bethink.cli.results import Result
from bethink.cli.terminal import OutputLine
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.relearning import Relearning

app = typer.Typer()

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the proposal.")]


@command(app, "learn relearn", effect="changes")
async def relearn(
    ctx: CommandContext,
    *,
    model: Annotated[str, typer.Option(metavar="PROVIDER:NAME", help="Model to learn with.")] = "",
    verify_model: Annotated[str, typer.Option(metavar="PROVIDER:NAME", help="Model that verifies claims.")] = "",
    instructions: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Instructions that replace those in the rules; - for stdin."),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File with a system prompt that replaces ours; - for stdin."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only propose changes (the default). Calls the model.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Apply the changes at once.")] = False,
) -> Result:
    """Propose changes from relearning all sessions.

    Facts change only with --yes or 'bethink learn apply'. The model is called for every session, within the daily
    budget.
    """
    relearning = await ctx.space.admin.relearning.propose(
        model=model,
        verify_model=verify_model,
        instructions=None if instructions is None else read_text(instructions, label="the instructions").strip(),
        prompt="" if prompt is None else read_file(prompt, label="the prompt"),
        dry_run=dry_run or not yes,
    )
    return Result(data=relearning, lines=lines(relearning))


@command(app, "learn apply", effect="changes")
async def apply(ctx: CommandContext, relearning_id: Id) -> Result:
    """Apply a proposal of 'bethink learn relearn'."""
    relearning = await ctx.space.admin.relearning.apply(relearning_id)
    return Result(data=relearning, lines=lines(relearning))


@command(app, "learn undo", effect="changes")
async def undo(ctx: CommandContext, relearning_id: Id) -> Result:
    """Undo an applied proposal."""
    relearning = await ctx.space.admin.relearning.undo(relearning_id)
    return Result(data=relearning, lines=lines(relearning))


def lines(relearning: "Relearning") -> list[OutputLine]:
    """Describe a relearning: a line for each change, then the counts and the price."""
    output = [OutputLine(f"+ {claim.fact.text}") for claim in relearning.new]
    output += [OutputLine(f"- {fact.text}") for fact in relearning.removed]
    for change in relearning.changed:
        output += [OutputLine(f"- {change.before.text}"), OutputLine(f"+ {change.after.fact.text}")]
    for item in relearning.settled:
        decision = item.decision
        output.append(
            OutputLine(
                f"= {item.claim.fact.text} ({decision.kind} by {decision.actor}, {decision.decided_at:%Y-%m-%d})"
            )
        )
    counts = (
        f"{plural(relearning.sessions, 'session')}: {relearning.same} unchanged, {len(relearning.new)} new, "
        f"{len(relearning.removed)} removed, {len(relearning.changed)} changed, {relearning.pending} for review, "
        f"{relearning.rejected} rejected, {len(relearning.settled)} settled"
    )
    price = f"{plural(relearning.usage.calls, 'call')}, ${relearning.usage.cost / 1e6:.4f}"
    output.append(OutputLine(f"{counts}; {price}"))
    if relearning.applied is not None:
        done = relearning.applied
        output.append(
            OutputLine(
                f"Changed: {done.added} added, {done.replaced} replaced, {done.removed} removed, "
                f"{done.restated} restated, {done.skipped} skipped"
            )
        )
    step = {"proposed": "apply", "applied": "undo"}.get(relearning.status)
    state = f"{relearning.status}: {relearning.id}"
    output.append(OutputLine(f"{state} (bethink learn {step} {relearning.id})" if step else state))
    return output
