"""Lives that change: facts that are updated and contradicted, and questions without an answer."""

import re
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import NamedTuple

from benchmarks.lifecycle_stage import (
    Goal,
    Names,
    Stage,
    Tally,
    assistant,
    document,
    facts_in,
    tool,
    user,
)
from bethink import Message
from bethink.model.moments import from_micros, to_micros
from bethink.model.recall import Match, RecallResult
from bethink.model.refs import RefKind

_ROUNDS = 6
_MONTH = 28.0
# What was superseded can be asked for only where what is recalled can say so.
_OF_MARKS = Goal.ALL if "replaced_by" in {each.name for each in fields(Match)} else Goal.SHOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Something one has one of: how it is told, in several ways, how it is asked for, and what the fact says."""

    told: tuple[str, ...]
    asked: str
    fact: str


HOME = Slot(
    told=("I live in {}.", "I moved to {}.", "I moved to {} last week, and the boxes are everywhere."),
    asked="Where do I live?",
    fact="User lives in {}",
)
SLOTS = (
    HOME,
    Slot(told=("I work at {}.", "I now work for {}."), asked="Where do I work?", fact="User works at {}"),
    Slot(told=("My dentist is {}.",), asked="Who is my dentist?", fact="User's dentist is {}"),
    Slot(told=("My favourite drink is {}.",), asked="What is my favourite drink?", fact="User's favourite drink is {}"),
    Slot(told=("I drive a {}.", "I now drive a {}."), asked="What car do I drive?", fact="User drives a {}"),
)
SMALL_TALK = (
    "Good morning!",
    "Thanks, that helped.",
    "What is a monad?",
    "Could you format this table?",
    "It rained all day.",
    "Let us go on tomorrow.",
)


@dataclass(slots=True)
class _Period:
    """What someone had, from when it was said until something else was."""

    value: str
    said: datetime
    until: datetime | None = None


@dataclass(slots=True, kw_only=True)
class _Person:
    space: str
    lives: dict[Slot, list[_Period]] = field(default_factory=dict[Slot, list[_Period]])

    def values(self, slot: Slot) -> list[str]:
        """Return every value there was, the newest last."""
        return [period.value for period in self.lives[slot]]


async def updates(stage: Stage, people: int) -> list[Tally]:
    """Change what is so over months; afterwards it is as it is now, and as of any day as it was then.

    Half of the histories are imported after their last day, and learned in random order.
    """
    names = Names(stage.dice)
    everyone = [_Person(space=f"life-{number}") for number in range(people)]
    for person in everyone[1::2]:
        stage.delay(person.space)
    for round_number in range(_ROUNDS):
        for person in everyone:
            await _tell(stage, person, round_number, names)
        stage.pass_days(1)
        await stage.learn()
        stage.pass_days(_MONTH)
    await stage.import_late()
    now = Tally(name="updated facts: right now", goal=Goal.ALL)
    first = Tally(name="updated facts: the new one first", goal=_OF_MARKS)
    marked = Tally(name="updated facts: the old ones marked", goal=_OF_MARKS)
    then = Tally(name="updated facts: right as of then", goal=Goal.ALL)
    for person in everyone:
        for slot, periods in person.lives.items():
            found = await _check_now(stage, person, slot, now)
            _check_marks(person, slot, found, first, marked)
            for period in periods[:-1]:
                await _check_then(stage, person, slot, period, then)
    return [now, then, first, marked]


async def _tell(stage: Stage, person: _Person, round_number: int, names: Names) -> None:
    """Let someone tell what has changed this month: everything at first, some of it later."""
    dice = stage.dice
    changed = SLOTS if round_number == 0 else dice.sample(SLOTS, dice.randint(1, 3))
    talk = [user(dice.choice(SMALL_TALK))]
    told: list[tuple[Slot, str]] = []
    for slot in changed:
        before = person.lives.get(slot)
        # Now and then the new one looks like the old one.
        value = names.like(before[-1].value) if before and dice.random() < 0.25 else names.new()
        told.append((slot, value))
        talk += [user(dice.choice(slot.told).format(value)), assistant("I see.")]
    stage.pass_days(dice.random() / 24)
    before_talk = stage.clock.time
    await stage.talk(person.space, f"month-{round_number}", talk)
    for slot, value in told:
        periods = person.lives.setdefault(slot, [])
        if periods:
            periods[-1].until = before_talk
        periods.append(_Period(value, stage.clock.time))


async def _check_now(stage: Stage, person: _Person, slot: Slot, now: Tally) -> RecallResult:
    *old, new = person.values(slot)
    found = await stage.memory.space(person.space).recall(slot.asked, explain=True)
    facts = await stage.memory.space(person.space).recall(slot.asked, kinds=[RefKind.FACT])
    block = await stage.memory.space(person.space).context()
    stated = [fact.text for fact in facts_in(facts)]
    wrong = {slot.fact.format(value) for value in old if value != new}
    shown = _stated(found) + stated + [item.text for item in block.items if item.ref.kind is RefKind.FACT]
    right = stated[:1] == [slot.fact.format(new)] == _stated(found)[:1] and not wrong & set(shown)
    now.add(right, f"{person.space} asked {slot.asked!r}: {shown}, it is {new}, was {old}")
    return found


def _check_marks(person: _Person, slot: Slot, found: RecallResult, first: Tally, marked: Tally) -> None:
    """Count whether the new value leads everything that was found, and whether all that states an old one says so."""
    *values, new = person.values(slot)
    old = {value for value in values if value != new}
    top = found.items[0].text if found.items else ""
    case = f"{person.space} asked {slot.asked!r}, it is {new}"
    first.add(new in top and not any(value in top for value in old), f"{case}: {top}")
    stale = [item for item in found.items if new not in item.text and any(value in item.text for value in old)]
    unmarked = [item.text for item in stale if getattr(item, "replaced_by", None) is None]
    if old:
        marked.add(not unmarked, f"{case}: {unmarked}")


def _stated(found: RecallResult) -> list[str]:
    """Return what facts an answer shows, those included that are shown as the message that says the same."""
    texts = {each.ref: each.text for each in found.candidates}
    refs = [ref for item in found.items for ref in (item.ref, *item.duplicates)]
    return [texts[ref] for ref in refs if ref.kind is RefKind.FACT]


async def _check_then(stage: Stage, person: _Person, slot: Slot, period: _Period, then: Tally) -> None:
    last = (period.until or period.said) - timedelta(microseconds=1)
    others = {slot.fact.format(value) for value in person.values(slot)} - {slot.fact.format(period.value)}
    between = from_micros(stage.dice.randint(to_micros(period.said), to_micros(last)))
    for at in (period.said, between, last):
        facts = await stage.memory.space(person.space).recall(slot.asked, as_of=at, kinds=[RefKind.FACT])
        stated = [fact.text for fact in facts_in(facts)]
        found = await stage.memory.space(person.space).recall(slot.asked, as_of=at, explain=True)
        right = stated[:1] == [slot.fact.format(period.value)] and not others & {*stated, *_stated(found)}
        then.add(
            right and all(item.said_at <= at for item in found.items), f"{person.space}: {stated}, not {period.value}"
        )


class _Dispute(NamedTuple):
    """Sessions that contradict each other, in short, what must come of them, and what must not; A and B are towns."""

    name: str
    sessions: str
    fact: str
    never: str


_A, _B = "User lives in A", "User lives in B"
_DISPUTES = (
    _Dispute("user, then a tool", "u I live in A | t The user lives in B", _A, _B),
    _Dispute("a tool, then user", "t The user lives in B | u I live in A", _A, _B),
    _Dispute("user and a tool", "u I live in A ; t The user lives in B", _A, _B),
    _Dispute("a tool and user", "t I live in B ; u I live in A", _A, _B),
    _Dispute("user, then a document", "u I live in A | d User lives in B", _A, _B),
    _Dispute("user, then the assistant", "u I live in A | a You live in B", _A, _B),
    _Dispute("the assistant, then user", "a You live in B | u I live in A", _A, _B),
    _Dispute("user, then otherwise", "u I live in B | u I moved to A", _A, _B),
    _Dispute("user, corrected at once", "u I live in B ; u I live in A", _A, _B),
    _Dispute("user, then not so", "u I live in B | u I no longer live in B", "User does not live in B", _B),
    _Dispute(
        "user, not so, so", "u I live in A | u I no longer live in A | u I live in A", _A, "User does not live in A"
    ),
    _Dispute("user, otherwise, and back", "u I live in A | u I moved to B | u I moved to A", _A, _B),
    _Dispute("user, a tool, user again", "u I live in A | t The user lives in B | u I still live in A", _A, _B),
    _Dispute("user, a tool agrees, user otherwise", "u I live in B | t The user lives in B | u I live in A", _A, _B),
)
_SPEAKERS = {"u": user, "t": tool, "d": document, "a": assistant}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quarrel:
    """A dispute between towns that have names, learnt session by session or all at once, live or imported late."""

    dispute: _Dispute
    space: str
    towns: tuple[str, str]
    at_once: bool
    late: bool

    def named(self, text: str) -> str:
        """Put the names of the towns into a text."""
        return re.sub(r"\b[AB]\b", lambda found: self.towns["AB".index(found[0])], text)

    def sessions(self) -> list[list[Message]]:
        """Return what is said, session by session."""
        return [
            [
                user("Hello."),
                *(_SPEAKERS[who](f"{self.named(text)}.") for who, _, text in map(_parted, part.split(" ; "))),
            ]
            for part in self.dispute.sessions.split(" | ")
        ]


def _parted(said: str) -> tuple[str, str, str]:
    return said.partition(" ")


async def contradictions(stage: Stage, cases: int) -> list[Tally]:
    """Let sources contradict each other, learnt one by one or all at once: the user's latest word holds."""
    names = Names(stage.dice)
    quarrels = [
        _Quarrel(
            dispute=_DISPUTES[number % len(_DISPUTES)],
            space=f"dispute-{number}",
            towns=(names.new(), names.new()),
            at_once=number // len(_DISPUTES) % 2 == 1,
            late=number // len(_DISPUTES) // 2 % 2 == 1,
        )
        for number in range(cases)
    ]
    for quarrel in quarrels:
        if quarrel.late:
            stage.delay(quarrel.space)
    for at_once in (False, True):
        for place in range(max(len(each.sessions()) for each in quarrels)):
            for quarrel in quarrels:
                if quarrel.at_once is at_once and place < len(quarrel.sessions()):
                    await stage.talk(quarrel.space, f"day-{place}", quarrel.sessions()[place])
            stage.pass_days(3)
            if not at_once:
                await stage.learn()
        await stage.learn()
    await stage.import_late(at_once={quarrel.space for quarrel in quarrels if quarrel.at_once})
    tally = Tally(name="contradictions: the user's latest word holds", goal=Goal.ALL)
    for quarrel in quarrels:
        facts = await stage.memory.space(quarrel.space).recall(HOME.asked, kinds=[RefKind.FACT])
        block = await stage.memory.space(quarrel.space).context(question=HOME.asked)
        stated = [fact.text for fact in facts_in(facts)]
        shown = {*stated, *(item.text for item in block.items if item.ref.kind is RefKind.FACT)}
        right = (
            stated[:1] == [quarrel.named(quarrel.dispute.fact)] and quarrel.named(quarrel.dispute.never) not in shown
        )
        how = f"{', imported late' if quarrel.late else ''}{', learnt at once' if quarrel.at_once else ''}"
        tally.add(right, f"{quarrel.dispute.name}{how}: {stated}")
    return [tally]


