"""Filters run inside the databases: the same on both, and the same as plain Python."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

import bethink
from bethink.errors import InvalidRequestError
from bethink.model.documents import DocumentDraft, Provenance
from bethink.model.facts import Fact, Maker, Quote, SessionSummary, SourceMessage
from bethink.model.filters import Filter
from bethink.model.operations.narrowing import FilteredRequest
from bethink.model.records import Origin
from bethink.model.views import NOW
from bethink.store import facts, learning, search, sessions
from bethink.store.db import Database, Tx
from bethink.store.facts import Support
from bethink.store.filters import apply_filter
from bethink.store.sql import Dialect, queries
from tests.conftest import FakeClock
from tests.facts_kit import learn_fact
from tests.length import often
from tests.store.filter_model import (
    AGENTS,
    BEGIN,
    CONVERSATIONS,
    ORIGINS,
    SPEAKERS,
    TAGS,
    Memory,
    asked,
    fits,
    metadata,
)

FILTERS = often(100, long=10_000)
HELD = 14
"""How many of each kind are stored."""
SPACE = "alice"
MANY = 1_000


class Population:
    """Memories of every kind at random, in a database and in plain Python."""

    def __init__(self, memory: bethink.Memory, database: Database, clock: FakeClock, seed: int) -> None:
        self.space = memory.space(SPACE)
        self.database = database
        self.clock = clock
        self.dice = random.Random(seed)
        self.known: list[Memory] = []
        self.said: list[tuple[SourceMessage, Memory]] = []

    async def fill(self) -> None:
        for number in range(HELD):
            await self._session(number)
        for number in range(HELD):
            await self._fact(number)
            await self._document(number)

    def _labels(self) -> dict[str, Any]:
        tags = tuple(self.dice.sample(TAGS, self.dice.randint(0, 3)))
        at = BEGIN + timedelta(hours=self.dice.randint(0, 60))
        return {"tags": tags, "metadata": metadata(self.dice), "at": at}

    async def _session(self, number: int) -> None:
        agent, conversation = self.dice.choice(AGENTS), self.dice.choice(CONVERSATIONS)
        labels, origin = self._labels(), Origin("memory")
        session = await self.space.session(conversation, agent=agent, tags=labels["tags"], metadata=labels["metadata"])
        behind = (agent, conversation)
        told = [self._message(f"{session.id}:{place}", behind) for place in range(1, 4)]
        await session.append([
            bethink.Message(
                role="user" if each.origin == "user" else "tool", content="said", name=each.behind[0][2],
                origin=each.origin, said_at=each.at, tags=each.tags, metadata=each.metadata,
            )
            for each in told
        ])  # fmt: skip
        messages = [replace(each, tags=(*each.tags, *labels["tags"]), inherited=(labels["metadata"],)) for each in told]
        self.known += messages
        self.said += [(SourceMessage(session.id, place), each) for place, each in enumerate(messages, 1)]
        speakers = tuple((*behind, each.behind[0][2]) for each in messages)
        own = {"tags": labels["tags"], "metadata": labels["metadata"]}
        self.known.append(Memory(id=session.id, kind="session", at=messages[0].at, behind=speakers, **own))
        if number % 3:
            await self._memory_of(session.id, max(each.at for each in messages))
            at = max(each.at for each in messages)
            self.known.append(
                Memory(id=session.id, kind="session_summary", at=at, origin=origin, behind=((*behind, None),), **own)
            )
        await session.end()

    def _message(self, name: str, behind: tuple[str, str]) -> Memory:
        speaker = self.dice.choice([*SPEAKERS, None])
        origin = self.dice.choice(["user", "tool:web", "tool:files"])
        return Memory(id=name, kind="message", origin=origin, behind=((*behind, speaker),), **self._labels())

    async def _memory_of(self, session_id: str, last: Any) -> None:
        made = SessionSummary(
            space=SPACE, session_id=session_id, raw_memory="raw", summary="sum", slug="slug", until=3,
            source_updated_at=last, generated_at=last, created_by=Maker(model="m", prompt="p", extractor="e"),
        )  # fmt: skip
        await self.database.transact(lambda tx: learning.put_memory(tx, made, token=1), space=SPACE)

    async def _fact(self, number: int) -> None:
        labels, origin = self._labels(), self.dice.choice(ORIGINS)
        sources = self.dice.sample(self.said, self.dice.randint(0, 2))
        fact = Fact(
            id=f"fct_{number}", text=f"fact {number}", origin=Origin(origin), created_at=labels["at"],
            tags=labels["tags"], metadata=labels["metadata"],
        )  # fmt: skip
        quotes = tuple(Quote(session_id=each.session_id, number=each.number, text="said") for each, _ in sources)
        support = Support(fact.id, fact.text, quotes)
        await self.database.transact(lambda tx: learn_fact(tx, fact, support, space=SPACE), space=SPACE)
        rests_on = [message for _, message in sources]
        labels["tags"] += tuple(tag for message in rests_on for tag in message.tags)
        inherited = tuple(each for message in rests_on for each in (message.metadata, *message.inherited))
        behind = tuple(message.behind[0] for message in rests_on)
        self.known.append(Memory(id=fact.id, kind="fact", origin=origin, behind=behind, inherited=inherited, **labels))

    async def _document(self, number: int) -> None:
        labels, origin = self._labels(), self.dice.choice(ORIGINS)
        self.clock.time = labels["at"]
        draft = DocumentDraft(slug=f"d{number}", title="t", tags=labels["tags"], metadata=labels["metadata"])
        written = await self.space.documents.create(draft, provenance=Provenance(origin=Origin(origin)))
        labels["at"] = written.valid_from
        self.known.append(Memory(id=written.id, kind="document", origin=origin, **labels))

    def expected(self, given: dict[str, Any]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for each in self.known:
            if fits(each, given):
                found.setdefault(each.kind, set()).add(each.id)
        return found


def selected(tx: Tx, only: Filter | None) -> dict[str, set[str]]:
    """Return what each table holds of a filter, by kind."""
    start, end = 0, 2**60
    given: dict[str, Any] = {"space": SPACE, "view": NOW, "limit": MANY, "only": only}
    memories: dict[str, Any] = {"space": SPACE, "at": end, "limit": MANY}
    said = search.said_between(tx, start=start, end=end, width=0, **given)  # pyright: ignore[reportArgumentType]
    found = {
        "message": {f"{each.ref.id}:{each.ref.number}" for each in said},
        "fact": {each.id for each in facts.page(tx, after="", **given)},
        "session_summary": {row["id"] for row in tx.all("session_summaries_for_context", only, **memories)},
        "document": {each.ref.id for each in search.leading_documents(tx, **given)},
        "session": {
            each.session.id for each in sessions.list_sessions(tx, space=SPACE, limit=MANY, before="", only=only)
        },
    }
    return {kind: ids for kind, ids in found.items() if ids}


def only_of(given: dict[str, Any]) -> Filter | None:
    tuples: dict[str, Any] = {name: tuple(given[name]) for name in ("origin", "tags") if name in given}
    return FilteredRequest(**{**given, **tuples}).only


@pytest.mark.timeout(1_800)
async def test_random_filters_match_a_plain_python_model(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    population = Population(memory, database, clock, seed=13)
    await population.fill()
    dice = random.Random(14)
    hits = 0
    for _ in range(FILTERS // 100):
        batch = [asked(dice) for _ in range(100)]

        def body(tx: Tx, batch: list[dict[str, Any]] = batch) -> list[dict[str, set[str]]]:
            return [selected(tx, only_of(given)) for given in batch]

        for given, found in zip(batch, await database.transact(body, space=SPACE, read_only=True), strict=True):
            assert found == population.expected(given), given
            hits += bool(found)
    assert FILTERS // 4 < hits < FILTERS  # neither does everything fit, nor nothing


async def test_without_a_filter_everything_is_selected(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    population = Population(memory, database, clock, seed=15)
    await population.fill()

    found = await database.transact(lambda tx: selected(tx, None), space=SPACE, read_only=True)

    assert found == population.expected({})
    assert {kind: len(ids) for kind, ids in found.items() if kind != "session_summary"} == {
        "message": 3 * HELD, "fact": HELD, "document": HELD, "session": HELD,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"": 1}, "key"),
        ({"k" * 201: 1}, "key"),
        ({"team": {}}, "where.team has no comparison"),
        ({"team": {"like": "x"}}, "has the unknown comparison 'like'"),
        ({"team": {"in": [1]}}, "has the unknown comparison 'in'.*or a list for in"),
        ({"OR": [{"team": 1}, {"team": 2}]}, "where.OR is not supported: all conditions"),
        ({"NOT": {"team": 1}}, "where.NOT is not supported"),
        ({"and": [{"team": 1}]}, "where.and is not supported"),
        ({"team": {"gt": True}}, r"compared with true \(gt\)"),
        ({"team": {"lte": None}}, r"compared with null \(lte\)"),
        ({"team": {"eq": [1]}}, "cannot be compared with a list"),
        ({"team": []}, "1 to 100 values"),
        ({"team": [["x"]]}, "cannot be compared with a list"),
        ({"team": 2**53}, "which some databases round"),
        ({"team": float("nan")}, "which some databases round"),
        ({"team": b"x"}, "cannot be compared with a bytes"),
        ({"team": "x" * 2_001}, "more than 2,000"),
        ({str(number): number for number in range(21)}, "more than 20 conditions"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused_with_the_reason(where: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequestError, match=told):
        FilteredRequest(where=where)


def test_where_compares_keys_named_like_connectives() -> None:
    """A key may be called `or`: only nested filters are refused."""
    only = FilteredRequest(where={"or": "gate", "not": [1, 2], "and": {"gte": 3}}).as_filter()

    assert [condition.key for condition in only.where] == ["or", "not", "and"]


def test_since_after_until_is_rejected() -> None:
    with pytest.raises(InvalidRequestError, match=r"since .* must be before `until`"):
        FilteredRequest(since=BEGIN, until=BEGIN - timedelta(days=1))


def test_empty_filter_is_none() -> None:
    assert FilteredRequest().only is None
    assert FilteredRequest(where={}).only is None
    assert FilteredRequest(tags=("a",)).only == Filter(tags=("a",))


@pytest.mark.parametrize("dialect", Dialect)
def test_query_without_a_filter_slot_raises(dialect: Dialect) -> None:
    with pytest.raises(ValueError, match="supports no filter"):
        apply_filter(queries(dialect)["find_fact"], Filter(tags=("a",)), dialect)
