"""Helpers for recall tests: messages to store, and short forms of the results."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

from bethink import Fact, Memory, Message, Session
from bethink.extend import Embedder, Reranker
from bethink.memory.recall.search import Searcher
from bethink.model.documents import Document, DocumentDraft, Provenance
from bethink.model.facts import Quote, SourceMessage
from bethink.model.kinds import FactKind
from bethink.model.recall import Fate, RecallResult
from bethink.model.records import Origin, conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store import facts
from bethink.store.db import Database
from tests.conftest import Quiet, memory_on
from tests.facts_kit import change_fact, learn_fact
from tests.rooms.vector_kit import Hashed

DAY = timedelta(days=1)
EMPTY = "This space is empty. Store messages in it, or search another space."
"""The note of a search in an empty space."""
_chats = count()
_effects = count()


async def tell(memory: Memory, *lines: str | Message, space: str = "alice") -> Session:
    """Say something in a session of its own; a plain text is the user's."""
    key = conversation_key(channel="recall", chat=str(next(_chats)))
    session = await memory.space(space).session(key)
    await session.append([Message(role="user", content=line) if isinstance(line, str) else line for line in lines])
    return session


def assistant(content: str, **more: object) -> Message:
    return Message(role="assistant", content=content, **more)  # pyright: ignore[reportArgumentType]


def user(content: str, **more: object) -> Message:
    return Message(role="user", content=content, **more)  # pyright: ignore[reportArgumentType]


async def learnt(database: Database, fact_id: str, content: str, *sources: SourceMessage, **more: object) -> Fact:
    """Store a fact as extraction does, with the messages it rests on."""
    fields: dict[str, object] = {"origin": Origin("user"), "kind": FactKind.DETAIL, **more}
    fact = Fact(id=fact_id, text=content, **fields)  # pyright: ignore[reportArgumentType]
    quotes = tuple(Quote(session_id=each.session_id, number=each.number, text=content) for each in sources)
    support = facts.Support(f"kit:{next(_effects)}", content, quotes)
    await database.transact(lambda tx: learn_fact(tx, fact, support, space="alice"), space="alice")
    return fact


async def replace_fact(database: Database, fact_id: str, *, by: str) -> None:
    """Let the newest statement of a fact replace another fact."""
    await database.transact(lambda tx: change_fact(tx, fact_id, by=by, space="alice"), space="alice")


async def written(memory: Memory, slug: str, body: str, *, by: Provenance | None = None, **more: str) -> Document:
    draft = DocumentDraft(slug=slug, **{"title": slug.title(), "body": body, **more})  # pyright: ignore[reportArgumentType]
    document = await memory.space("alice").documents.create(draft, provenance=by)
    assert document is not None
    return document


def with_vectors(database: Database, embedder: Embedder | None = None, reranker: Reranker | None = None) -> Memory:
    """A Memory that asks an embedder about every question, too."""
    searcher = Searcher(database, tokens=EstimatedTokens(), embedder=embedder or Hashed(), reranker=reranker)
    return memory_on(database, redactor=Quiet(), searcher=lambda: searcher)


def message(session: Session, number: int) -> Ref:
    return Ref(RefKind.MESSAGE, session.id, number)


def texts(recall: RecallResult) -> list[str]:
    return [item.text for item in recall.items]


def fates(recall: RecallResult) -> dict[Ref, Fate]:
    return {candidate.ref: candidate.fate for candidate in recall.candidates}


def ago(clock: Callable[[], datetime], days: float) -> datetime:
    return clock() - days * DAY
