"""Small words to write scenarios with: talks with their claims, steps, and what a reader must find."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from bethink.model.facts import Fact
from tests.truth.script import Claim, Line, Talk, moment

Words = str | tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A step of a scenario. Without any, all talks are captured live and learned."""

    do: str
    at: str = ""
    talks: tuple[str, ...] = ()
    words: str = ""
    text: str = ""
    message: int = 0
    facts: tuple[Fact, ...] = ()
    shuffled: bool = False
    learned: bool = True


@dataclass(frozen=True)
class Check:
    """A question and what the answer must show: `a|b` is either. `status` is by words that a line contains."""

    ask: str
    question: str = ""
    as_of: str | None = None
    known_at: str | None = None
    now: str | None = None
    must: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    """Only in lines with a mark."""
    nowhere: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    first: str = ""
    status: Mapping[str, str] = field(default_factory=dict[str, str])
    valid: tuple[str, str | None] | None = None


@dataclass(frozen=True)
class Scenario:
    """Talks, steps and checks. Talks are called t1, t2 and so on."""

    kind: str
    name: str
    talks: tuple[Talk, ...]
    checks: tuple[Check, ...]
    steps: tuple[Step, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.name}"


def scenario(
    kind: str, name: str, *parts: Talk | Check | Step
) -> Scenario:  # fmt: skip
    """Return a scenario of its parts, in any order."""
    talks = [part for part in parts if isinstance(part, Talk)]
    return Scenario(
        kind,
        name,
        tuple(replace(talk, id=f"t{number}") for number, talk in enumerate(talks, 1)),
        tuple(part for part in parts if isinstance(part, Check)),
        tuple(part for part in parts if isinstance(part, Step)),
    )


def talk(at: str, *lines: str | Line, suspicious: tuple[int, ...] = (), **claims: Claim) -> Talk:
    """Return a talk: texts are messages of the user, a minute apart. Each claim quotes the message with its words."""
    begin = moment(at)
    messages = tuple(
        Line("user", line, begin + timedelta(minutes=position))
        if isinstance(line, str)
        else replace(line, at=line.at if line.at.year > 1 else begin + timedelta(minutes=position))
        for position, line in enumerate(lines)
    )
    return Talk("", messages, tuple(_found(name, claim, messages) for name, claim in claims.items()), suspicious)


def _found(name: str, claim: Claim, lines: tuple[Line, ...]) -> Claim:
    quote = claim.quote or lines[0].text.rstrip(".!。")
    numbers = [number for number, line in enumerate(lines, 1) if quote in line.text]
    return replace(claim, id=name, quote=quote, message=numbers[0])


_LATER = moment("2026-01-01").min


def assistant(text: str) -> Line:
    """Return a reply of the assistant."""
    return Line("assistant", text, _LATER)


def tool(text: str, name: str = "web") -> Line:
    """Return the result of a tool."""
    return Line("tool", text, _LATER, name)


def by(name: str, text: str) -> Line:
    """Return a message of a person with a name."""
    return Line("user", text, _LATER, name)


def on(at: str, text: str) -> Line:
    """Return a message of the user on a day of its own."""
    return Line("user", text, moment(at))


def claim(
    text: str,
    quote: str = "",
    *,
    about: str = "owner",
    slot: str | None = None,
    replaces: Words = (),
    corrects: Words = (),
    ends: Words = (),
    same: Words = (),
    rests_on: Words = (),
    since: str | None = None,
    until: str | None = None,
    happened: str | None = None,
    kind: str = "detail",
    stance: str = "said",
    parts: tuple[tuple[str, str], ...] = (),
    part: str | None = None,
) -> Claim:
    """Return a claim; without a quote it quotes the whole first message."""
    changes = {"replaces": replaces, "corrects": corrects, "ends": ends, "same": same}
    op, of = next(((op, of) for op, of in changes.items() if of), ("new", ()))
    return Claim(
        "", text, quote, subject=about, slot=slot, op=op, of=_texts(of), rests_on=_texts(rests_on), since=since,
        until=until, happened=happened, kind=kind, stance=stance, parts=parts, part=part,
    )  # fmt: skip


def request(extent: str, *targets: str, quote: str = "") -> Claim:
    """Return the request to forget one thing, a person or a topic."""
    return Claim("", f"Owner asked to forget {extent}", quote, op="forget", of=targets, forget=extent)


# --- steps -----------------------------------------------------------------------------------------------------------


def live(*talks: str, learned: bool = True) -> Step:
    return Step("live", talks=talks, learned=learned)


def imported(at: str, *talks: str, shuffled: bool = False, learned: bool = True) -> Step:
    return Step("imported", at, talks=talks, shuffled=shuffled, learned=learned)


def learned(at: str) -> Step:
    return Step("learned", at)


def corrected(at: str, words: str, text: str) -> Step:
    return Step("corrected", at, words=words, text=text)


def relearned(at: str) -> Step:
    return Step("relearned", at)


def saved(at: str, *facts: Fact) -> Step:
    return Step("saved", at, facts=facts)


def retracted(at: str, name: str, message: int) -> Step:
    return Step("retracted", at, talks=(name,), message=message)


def deleted(at: str, name: str = "", message: int = 0, *, origin: str = "") -> Step:
    return Step("deleted", at, talks=(name,) if name else (), message=message, words=origin)


# --- checks ----------------------------------------------------------------------------------------------------------


def check(
    ask: str,
    question: str = "",
    *,
    as_of: str | None = None,
    known_at: str | None = None,
    now: str | None = None,
    must: Words = (),
    never: Words = (),
    nowhere: Words = (),
    plain: Words = (),
    first: str = "",
    status: Mapping[str, str] | None = None,
    valid: tuple[str, str | None] | None = None,
) -> Check:
    """Return a check of `facts`, `recall`, `context` or `explain`, which is asked for the words of a statement."""
    return Check(
        ask, question, as_of, known_at, now, _texts(must), _texts(never), _texts(nowhere), _texts(plain), first,
        status or {}, valid,
    )  # fmt: skip


def _texts(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words
