"""Replays recorded learning through the real pipeline: a model that answers from the record, and a reader that does."""

import json
import random
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from benchmarks.learning_data import SAID, Claim, Set, Talk, Verdict
from benchmarks.learning_pages import PageWriter
from bethink import Fact, Memory, connect
from bethink.config.groups import EmbedderSettings, LearningSettings, ModelSettings
from bethink.config.settings import Settings
from bethink.extend import ModelCall
from bethink.memory.learning.extraction import claims, second
from bethink.model.framing import inert
from bethink.model.jobs import JobKind
from bethink.model.reviews import Review, ReviewStatus
from bethink.store import learning, reviews
from bethink.store.db import Tx
from bethink.testing import ScriptedModel

_WINDOW = 128_000
_SHOWN = 300
_MOST = 1_000
_CLAIM = re.compile(r"^(c\d+) about .*?(?:, doubt: (.*?))?, \[([\d, ]*)\]: (.*)$", re.MULTILINE)
_KNOWN = re.compile(r"^(f\d+) .*$", re.MULTILINE)
WRONG = 0.1
"""How often a reader that errs gives a wrong verdict."""


class Errs(StrEnum):
    """How a reader errs."""

    NEVER = "never"
    ANYHOW = "any wrong verdict"
    WORST = "the worst verdict"
    """For a false claim always `said`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Gives the recorded verdict on each claim, or now and then a wrong one."""

    errs: Errs = Errs.NEVER
    seed: int = 0
    anew: bool = True
    """Whether it errs anew each time it reads a claim; else always in the same ones."""

    def verdict(self, statement: str, right: Verdict, time: int = 0) -> Verdict:
        """Return what this reader says to a statement, the first `time` it reads it or a later one."""
        dice = random.Random(f"{self.seed} {statement}" + (f" {time}" if self.anew and time else ""))
        if self.errs is Errs.NEVER or dice.random() >= WRONG:
            return right
        if self.errs is Errs.WORST and right.verdict != "said":
            return SAID
        others = [name for name in ("said", *map(str, second.VERDICTS)) if name != right.verdict]
        return Verdict(verdict=dice.choice(others))


