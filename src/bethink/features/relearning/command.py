"""The command that learns a space again, shows what would change, and applies or undoes it."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import read_file, read_text
from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.terminal import OutputLine
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.relearning import Relearning

app = typer.Typer()


@command(app, effect="changes")
async def relearn(  # noqa: PLR0913 - each is an option of its own
    ctx: CommandContext,
    *,
    model: Annotated[str, typer.Option(metavar="PROVIDER:NAME", help="Learn with another model.")] = "",
    second_model: Annotated[str, typer.Option(metavar="PROVIDER:NAME", help="Check claims with another model.")] = "",
    instructions: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What to learn, in place of the rules' instructions; - for stdin."),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file with a system prompt to use in place of ours; - for stdin."),
    ] = None,
    apply: Annotated[str | None, typer.Option(metavar="ID", help="Apply a relearning that was shown.")] = None,
    undo: Annotated[str | None, typer.Option(metavar="ID", help="Undo a relearning that was applied.")] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would change, which is the default. It calls the model, as ever."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Apply the changes at once.")] = False,
) -> Result:
    """Learn from the whole log of a space again, and keep what would change as a proposal.

    Only --yes or --apply changes what is known. The model is called for every session, within the daily spend cap.
    """
    if apply is not None and undo is not None:
        raise UsageError("--apply and --undo exclude each other.", hint="Pass one of them.")
    if apply is not None:
        found = await ctx.space.apply_relearning(apply)
    elif undo is not None:
        found = await ctx.space.undo_relearning(undo)
    else:
        found = await ctx.space.relearn(
            model=model,
            second_model=second_model,
            instructions=None if instructions is None else read_text(instructions, what="the instructions").strip(),
            prompt="" if prompt is None else read_file(prompt, what="the prompt"),
            dry_run=dry_run or not yes,
        )
    return Result(data=found, lines=lines(found))


def lines(found: "Relearning") -> list[OutputLine]:
    """Describe a relearning: a line for each change, then the counts and the price."""
    shown = [OutputLine(f"+ {claim.fact.content}") for claim in found.new]
    shown += [OutputLine(f"- {fact.content}") for fact in found.gone]
    for each in found.changed:
        shown += [OutputLine(f"- {each.before.content}"), OutputLine(f"+ {each.after.fact.content}")]
    counts = (
        f"{plural(found.sessions, 'session')}: {found.same} the same, {len(found.new)} new, "
        f"{len(found.gone)} gone, {len(found.changed)} changed, {found.held} held, {found.refused} refused"
    )
    price = f"{plural(found.usage.calls, 'call')}, ${found.usage.cost / 1e6:.4f}"
    shown.append(OutputLine(f"{counts}; {price}"))
    step = {"proposed": "apply", "applied": "undo"}.get(found.status)
    state = f"{found.status}: {found.id}"
    shown.append(OutputLine(f"{state} (bethink relearn --{step} {found.id})" if step else state))
    return shown
