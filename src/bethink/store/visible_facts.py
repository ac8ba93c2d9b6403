"""Facts and their quotes without what a person asked to forget."""

from collections.abc import Sequence

from bethink.model.facts import Fact, Quote, SourceMessage
from bethink.model.refs import Ref, RefKind
from bethink.model.views import NOW
from bethink.store import facts, forget_requests, marks, search
from bethink.store.db import Tx


def versions(tx: Tx, *, space: str, fact_id: str) -> list[Fact]:
    """Return every version of a fact, oldest first. A hidden one has none."""
    return [] if _is_hidden(tx, space=space, fact_id=fact_id) else facts.versions(tx, space=space, fact_id=fact_id)


def sources_of(tx: Tx, *, space: str, fact_id: str) -> list[SourceMessage]:
    """Return the source messages of a fact. A hidden one has none."""
    return [] if _is_hidden(tx, space=space, fact_id=fact_id) else facts.sources_of(tx, space=space, fact_id=fact_id)


def quotes_of(tx: Tx, *, space: str, fact_id: str) -> list[Quote]:
    """Return the quotes of a fact without those that have hidden words. A hidden fact has none."""
    if _is_hidden(tx, space=space, fact_id=fact_id):
        return []
    return visible(tx, facts.quotes_of(tx, space=space, fact_id=fact_id), space=space)


def visible(tx: Tx, quotes: Sequence[Quote], *, space: str) -> list[Quote]:
    """Return those quotes of which no word is hidden in its message."""
    messages = {SourceMessage(quote.session_id, quote.number) for quote in quotes}
    marked = {
        message: Ref(RefKind.MESSAGE, message.session_id, message.number)
        for message, message_marks in marks.of_messages(tx, space, messages, NOW).items()
        if any(mark.kind is marks.MarkKind.HIDDEN for mark in message_marks)
    }
    texts = search.texts(tx, space=space, refs=marked.values(), view=NOW) if marked else {}
    remaining = {message: texts[ref].text if ref in texts else "" for message, ref in marked.items()}
    return [
        quote
        for quote in quotes
        if (text := remaining.get(SourceMessage(quote.session_id, quote.number))) is None or quote.text in text
    ]


def _is_hidden(tx: Tx, *, space: str, fact_id: str) -> bool:
    return forget_requests.hiding(tx, Ref(RefKind.FACT, fact_id), space=space) is not None
