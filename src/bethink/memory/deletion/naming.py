"""Finds the memory tests that hold words of what is forgotten: a person wrote them, so they are named, not removed."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from bethink.memory.deletion.holders import holders
from bethink.model.records import Forgotten
from bethink.store import documents, facts, messages
from bethink.store.db import Tx


def tests_naming(tx: Tx, texts: Callable[[], Iterable[str]], *, space: str) -> tuple[str, ...]:
    """Return the ids of tests that expect or refuse something which one of some texts says.

    The texts are only read where the space has tests.
    """
    return tuple(name for holder in holders() for name in holder.naming(tx, texts, space=space))


def held_ids(tx: Tx, *, space: str) -> list[str]:
    """Return the ids of all tests of a space."""
    return [name for holder in holders() for name in holder.ids(tx, space=space)]


def also(forgotten: Forgotten, named: Iterable[str]) -> Forgotten:
    """Add the ids of tests that hold words of what was forgotten."""
    return replace(forgotten, tests_naming=tuple(dict.fromkeys((*forgotten.tests_naming, *named))))


def settled(tx: Tx, forgotten: Forgotten, before: Collection[str], *, space: str) -> Forgotten:
    """Count the tests that went with what they were made from, and name only those that are left."""
    left = set(held_ids(tx, space=space)) if before else set[str]()
    named = tuple(each for each in forgotten.tests_naming if each in left)
    return replace(forgotten, tests=len(before) - len(left), tests_naming=named)


def texts_of_sessions(tx: Tx, sessions: Iterable[str], *, space: str) -> Iterator[str]:
    """Read every message of some sessions."""
    for session_id in sessions:
        yield from (
            each.message.content
            for each in messages.after(tx, space=space, session_id=session_id, number=0, retracted=True)
        )


def texts_of_messages(tx: Tx, numbers: Iterable[int], *, space: str, session_id: str) -> Iterator[str]:
    """Read some messages of a session."""
    for number in numbers:
        found = messages.after(tx, space=space, session_id=session_id, number=number - 1, limit=1, retracted=True)
        yield from (each.message.content for each in found if each.number == number)


def texts_of_lost_facts(tx: Tx, unsaid: Iterable[str], *, space: str) -> Iterator[str]:
    """Read the facts that go because none of their messages is left, or none that states them."""
    without = [row["id"] for row in tx.all("list_unsupported_facts", space=space)]
    yield from texts_of_facts(tx, (*without, *unsaid), space=space)


def texts_of_facts(tx: Tx, fact_ids: Iterable[str], *, space: str) -> Iterator[str]:
    """Read every version of some facts."""
    for fact_id in fact_ids:
        yield from (each.content for each in facts.versions(tx, space=space, fact_id=fact_id))


def texts_of_document(tx: Tx, document_id: str, *, space: str) -> Iterator[str]:
    """Read every version of a document."""
    yield from (each.body for each in documents.versions(tx, space=space, document_id=document_id))
