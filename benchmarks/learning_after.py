"""What learning came to: whether changes landed on their day, whether questions are answered, and what it cost."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from benchmarks.learning_data import Claim, Question, Talk
from benchmarks.learning_replay import Exchange, Stage
from bethink import Fact
from bethink.errors import ConfigurationError
from bethink.extend import Tokens
from bethink.memory.learning.extraction.answer import moment
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.exact_tokens import ExactTokens
from bethink.store import facts
from bethink.types import RefKind

FIRST = 5
_DAY = timedelta(days=1)
_MESSAGE = re.compile(r"^\[\d+\] (?:\d\d:\d\d )?.*?: ", re.MULTILINE)
_DATE = re.compile(r"^\d{4}-\d\d-\d\d, \w+$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change that somebody asked for, and what is wrong with how it landed, if anything is."""

    statement: str
    wrong: str = ""


async def changes(on: Stage, talk: Talk) -> list[Change]:
    """Learn the follow-up, and look at each of its changes: before it was said, until its day, and from then on."""
    before = talk.began_at - timedelta(microseconds=1)
    session = await on.learn(talk)
    learnt = on.clock.time
    notes = await on.notes(talk.space, session)
    found: list[Change] = []
    for claim in talk.claims:
        on.clock.time = learnt
        wrong = await _landed(on, talk, claim, before=before)
        if claim.get("review") == "confidential":
            wrong = wrong or await _told(on, talk, talk.final(claim), notes)
        found.append(Change(statement=f"{claim['op']}: {talk.final(claim)}", wrong=wrong))
    on.clock.time = learnt
    return found


async def _landed(on: Stage, talk: Talk, claim: Claim, *, before: datetime) -> str:
    """Return what is wrong with a change; empty if nothing is."""
    said, current = talk.final(claim), await on.facts(talk.space)
    if claim["op"] == "same":
        return await _counted(on, talk, claim, current)
    if said not in current:
        return "it is not stored"
    if claim["op"] == "new":
        return ""
    begins = moment(claim.get("since"))
    day = begins if begins is not None and begins > on.clock.time else None
    for name in claim["known"]:
        old = (await on.facts(talk.space, as_of=before)).get(talk.known[name])
        if old is None:
            return f"what it changes was not known before: {talk.known[name]}"
        if day is not None and not await _holds(on, talk, old, day - _DAY):
            return f"already gone the day before: {old.text}"
        # What was to begin later must not begin, either.
        after = max(filter(None, (on.clock.time, day, old.valid_from))) + _DAY
        if await _holds(on, talk, old, after):
            return f"still held on {after:%Y-%m-%d}: {old.text}"
        if not await _holds(on, talk, current[said], after):
            return f"not held on {after:%Y-%m-%d}"
    return ""


async def _holds(on: Stage, talk: Talk, fact: Fact, at: datetime) -> bool:
    """Return whether memory holds a fact on a day, and finds it when asked in its own words."""
    on.clock.time = max(on.clock.time, at)
    known = (await on.facts(talk.space)).get(fact.text)
    if known is None or (known.valid_to is not None and known.valid_to <= at):
        return False
    if known.valid_from is not None and known.valid_from > at:
        return False
    found = await on.memory.space(talk.space).recall(fact.text, kinds=(RefKind.FACT,))
    return any(item.ref.id == known.id for item in found.items)


async def _counted(on: Stage, talk: Talk, claim: Claim, current: dict[str, Fact]) -> str:
    """Return what is wrong with a repetition: it counts once more, and makes no second fact."""
    known = talk.known[claim["known"][0]]
    if known not in current:
        return f"what it repeats is not known: {known}"
    if talk.final(claim) != known and talk.final(claim) in current:
        return "it is stored twice"
    fact_id = current[known].id
    times = await on.read(talk.space, lambda tx: facts.supports(tx, space=talk.space, fact_id=fact_id))
    return "" if len(times) == 2 else f"it counts {len(times)} times"


async def _told(on: Stage, talk: Talk, said: str, notes: str) -> str:
    if "confidential" not in (await on.facts(talk.space))[said].flags:
        return "it is not marked as confidential"
    return "the memory of the session tells it" if said in notes else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question, and what recall made of it. `fact_first` and `corrected` are None where they cannot be told."""

    question: str
    place: int | None
    """Where the answer is, from 1 on."""
    fact_first: bool | None
    """Whether the fact that answers goes before every message that does not."""
    corrected: bool | None
    """Whether the answer goes before what it corrected."""
    found: tuple[str, ...]


async def answers(on: Stage, questions: Sequence[Question]) -> list[Answered]:
    """Ask by words, about everything that memory holds."""
    return [await _answered(on, question) for question in questions]


async def _answered(on: Stage, question: Question) -> Answered:
    found = await on.memory.space(question.space).recall(question.text, limit=FIRST)
    right = [bool(question.answer.search(item.text)) for item in found.items]
    facts_of = [item.ref.kind is RefKind.FACT for item in found.items]
    first = right.index(True) + 1 if True in right else None
    known = any(question.answer.search(content) for content in await on.facts(question.space))
    told = [place for place, is_fact in enumerate(facts_of) if is_fact and right[place]]
    fact = told[0] if told else FIRST
    chatter = next((at for at, is_right in enumerate(right) if not is_right and not facts_of[at]), FIRST)
    over = [
        question.outdated is not None and not is_right and bool(question.outdated.search(item.text))
        for item, is_right in zip(found.items, right, strict=True)
    ]
    return Answered(
        question=question.text,
        place=first,
        fact_first=fact < min(chatter, FIRST) if known else None,
        corrected=None if question.outdated is None else first is not None and True not in over[: first - 1],
        found=tuple(f"{item.ref.kind}: {item.text[:80]}" for item in found.items),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Tokens for so many messages, by kind of request: in and out."""

    messages: int
    asked: Counter[str]
    said: Counter[str]
    heading: float
    """Tokens of a heading, a message."""
    differing: tuple[str, ...]
    """The kinds of requests whose static part is not the same in every call."""
    counter: str

    def per_thousand(self, counted: Counter[str]) -> int:
        """Return the tokens of all requests for 1,000 messages."""
        return round(1_000 * counted.total() / self.messages)


def cost(exchanges: Sequence[Exchange], messages: int) -> Cost:
    """Count the tokens of what was asked and answered."""
    tokens, counter = _tokens()
    asked: Counter[str] = Counter()
    said: Counter[str] = Counter()
    static: dict[str, set[tuple[str, str]]] = {}
    heading = 0
    for each in exchanges:
        call, kind = each.call, each.call.schema_name
        schema = json.dumps(call.schema, ensure_ascii=False)
        static.setdefault(kind, set()).add((call.system, schema))
        asked[kind] += tokens.count(call.system) + tokens.count(schema) + tokens.count(call.prompt)
        said[kind] += tokens.count(each.answer)
        if kind == "claims":
            part = call.prompt.partition("<messages>")[2]
            heads = [*_MESSAGE.findall(part), *_DATE.findall(part)]
            heading += sum(tokens.count(head.rstrip()) for head in heads)  # the space belongs to the text
    return Cost(
        messages=messages, asked=asked, said=said, heading=heading / messages,
        differing=tuple(kind for kind, parts in static.items() if len(parts) > 1), counter=counter,
    )  # fmt: skip


def _tokens() -> tuple[Tokens, str]:
    try:
        return ExactTokens(), "o200k"
    except ConfigurationError:
        return EstimatedTokens(), "estimated"
