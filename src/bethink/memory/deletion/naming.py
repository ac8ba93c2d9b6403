"""Finds memory tests that repeat deleted texts: people wrote them, so they are reported, not deleted."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from bethink.memory.deletion.holders import holders
from bethink.model.records import Deletion
from bethink.store import documents, facts, messages
from bethink.store.db import Tx

_NO_TESTS = "no tests"


def mentioning_tests(tx: Tx, texts: Callable[[], Iterable[str]], *, space: str) -> tuple[str, ...]:
    """Return the ids of tests that mention one of some texts.

    The texts are read only if the space has tests.
    """
    if tx.memo.get(_NO_TESTS):
        return ()
    return tuple(name for holder in holders() for name in holder.naming(tx, texts, space=space))


def all_test_ids(tx: Tx, *, space: str) -> list[str]:
    """Return the ids of all tests of a space."""
    ids = [name for holder in holders() for name in holder.ids(tx, space=space)]
    if not ids:
        tx.memo[_NO_TESTS] = True  # a deletion adds none, so that it need not look again
    return ids


def add_mentioning_tests(deletion: Deletion, test_ids: Iterable[str]) -> Deletion:
    """Add the ids of tests that mention deleted texts."""
    return replace(deletion, mentioning_tests=tuple(dict.fromkeys((*deletion.mentioning_tests, *test_ids))))


def count_deleted_tests(tx: Tx, deletion: Deletion, before: Collection[str], *, space: str) -> Deletion:
    """Count the tests that were deleted with their sources, and list only the remaining ones."""
    remaining = set(all_test_ids(tx, space=space)) if before else set[str]()
    mentioning = tuple(test_id for test_id in deletion.mentioning_tests if test_id in remaining)
    return replace(deletion, tests=len(before) - len(remaining), mentioning_tests=mentioning)


def texts_of_sessions(tx: Tx, sessions: Iterable[str], *, space: str) -> Iterator[str]:
    """Read every message of some sessions."""
    for session_id in sessions:
        yield from (
            record.message.content
            for record in messages.after(tx, space=space, session_id=session_id, number=0, retracted=True)
        )


def texts_of_deleted_facts(tx: Tx, unsupported_facts: Iterable[str], *, space: str) -> Iterator[str]:
    """Read the facts to be deleted because none of their messages remains, or none that states them."""
    orphans = [row["id"] for row in tx.all("list_unsupported_facts", space=space)]
    yield from texts_of_facts(tx, (*orphans, *unsupported_facts), space=space)


def texts_of_facts(tx: Tx, fact_ids: Iterable[str], *, space: str) -> Iterator[str]:
    """Read every version of some facts."""
    for fact_id in fact_ids:
        yield from (version.text for version in facts.versions(tx, space=space, fact_id=fact_id))


def texts_of_document(tx: Tx, document_id: str, *, space: str) -> Iterator[str]:
    """Read every version of a document."""
    yield from (version.body for version in documents.versions(tx, space=space, document_id=document_id))