class Clock:
    """The time of the record: it is set by hand, and moves by a microsecond each time it is read."""

    def __init__(self) -> None:
        self.time = datetime(2020, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request to a model, and its answer."""

    call: ModelCall
    answer: str


@dataclass(slots=True, kw_only=True)
class Stage:
    """A memory that learns the talks of a set, one after the other, each at its time."""

    memory: Memory
    clock: Clock
    script: "Script"

    async def learn(self, talk: Talk) -> str:
        """Say what was said, learn from it, and return the id of the session."""
        self.clock.time = talk.said_at + timedelta(minutes=1)
        self.script.talk = talk
        session = await self.memory.space(talk.space).session(f"chat:{talk.name}")
        await session.append(list(talk.messages))
        await session.end()
        await self.memory.learn(kinds=(JobKind.EXTRACT,))
        return session.id

    async def write_pages(self) -> None:
        """Let the writer put on pages what was learned."""
        await self.memory.learn(kinds=(JobKind.CONSOLIDATE,))

    async def facts(self, space: str, as_of: datetime | None = None) -> dict[str, Fact]:
        """Return the facts that are current or ended, or were at a time, by what they say."""
        facts = self.memory.space(space).facts
        ended = await facts.history(status="ended", limit=_MOST, as_of=as_of)
        return {
            fact.text: fact for fact in (*(entry.fact for entry in ended), *await facts.list(limit=_MOST, as_of=as_of))
        }

    async def reviews(self, space: str) -> dict[str, Review]:
        """Return the claims that were held or refused, by what they say."""
        kept = await self.read(
            space, lambda tx: reviews.list_reviews(tx, space=space, statuses=list(ReviewStatus), limit=_MOST)
        )  # fmt: skip
        return {review.claim.fact.text: review for review in kept}

    async def notes(self, space: str, session_id: str) -> str:
        """Return the memory of a session."""
        found = await self.read(space, lambda tx: learning.find_memory(tx, space=space, session_id=session_id))
        return "" if found is None else f"{found.summary}\n{found.raw_memory}"

    async def read(self, space: str, body: Callable[[Tx], Any]) -> Any:
        """Read from the database of the memory."""
        return await self.memory.backend.local().database.transact(body, space=space, read_only=True)


@asynccontextmanager
async def stage(target: str, *, planted: bool, reader: Reader | None = None) -> AsyncGenerator[Stage]:
    """Open an empty memory that learns from the record; with `planted`, false claims stand among the true ones."""
    script = Script(planted=planted, reader=reader or Reader())
    clock = Clock()
    settings = Settings(
        embedder=EmbedderSettings(name="none"),
        learning=LearningSettings(in_background=False),
        model=ModelSettings(input_price=0.0, output_price=0.0),
    )
    model = ScriptedModel(script.answer, name="recorded", window=_WINDOW)
    async with connect(target, settings=settings, model=model, clock=clock) as memory:
        yield Stage(memory=memory, clock=clock, script=script)


@dataclass(slots=True, kw_only=True)
class Script:
    """Answers the requests about the talk that is learnt, and writes pages by rule."""

    planted: bool
    reader: Reader
    talk: Talk | None = None
    read: Counter[str] = field(default_factory=Counter[str])
    """How often each statement was read."""
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    writer: PageWriter = field(default_factory=PageWriter)

    def answer(self, call: ModelCall) -> str:
        if self.talk is None:
            raise SystemExit("nothing is to be learnt yet")
        if call.schema_name == "document_calls":
            text = self.writer.answer(call)
        else:
            tree = self._claims(call, self.talk) if call.schema_name == "claims" else self._verdicts(call, self.talk)
            text = json.dumps(tree, ensure_ascii=False)
        self.exchanges.append(Exchange(call, text))
        return text

    def _claims(self, call: ModelCall, talk: Talk) -> dict[str, Any]:
        lines = call.prompt.partition("<messages>")[0]
        shown = {_statement_of(found[0]): found[1] for found in _KNOWN.finditer(lines)}
        drawn = [_as_asked(claim, talk, shown) for claim in talk.claims]
        if self.planted:
            drawn = _among(drawn, [_planted(talk, place) for place in range(len(talk.false))])
        return {"claims": drawn, "suspicious": [], "title": talk.name}

    def _verdicts(self, call: ModelCall, talk: Talk) -> dict[str, Any]:
        right = {inert(statement): verdict for statement, verdict in talk.verdicts.items()}
        right |= {inert(each.statement): each.verdict for each in talk.false}
        said: list[str] = []
        others: list[dict[str, str]] = []
        for name, doubt, numbers, statement in _CLAIM.findall(call.prompt):
            verdict = self._verdict(statement, right[statement])
            if verdict.verdict != "said":
                others.append({"claim": name, "verdict": verdict.verdict, "text": verdict.because})
                continue
            said.append(name)
            if verdict.fixed:
                others.append({"claim": name, "verdict": second.FIXED, "text": verdict.fixed})
            # A doubt is a question of its own: a reader that errs anew answers it apart from the verdict.
            if doubt and self._verdict(statement, right[statement]).verdict == "said":
                quoted = talk.messages[int(numbers.partition(",")[0]) - 1].content
                others.append({"claim": name, "verdict": second.PROOF, "text": _first_words(quoted)})
        return {"said": said, "others": others}

    def _verdict(self, statement: str, right: Verdict) -> Verdict:
        """Return the verdict of the reader on a statement, which may differ each time."""
        verdict = self.reader.verdict(statement, right, self.read[statement])
        self.read[statement] += 1
        return verdict


def _first_words(text: str) -> str:
    """Return the first words of a message without digits: words that prove no number, and none wrong."""
    return re.split(r"\d", " ".join(text.split()), maxsplit=1)[0].rpartition(" ")[0][:60].rpartition(" ")[0] or text


def _as_asked(claim: Claim, talk: Talk, shown: Mapping[str, str]) -> dict[str, Any]:
    """Return a claim with every field that is asked for, and the ids under which the request shows known facts.

    A record in an older form lacks the fields that came later: they are empty.
    """
    known = [shown[text] for name in claim["known"] if (text := inert(talk.known[name], limit=_SHOWN)) in shown]
    fields = claims.schema()["properties"]["claims"]["items"]["properties"]
    empty: dict[str, list[str] | None] = {
        name: [] if kind.get("type") == "array" else None for name, kind in fields.items()
    }
    return {name: claim.get(name, empty[name]) for name in fields} | {"known": known}


def _statement_of(line: str) -> str:
    return line.partition(": ")[2]


def _planted(talk: Talk, place: int) -> dict[str, Any]:
    """Return a false claim as a model would give it, with the whole messages it names as quotes."""
    false = talk.false[place]
    quotes = [{"message": number, "text": talk.messages[number - 1].content, "as": "word"} for number in false.sources]
    claim = {"statement": false.statement, "kind": false.kind, "about": false.about, "stance": "said", "op": "new"}
    return claim | {"quotes": quotes, "known": []}


def _among(true: Sequence[dict[str, Any]], false: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mix false claims evenly among true ones."""
    placed = [(place / max(1, len(true)), claim) for place, claim in enumerate(true)]
    placed += [((place + 0.5) / max(1, len(false)), claim) for place, claim in enumerate(false)]
    return [claim for _, claim in sorted(placed, key=lambda each: each[0])]


class Fate(StrEnum):
    """What became of a claim."""

    STORED = "stored"
    FLAGGED = "held with a flag"
    HELD = "held"
    REFUSED = "refused"
    GONE = "gone"
    """Neither a current fact nor under review: a fact of better origin stands in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A claim, what became of it, and why."""

    talk: str
    statement: str
    true: bool
    fate: Fate
    why: str = ""


async def replayed(target: str, learnt: Set, *, planted: bool, reader: Reader | None = None) -> list[Outcome]:
    """Learn every talk of a set from an empty memory, and return what became of each claim."""
    found: list[Outcome] = []
    async with stage(target, planted=planted, reader=reader) as on:
        for talk in learnt.talks:
            found += await outcomes(on, talk, planted=planted)
    return found


async def outcomes(on: Stage, talk: Talk, *, planted: bool) -> list[Outcome]:
    """Learn a talk, and return what became of its claims."""
    session = await on.learn(talk)
    facts, kept = await on.facts(talk.space), await on.reviews(talk.space)
    notes = await on.notes(talk.space, session)

    def outcome(statement: str, *others: str, true: bool) -> Outcome:
        said = next((each for each in (statement, *others) if each in facts or each in kept), statement)
        review = kept.get(said)
        if said in facts or (not true and statement in notes):
            return Outcome(talk=talk.name, statement=statement, true=true, fate=Fate.STORED)
        if review is None:
            return Outcome(talk=talk.name, statement=statement, true=true, fate=Fate.GONE)
        held = Fate.FLAGGED if review.reason == "flagged" else Fate.HELD
        fate = held if review.status is ReviewStatus.PENDING else Fate.REFUSED
        return Outcome(
            talk=talk.name, statement=statement, true=true, fate=fate, why=f"{review.reason}: {review.detail}"
        )  # fmt: skip

    true = [outcome(talk.final(claim), claim["statement"], true=True) for claim in talk.claims]
    false = [outcome(each.statement, true=False) for each in talk.false] if planted else []
    return true + false
