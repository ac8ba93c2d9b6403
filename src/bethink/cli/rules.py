"""Commands about what a space learns: show the rules, and set some of them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.add import read_text
from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.groups import called_alone
from bethink.cli.terminal import OutputLine, columns, one_line

if TYPE_CHECKING:
    from bethink.model.steering import LearningRules

app = typer.Typer()
rules = typer.Typer(cls=called_alone("show"), help="Show or set what a space learns, and what a person approves first.")
app.add_typer(rules, name="rules")

Agent = Annotated[str | None, typer.Option(metavar="NAME", help="The agent; without one, the whole space.")]
_EMPTY = "An empty text takes it back."


@command(rules)
async def show(ctx: CommandContext, *, agent: Agent = None) -> Result:
    """Show what a space learns, and what a person approves first. This is what 'bethink rules' does."""
    found = await ctx.space.rules.get(agent)
    return Result(data=found, lines=_lines(found))


@command(rules, "set", effect="creates")
async def set_rules(  # noqa: PLR0913 - each is an option of its own
    ctx: CommandContext,
    *,
    instructions: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help=f"What to learn, what never, in which language; - for stdin. {_EMPTY}"),
    ] = None,
    owner: Annotated[str | None, typer.Option(metavar="NAME", help=f"Whose memory it is. {_EMPTY}")] = None,
    time_zone: Annotated[str | None, typer.Option(metavar="ZONE", help=f"Such as Europe/Berlin. {_EMPTY}")] = None,
    slot: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ABOUT", help="An attribute of your own with one value at a time. Repeatable."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ABOUT", help="A kind of facts of your own, such as recipe. Repeatable."),
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"A kind of facts that a person approves first. Repeatable. {_EMPTY}"),
    ] = None,
    expires: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND=DAYS", help=f"After how many days facts of a kind expire. Repeatable. {_EMPTY}"),
    ] = None,
    held_flag: Annotated[
        list[str] | None,
        typer.Option(metavar="FLAG", help=f"A mark that holds a claim, such as health. Repeatable. {_EMPTY}"),
    ] = None,
    agent: Agent = None,
) -> Result:
    """Set what is given, and leave the other rules as they are."""
    changes: dict[str, Any] = {}
    if instructions is not None:
        changes["instructions"] = read_text(instructions, what="the instructions").strip()
    if owner is not None:
        changes["owner"] = owner or None
    if time_zone is not None:
        changes["time_zone"] = time_zone or None
    if slot is not None:
        changes["slots"] = dict(_named(each, "slot") for each in slot if each)
    if kind is not None:
        changes["kinds"] = dict(_named(each, "kind") for each in kind if each)
    if hold is not None:
        changes["hold_kinds"] = tuple(filter(None, hold))
    if expires is not None:
        changes["expires_after"] = dict(map(_days, filter(None, expires)))
    if held_flag is not None:
        changes["held_flags"] = tuple(filter(None, held_flag))
    if not changes:
        raise UsageError("nothing to set.", hint="Give at least one rule; see 'bethink rules set --help'.")
    stored = await ctx.space.rules.set(replace(await ctx.space.rules.get(agent), **changes), agent=agent)
    return Result(data=stored, lines=_lines(stored))


def _named(text: str, what: str) -> tuple[str, str]:
    name, equals, about = text.partition("=")
    if not (name.strip() and equals and about.strip()):
        raise UsageError(f"cannot read the {what} {text!r}.", hint="Write NAME=ABOUT.")
    return name.strip(), about.strip()


def _days(text: str) -> tuple[str, int]:
    kind, days = _named(text, "expiry")
    if not days.isascii() or not days.isdecimal():
        raise UsageError(f"cannot read the expiry {text!r}.", hint="Write KIND=DAYS, such as goal=365.")
    return kind, int(days)


def _lines(found: "LearningRules") -> list[OutputLine]:
    flags = "as the settings say" if found.held_flags is None else ", ".join(found.held_flags) or "none"
    rows = [
        ["owner", one_line(found.owner or "not named")],
        ["time zone", found.time_zone or "as the settings say"],
        ["held kinds", ", ".join(found.hold_kinds) or "none"],
        ["held flags", one_line(flags)],
        *([f"expires {one_line(kind)}", f"after {days} days"] for kind, days in found.expires_after.items()),
        *([f"kind {one_line(name)}", one_line(about)] for name, about in found.kinds.items()),
        *([f"slot {one_line(name)}", one_line(about)] for name, about in found.slots.items()),
    ]
    told = found.instructions.splitlines() or ["no instructions"]
    return [*map(OutputLine, told), *columns(rows)]
