"""Commands for learning rules: learn rules show and set."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.add import read_text
from bethink.cli.command import CommandContext, command
from bethink.cli.groups import called_alone
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, columns, one_line

if TYPE_CHECKING:
    from bethink.model.steering import LearningRules

app = typer.Typer()
rules = typer.Typer(cls=called_alone("show"), help="Show or set what a space learns.")
app.add_typer(rules, name="learn rules")

Agent = Annotated[str | None, typer.Option(metavar="NAME", help="Agent.  [default: the whole space]")]
_EMPTY = "Empty to clear."


@command(rules)
async def show(ctx: CommandContext, *, agent: Agent = None) -> Result:
    """Show what a space learns. 'bethink learn rules' alone does the same."""
    stored = await ctx.space.admin.rules.get(agent)
    return Result(data=stored, lines=_lines(ctx, stored))


@command(rules, "set", effect="creates")
async def set_rules(  # noqa: PLR0913 - each is an option of its own
    ctx: CommandContext,
    *,
    instructions: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help=f"Instructions for the model; - for stdin. {_EMPTY}"),
    ] = None,
    owner: Annotated[str | None, typer.Option(metavar="NAME", help=f"Owner of the memory. {_EMPTY}")] = None,
    time_zone: Annotated[
        str | None, typer.Option(metavar="ZONE", help=f"Time zone, such as Europe/Berlin. {_EMPTY}")
    ] = None,
    slot: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ABOUT", help="Attribute with one value at a time. Repeatable."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ABOUT", help="Custom kind of fact, such as recipe. Repeatable."),
    ] = None,
    review_kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Kind of facts that needs review. Repeatable. {_EMPTY}"),
    ] = None,
    expires: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND=DAYS", help=f"Days until facts of a kind expire. Repeatable. {_EMPTY}"),
    ] = None,
    review_flag: Annotated[
        list[str] | None,
        typer.Option(metavar="FLAG", help=f"Claim flag that requires review. Repeatable. {_EMPTY}"),
    ] = None,
    forget_requests: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="What spoken requests to forget do: ask, delete or ignore."),
    ] = None,
    agent: Agent = None,
) -> Result:
    """Set learning rules. The other rules stay as they are."""
    changes: dict[str, Any] = {}
    if instructions is not None:
        changes["instructions"] = read_text(instructions, label="the instructions").strip()
    words = {"owner": owner, "time_zone": time_zone, "forget_requests": forget_requests}
    changes |= {name: word or None for name, word in words.items() if word is not None}
    if slot is not None:
        changes["slots"] = dict(_parse(text, "slot") for text in slot if text)
    if kind is not None:
        changes["kinds"] = dict(_parse(text, "kind") for text in kind if text)
    if review_kind is not None:
        changes["review_kinds"] = tuple(filter(None, review_kind))
    if expires is not None:
        changes["expires_after"] = dict(map(_days, filter(None, expires)))
    if review_flag is not None:
        changes["review_flags"] = tuple(filter(None, review_flag))
    if not changes:
        raise UsageError("Nothing to set.", hint="Pass at least one rule; see 'bethink learn rules set --help'.")
    stored = await ctx.space.admin.rules.set(replace(await ctx.space.admin.rules.get(agent), **changes), agent=agent)
    return Result(data=stored, lines=_lines(ctx, stored))


def _parse(text: str, label: str) -> tuple[str, str]:
    name, equals, about = text.partition("=")
    if not (name.strip() and equals and about.strip()):
        raise UsageError(f"Cannot parse the {label} {text!r}.", hint="Write NAME=DESCRIPTION.")
    return name.strip(), about.strip()


def _days(text: str) -> tuple[str, int]:
    kind, days = _parse(text, "expiry")
    if not days.isascii() or not days.isdecimal():
        raise UsageError(f"Cannot parse the expiry {text!r}.", hint="Write KIND=DAYS, such as goal=365.")
    return kind, int(days)


def _lines(ctx: CommandContext, stored: "LearningRules") -> list[OutputLine]:
    learning = None if ctx.target.server else ctx.target.settings.learning  # a server has its own settings
    flags = f"{_join(learning.review_flags.split(',')) if learning else '(not set)'} (default)"
    zone = f"{learning.time_zone if learning else '(not set)'} (default)"
    rows = [
        ["owner", one_line(stored.owner or "(not set)")],
        ["time zone", stored.time_zone or zone],
        ["review kinds", _join(stored.review_kinds)],
        ["review flags", one_line(flags if stored.review_flags is None else _join(stored.review_flags))],
        ["forget requests", str(stored.forget_requests)],
        *([f"expires {one_line(kind)}", f"after {days} days"] for kind, days in stored.expires_after.items()),
        *([f"kind {one_line(name)}", one_line(about)] for name, about in stored.kinds.items()),
        *([f"slot {one_line(name)}", one_line(about)] for name, about in stored.slots.items()),
    ]
    instructions = stored.instructions.splitlines() or ["(no instructions)"]
    return [*map(OutputLine, instructions), *columns(rows)]


def _join(words: "Iterable[str]") -> str:
    return ", ".join(word.strip() for word in words if word.strip()) or "none"
