"""Documents compared with a plain Python model, on both databases, with three seeded bugs that must be detected."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from bethink import Memory
from bethink.errors import BethinkError
from bethink.memory.documents import tree
from bethink.model.documents import Document, DocumentDraft
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Tx
from bethink.store.sql import Dialect
from bethink.types import Documents
from tests.conftest import DATABASES, FakeClock, database_at, memory_on, whole_tree
from tests.rooms.documents_model import Page, Refused, Tree
from tests.rooms.machine_kit import QUICK, THOROUGH, spoil

T = TypeVar("T")
SLUG = st.sampled_from(["people", "places", "tea", "plans"])
BODY = st.sampled_from(["", "green tea", "see [[~/people]]", "see [[tea|it]] and [[nowhere]]", "ça va 😀"])


class Library(RuleBasedStateMachine):
    """Does the same to Documents and to the model, and compares the whole tree after every step."""

    memory: Memory
    portal: BlockingPortal
    clock: FakeClock
    runs = 0
    ids: Bundle[str] = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        Library.runs += 1
        self.space = self.memory.space(f"run{Library.runs}")
        self.docs: Documents = self.space.documents
        self.model = Tree()
        self.seen: list[tuple[datetime, dict[str, tuple[str, int, str]]]] = []
        self.count = 0

    def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        return self.portal.call(call)

    def both(self, ours: Callable[[], Awaitable[object]], model: Callable[[], None]) -> None:
        try:
            model()
        except Refused:
            with pytest.raises(BethinkError):
                self.wait(ours)
        else:
            self.wait(ours)
        self.agrees()

    def agrees(self) -> None:
        expected = self.model.paths()
        assert _plain(self.wait(lambda: whole_tree(self.docs))) == expected
        self.seen.append((self.clock.time, expected))

    def page(self, slug: str, body: str, parent: str | None, link: str | None) -> tuple[Page, DocumentDraft]:
        links = () if link is None else (link,)
        return Page(slug, body, parent, links), DocumentDraft(
            slug=slug, title="t", body=body, parent=parent, links=links
        )

    @initialize(target=ids)
    def begin(self) -> str:
        return self.make("people", "", None, None)

    @rule(target=ids, slug=SLUG, body=BODY, parent=st.none() | ids, link=st.none() | ids)
    def create(self, slug: str, body: str, parent: str | None, link: str | None) -> str:
        return self.make(slug, body, parent, link)

    def make(self, slug: str, body: str, parent: str | None, link: str | None) -> str:
        self.count += 1
        name = f"doc-{Library.runs}-{self.count}"
        page, draft = self.page(slug, body, parent, link)
        self.both(lambda: self.docs.create(draft, document_id=name), lambda: self.model.create(name, page))
        return name if name in self.model.versions else next(iter(self.model.versions))

    @rule(document=ids)
    def use_an_id_again(self, document: str) -> None:
        draft = DocumentDraft(slug="again", title="t")
        with pytest.raises(BethinkError):
            self.wait(lambda: self.docs.create(draft, document_id=document))
        self.agrees()

    @rule(
        document=ids,
        slug=SLUG,
        body=BODY,
        parent=st.none() | ids,
        link=st.none() | ids,
        behind=st.sampled_from([0, 0, 0, 1]),
    )
    def update(self, document: str, slug: str, body: str, parent: str | None, link: str | None, behind: int) -> None:
        page, draft = self.page(slug, body, parent, link)
        expected = self.model.version(document) - behind
        self.both(
            lambda: self.docs.update(document, draft, if_version=expected),
            lambda: self.model.update(document, page, expected),
        )

    @rule(document=ids, parent=st.none() | ids)
    def move(self, document: str, parent: str | None) -> None:
        now = self.model.current(document)
        page, draft = self.page(now.slug, now.body, parent, now.links[0] if now.links else None)
        expected = self.model.version(document)
        self.both(
            lambda: self.docs.update(document, draft, if_version=expected),
            lambda: self.model.update(document, page, expected),
        )

    @rule(document=ids, behind=st.sampled_from([0, 0, 0, 1]))
    def delete(self, document: str, behind: int) -> None:
        expected = self.model.version(document) - behind
        self.both(
            lambda: self.docs.delete(document, if_version=expected), lambda: self.model.delete(document, expected)
        )

    @rule(document=ids, linked=ids)
    def delete_what_is_linked(self, document: str, linked: str) -> None:
        now = self.model.current(document)
        self.update(document, now.slug, now.body, now.parent, linked, 0)
        self.delete(linked, 0)

    @rule(document=ids, version=st.integers(1, 4), known=st.booleans())
    def restore(self, document: str, version: int, *, known: bool) -> None:
        alive = document in self.model.live
        expected = self.model.version(document) if alive == known else None
        self.both(
            lambda: self.docs.restore(document, version, if_version=expected),
            lambda: self.model.restore(document, version, expected),
        )

    @rule(document=ids, version=st.integers(1, 3))
    def redact(self, document: str, version: int) -> None:
        self.seen.clear()  # what was said is gone from the past, too
        ref = Ref(RefKind.DOCUMENT, document, version)
        self.both(
            lambda: self.space.forget(ref, version_only=True),
            lambda: self.model.redact(document, version),
        )

    @rule(place=st.integers(0, 100))
    def look_back(self, place: int) -> None:
        if self.seen:
            moment, expected = self.seen[place % len(self.seen)]
            assert _plain(self.wait(lambda: whole_tree(self.docs, as_of=moment))) == expected

    @rule(document=ids)
    def read(self, document: str) -> None:
        versions = self.wait(lambda: self.docs.versions(document))
        assert [each.body for each in versions] == [page.body for page in self.model.versions[document]]
        assert [each.version for each in versions] == list(range(1, len(versions) + 1))
        assert [each.valid_to is None for each in versions].count(True) == (document in self.model.live)

    @rule(word=st.sampled_from(["green", "nowhere", "ça"]))
    def search(self, word: str) -> None:
        found = self.wait(lambda: self.docs.search(word, limit=100))
        expected = {each for each in self.model.live if word in self.model.current(each).body}
        assert {each.id for each in found} == expected


def _plain(tree: dict[str, Document]) -> dict[str, tuple[str, int, str]]:
    return {path: (each.id, each.version, each.body) for path, each in tree.items()}


@pytest.fixture(params=DATABASES)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[type[Library]]:
    target = str(tmp_path / "machine.db") if request.param == "sqlite" else request.getfixturevalue("clean_dsn")
    clock = FakeClock()
    database = database_at(target, clock)
    with start_blocking_portal() as portal:
        portal.call(database.open)

        class Machine(Library):
            pass

        Machine.memory, Machine.portal, Machine.clock = memory_on(database), portal, clock
        yield Machine
        portal.call(database.close)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_documents_do_what_their_model_does(machine: type[Library]) -> None:
    run_state_machine_as_test(machine, settings=THOROUGH)


def _query(name: str, old: str, new: str) -> Callable[[pytest.MonkeyPatch, Dialect], None]:
    return lambda patch, dialect: spoil(patch, dialect, name, old, new)


def _believe_the_caller(patch: pytest.MonkeyPatch, dialect: Dialect) -> None:
    def whatever(tx: Tx, *, space: str, document_id: str, expected: int) -> Document:
        del expected
        return tree.get(tx, space=space, document_id=document_id)

    del dialect
    patch.setattr(tree, "_current", whatever)


MUTANTS = {
    "a version known before it was written": _query("list_document_entries", "valid_from <= ", "0 <= "),
    "a link that holds nothing": _query(
        "current_referrers", "d.valid_to IS NULL", "d.valid_to IS NULL AND r.kind <> 'link'"
    ),
    "a stale write that goes through": _believe_the_caller,
}


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_each_seeded_bug(
    machine: type[Library], mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[mutant](monkeypatch, machine.memory.backend.local().database.dialect)
    with pytest.raises((AssertionError, pytest.fail.Exception, BethinkError)):
        run_state_machine_as_test(machine, settings=QUICK)
