"""Records of the guard: statements, checks and verdicts. A check is data; nothing in it is ever run."""

from collections.abc import Mapping
from typing import Any

from bethink.base.frozen import frozen

BREACHED, OBEYED, NOT_APPLICABLE, UNKNOWN = "breached", "obeyed", "na", "unknown"
STANDING, ONCE, WITHDRAWS, NONE = "standing", "once", "withdraws", "none"


@frozen
class UserStatement:
    """A message, or a sentence of one, that may contain an instruction."""

    id: str = ""
    who: str = ""
    """`user`, `team`, `assistant` or `tool:NAME`. Only the first two can bind."""
    text: str = ""
    lang: str = ""
    project: str | None = None
    """Folder name the statement is meant for; None for all."""
    at: str = ""
    """Time in ISO 8601."""

    @property
    def is_personal(self) -> bool:
        """True if a person said it."""
        return self.who in ("user", "team")


def statement_from(values: Mapping[str, Any]) -> UserStatement:
    """Return the statement of a JSON object. Missing and malformed fields become empty."""
    texts = {name: value for name in ("id", "who", "text", "lang", "at") if isinstance(value := values.get(name), str)}
    project = values.get("project")
    return UserStatement(**texts, project=project if isinstance(project, str) else None)


@frozen
class CommandPattern:
    """A family of commands: a program, its first words, and flags that must be present."""

    program: str
    words: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.program, *self.words, *self.flags[:1]))


@frozen
class GuardCheck:
    """One instruction as data. Each shape reads the fields that it needs and leaves the others empty."""

    shape: str
    binds: str = STANDING
    statement: UserStatement = UserStatement()
    until: str = ""
    """Last moment of a one-off instruction with an end, in ISO 8601."""
    good: tuple[CommandPattern, ...] = ()
    bad: tuple[CommandPattern, ...] = ()
    act: str = ""
    """Name of the act that the check is about, from `acts.py`."""
    needs: str = ""
    """Name of the act that must come first, or last."""
    needs_success: bool = False
    paths: tuple[str, ...] = ()
    needed_paths: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    """Paths to which the check does not apply."""
    is_conditional: bool = False
    """True if the instruction has a condition that an event does not show: a match is only `unknown`."""
    kinds: tuple[str, ...] = ()
    """Kinds of files, such as `plan` or `python`."""
    branches: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    value: str = ""
    """Value of the flag, a language, or the name of a format."""
    phrases: tuple[str, ...] = ()
    limit: int | None = None
    unit: str = ""

    @property
    def since(self) -> str:
        """Time of the statement."""
        return self.statement.at

    @property
    def rule(self) -> str:
        """The instruction in the person's words."""
        return self.statement.text


@frozen
class StatementReading:
    """The result of reading a statement: how it binds, and its check if it has one."""

    binds: str
    check: GuardCheck | None = None
    reason: str = ""

    @property
    def shape(self) -> str:
        """Name of the shape; empty without a check."""
        return "" if self.check is None else self.check.shape


@frozen
class GuardVerdict:
    """Whether an event keeps a check, with the words that decided it."""

    result: str
    matched: str = ""
    """Words of the event."""
    instead: str = ""
    """Suggested alternative; empty if the rule names none."""


def explain(check: GuardCheck, verdict: GuardVerdict) -> str:
    """Return the message for people: the rule, its date, the words that matched, and the alternative."""
    date = check.since[:10] or "unknown date"
    person = "Your team's rule" if check.statement.who == "team" else "Your rule"
    parts = [f'{person} since {date}: "{check.rule}"']
    if verdict.matched:
        parts.append(f"Matched: {verdict.matched}.")
    if verdict.instead and verdict.result == BREACHED:
        parts.append(f"Instead: {verdict.instead}.")
    return " ".join(parts)