_NEVER_SAID = (
    "What is my blood group?", "When does my passport expire?", "Which violin strings did I order?",
    "What was the surgeon's verdict?", "How tall is my nephew?", "Which university did I attend?",
)  # fmt: skip
_SAID_OF_OTHERS = (
    ("The parrot at the zoo was loud.", "What is my parrot called?"),
    ("A sailing boat passed the bridge.", "When did I buy my sailing boat?"),
    ("Someone left an umbrella in the tram.", "What colour is my umbrella?"),
    ("The film had a piano in every scene.", "Who teaches me the piano?"),
    ("That recipe needs a whole pumpkin.", "How big is the pumpkin in my garden?"),
    ("The museum sold out of marble statues.", "Which marble did I choose for the kitchen?"),
)


async def abstention(stage: Stage, people: int) -> list[Tally]:
    """Ask for what was never said, for what was said of something else, and for what there is an answer to."""
    names = Names(stage.dice)
    never = Tally(name="abstention: words never said", goal=Goal.ALL)
    others = Tally(name="abstention: words said of something else", goal=Goal.SHOWN)
    known = Tally(name="answerable: not left empty", goal=Goal.ALL)
    lives: list[tuple[str, list[tuple[Slot, str]]]] = []
    for number in range(people):
        told = [(slot, names.new()) for slot in SLOTS]
        talk = [user(slot.told[0].format(value)) for slot, value in told]
        talk += [user(text) for text, _ in _SAID_OF_OTHERS] + [assistant("Indeed."), user(SMALL_TALK[4])]
        stage.dice.shuffle(talk)
        await stage.talk(f"asked-{number}", "talk", talk)
        lives.append((f"asked-{number}", told))
    stage.pass_days(1)
    await stage.learn()
    for space, told in lives:
        for question in _NEVER_SAID:
            found = await stage.memory.space(space).recall(question)
            never.add(not found and bool(found.note), f"{question!r}: {[item.text for item in found.items]}")
        for _, question in _SAID_OF_OTHERS:
            found = await stage.memory.space(space).recall(question)
            others.add(not found and bool(found.note))
        for slot, value in told:
            found = await stage.memory.space(space).recall(slot.asked)
            known.add(any(value in item.text for item in found.items), f"{slot.asked!r}: {found.note}")
    return [never, known, others]
