"""Items are added, changed and deleted in any order: no vector outlives or contradicts its text."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from bethink import Fact, Memory
from bethink.errors import NotFoundError
from bethink.memory.recall.index import passages
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Maker, SessionSummary
from bethink.model.jobs import JobKind
from bethink.model.moments import from_micros
from bethink.model.records import conversation_key
from bethink.model.refs import Ref
from bethink.store import jobs, learning, vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import Embedded, Near, Unembedded, VectorIndex
from tests.conftest import DATABASES, database_at, said
from tests.length import often
from tests.rooms.machine_kit import QUICK, THOROUGH
from tests.rooms.vector_kit import hashed, index_all, index_of, left_out, remembering

T = TypeVar("T")
WORDS = ["tea", "rain", "snow", "dog", "Rex", "Bergen", "Ana", "green", "falls", "barks"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
NAME = st.sampled_from(["a", "b", "c"])
FEWER = settings(THOROUGH, max_examples=often(8, long=60), stateful_step_count=30)


class Space(RuleBasedStateMachine):
    """Does anything to a space that adds, changes or removes a text, and compares every vector with its text."""

    database: Database
    memory: Memory
    portal: BlockingPortal
    index: VectorIndex
    empty: VectorIndex
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Space.runs += 1
        self.space = f"run{Space.runs}"
        self.begun: list[Embedded] = []
        self.versions: dict[str, tuple[str, int]] = {}

    def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        return self.portal.call(call)

    def ask(self, body: Callable[[Tx], T]) -> T:
        return self.wait(lambda: self.database.transact(body, space=self.space))

    def key(self, name: str) -> str:
        return conversation_key(channel=self.space, chat=name)

    @rule(name=NAME, text=TEXT)
    def say(self, name: str, text: str) -> None:
        session = self.wait(lambda: self.memory.space(self.space).session(self.key(name)))
        self.wait(lambda: session.append(said(text)))

    @rule(name=NAME, text=TEXT)
    def remember(self, name: str, text: str) -> None:
        session = self.wait(lambda: self.memory.space(self.space).session(self.key(name)))
        memory = SessionSummary(
            space=self.space, session_id=session.id, raw_memory=text, summary="", slug="s", until=0,
            source_updated_at=from_micros(1), generated_at=from_micros(1),
            created_by=Maker(model="m", prompt="p", extractor="1"),
        )  # fmt: skip
        self.ask(lambda tx: learning.put_memory(tx, memory, token=1))

    @rule(name=NAME)
    def purge(self, name: str) -> None:
        with suppress(NotFoundError):
            self.wait(lambda: self.memory.space(self.space).forget(conversation=self.key(name)))

    @rule(name=NAME, text=TEXT)
    def know(self, name: str, text: str) -> None:
        self.wait(lambda: self.memory.space(self.space).facts.save(Fact(id=name, text=text)))

    @rule(name=NAME)
    def forget(self, name: str) -> None:
        with suppress(NotFoundError):
            self.wait(lambda: self.memory.space(self.space).forget(f"fact:{name}:0"))

    @rule(name=NAME, text=TEXT)
    def write(self, name: str, text: str) -> None:
        docs, draft = self.memory.space(self.space).documents, DocumentDraft(slug=name, title=name, body=text)
        if name in self.versions:
            document, version = self.versions[name]
            written = self.wait(lambda: docs.update(document, draft, if_version=version))
        else:
            written = self.wait(lambda: docs.create(draft))
        assert written is not None
        self.versions[name] = (written.id, written.version)

    @rule(name=NAME)
    def redact(self, name: str) -> None:
        document, version = self.versions.get(name, ("", 0))
        if version > 1:
            self.wait(
                lambda: self.memory.space(self.space).forget(f"document:{document}:{version - 1}", version_only=True)
            )

    @rule()
    def begin_to_embed(self) -> None:
        found = self.ask(lambda tx: vectors.missing(tx, space=self.space, index=self.index, limit=100))
        self.begun += [Embedded(each, [hashed(part) for part in passages(each)]) for each in found]

    @rule()
    def store_what_was_begun(self) -> None:
        rows, self.begun = self.begun, []
        self.ask(lambda tx: vectors.put(tx, space=self.space, index=self.index, rows=rows))

    @rule()
    def embed(self) -> None:
        self.ask(_promise(self.space))
        self.wait(lambda: index_all(self.database, batch=10_000))
        assert self.wait(lambda: left_out(self.database, space=self.space)) == []

    @invariant()
    def every_vector_is_that_of_its_text(self) -> None:
        texts = self.texts()

        def near(tx: Tx, question: str) -> dict[Ref, Near]:
            asked = hashed(question)
            found = vectors.similarities(tx, space=self.space, index=self.index, question=asked, limit=1_000)
            return {each.ref: each for each in found}

        stored = self.ask(lambda tx: near(tx, "tea"))
        assert set(stored) <= set(texts)
        for ref in stored:
            own = self.ask(lambda tx, ref=ref: near(tx, passages(texts[ref])[0]))[ref]
            assert own.similarity > 0.999, ref

    def texts(self) -> dict[Ref, Unembedded]:
        """Everything that can be embedded: what an index misses that nobody fills."""
        found = self.ask(lambda tx: vectors.missing(tx, space=self.space, index=self.empty, limit=10_000))
        return {each.ref: each for each in found}


def _promise(space: str) -> Callable[[Tx], None]:
    def body(tx: Tx) -> None:
        tx.run("ensure_space", space=space, shard=0, now=tx.now)
        jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)

    return body


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


def opened(portal: BlockingPortal, target: str) -> Database:
    database = database_at(target)
    portal.call(database.open)
    Space.database, Space.memory, Space.portal = database, remembering(database), portal
    Space.empty = portal.call(index_of, database, "nobody")
    Space.index = portal.call(index_of, database)  # registered last, so this is the one that is filled
    return database


@pytest.mark.slow
@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.timeout(600)
def test_no_vector_survives_its_deleted_or_changed_text(
    kind: str, portal: BlockingPortal, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    target = str(tmp_path / "space.db") if kind == "sqlite" else request.getfixturevalue("clean_dsn")
    database = opened(portal, target)

    run_state_machine_as_test(Space, settings=FEWER)

    portal.call(database.close)


@pytest.mark.parametrize("bug", ["facts_vectors_ad", "session_summaries_vectors_au", "documents_vectors_au", "blind"])
@pytest.mark.timeout(600)
def test_the_machine_finds_vectors_that_are_left_behind(
    bug: str, portal: BlockingPortal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened(portal, str(tmp_path / "space.db"))
    if bug == "blind":

        def current(tx: Tx, space: str, refs: list[Ref]) -> dict[Ref, str]:
            return {each.source.ref: each.source.text for each in blind}

        real, blind = vectors.put, list[Embedded]()

        def put(tx: Tx, *, space: str, index: VectorIndex, rows: list[Embedded]) -> int:
            blind[:] = rows
            return real(tx, space=space, index=index, rows=rows)

        monkeypatch.setattr(vectors, "_current", current)
        monkeypatch.setattr(vectors, "put", put)
    else:

        def spoil(tx: Tx) -> None:
            tx.script(f"DROP TRIGGER {bug}")

        portal.call(database.transact, spoil)

    with pytest.raises(AssertionError):
        run_state_machine_as_test(Space, settings=QUICK)

    portal.call(database.close)
