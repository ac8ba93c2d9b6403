"""Finds the words in messages, and the facts, that a request to forget names."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from bethink.base.language.analyze import parts_of, search_forms
from bethink.memory.facts.marking import is_said_by_person
from bethink.memory.phrases import spans
from bethink.memory.phrases.mentions import mentions_of, repetitions_of, target_words
from bethink.memory.phrases.spans import Span
from bethink.memory.phrases.values import content_words
from bethink.model.facts import SourceMessage
from bethink.model.forgetting import ForgetScope
from bethink.model.records import Record, Role
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store import facts, forget_requests, messages, search
from bethink.store.db import Tx
from bethink.store.forget_requests import RequestToForget

MAX_MESSAGES = 500
"""Maximum number of messages that one request hides, those that share the rarest words with it."""
_LOOK_BACK = 50
_ENDING = ".!?\u3002\uff01\uff1f"
_COVERED = 0.8
"""A quote with at least this share of its characters hidden states nothing else."""


class Mention(NamedTuple):
    """A message, and the spans of it that a request to forget names."""

    record: Record
    spans: Sequence[Span]


def find_mentions(tx: Tx, request: RequestToForget, *, space: str) -> list[Mention]:
    """Return the messages said before a request that state what it names, and an assistant's repetitions."""
    if not request.target:
        return list(_last_statement(tx, request, space=space))
    refs = [SourceMessage(ref.id, ref.number) for ref in _matches(tx, request, RefKind.MESSAGE, space=space)]
    records = forget_requests.read_messages(tx, space=space, refs=refs, at=request.said_at)
    return mentions_in(records, request)


def find_named_facts(tx: Tx, request: RequestToForget, *, space: str) -> list[str]:
    """Return the facts stated before a request whose text is about what it names, whatever messages they quote."""
    if not request.target:
        return []
    is_name = request.scope is ForgetScope.PERSON
    ids = dict.fromkeys(ref.id for ref in _matches(tx, request, RefKind.FACT, space=space))
    return [
        fact_id
        for fact_id in ids
        if any(
            mentions_of(version.text, request.target, is_name=is_name)
            for version in facts.versions(tx, space=space, fact_id=fact_id)
        )
    ]


def _matches(tx: Tx, request: RequestToForget, kind: RefKind, *, space: str) -> list[Ref]:
    forms = [form for word in target_words(request.target) for part in parts_of(word) for form in search_forms(part)]
    view, terms = TimeView(as_of=request.said_at), dict.fromkeys(forms, 1.0)
    matches = search.matches(tx, space=space, terms=terms, view=view, kinds=[kind], past=True)
    return [match.ref for match in matches][:MAX_MESSAGES]


def shared_words(tx: Tx, fact_ids: Collection[str], text: str, *, space: str) -> str:
    """Return the words of a request that every fact it names has: the person or topic it is about."""
    existing = (facts.find(tx, space=space, fact_id=fact_id) for fact_id in fact_ids)
    texts = [set(content_words(fact.text)) for fact in existing if fact is not None]
    return " ".join(word for word in content_words(text) if texts and all(word in words for words in texts))


def mentions_in(records: Sequence[Record], request: RequestToForget) -> list[Mention]:
    """Return those of some messages that were said before a request and state what it names."""
    is_name = request.scope is ForgetScope.PERSON
    mentions = (
        Mention(record, mentions_of(record.message.content, request.target, is_name=is_name))
        for record in records
        if _is_before(record, request) and _may_state(record)
    )
    return [mention for mention in mentions if mention.spans]


def mentions_of_facts(tx: Tx, fact_ids: Collection[str], request: RequestToForget, *, space: str) -> list[Mention]:
    """Return the quotes of facts in their messages, and the assistant's repetitions of them in the same sessions."""
    quotes: dict[SourceMessage, list[str]] = {}
    for fact_id in fact_ids:
        for support in facts.supports(tx, space=space, fact_id=fact_id):
            for quote in support.quotes:
                if not quote.context:
                    quotes.setdefault(SourceMessage(quote.session_id, quote.number), []).append(quote.text)
    records = forget_requests.read_messages(tx, space=space, refs=quotes, at=request.said_at)
    mentions: list[Mention] = []
    for record in records:
        if not _is_before(record, request):
            continue
        texts = quotes[SourceMessage(record.session_id, record.number)]
        mentions.append(Mention(record, [part for text in texts for part in _occurrences(record, text)]))
        later = messages.after(
            tx, space=space, session_id=record.session_id, number=record.number, limit=_LOOK_BACK
        )  # fmt: skip
        mentions += _repetitions([item for item in later if _is_before(item, request)], texts)
    return [mention for mention in mentions if mention.spans]


def find_facts(tx: Tx, mentions: Sequence[Mention], request: RequestToForget, *, space: str) -> list[str]:
    """Return the facts that quote nothing but hidden words, and those that name what a request names themselves."""
    hidden = {SourceMessage(item.record.session_id, item.record.number): item for item in mentions}
    is_name = request.scope is ForgetScope.PERSON
    result: dict[str, None] = {}
    for fact_id, message, quote in forget_requests.quotes_of(tx, space=space, refs=hidden):
        if fact_id in result or message == request.message:
            continue
        if _is_covered(hidden[message], quote):
            result[fact_id] = None
        elif request.target and _overlaps(hidden[message], quote):
            texts = [version.text for version in facts.versions(tx, space=space, fact_id=fact_id)]
            if any(mentions_of(text, request.target, is_name=is_name) for text in texts):
                result[fact_id] = None
    return list(result)


def whole_messages(mentions: Mapping[SourceMessage, Sequence[Span]], records: Sequence[Record]) -> list[Record]:
    """Return the messages of which nothing remains without the hidden spans."""
    return [
        record
        for record in records
        if not _remainder(record.message.content, mentions[SourceMessage(record.session_id, record.number)])
    ]


def _remainder(text: str, hidden: Sequence[Span]) -> str:
    letters = list(text)
    for span in hidden:
        letters[span.start : span.stop] = " " * (min(span.stop, len(text)) - span.start)
    return "".join(char for char in letters if char.isalnum())


def _last_statement(tx: Tx, request: RequestToForget, *, space: str) -> Iterator[Mention]:
    """Yield what the person said last before a request, and the assistant's repetitions of it."""
    session_id, number = request.message.session_id, request.message.number
    start = max(0, number - 1 - _LOOK_BACK)
    records = messages.after(tx, space=space, session_id=session_id, number=start, limit=_LOOK_BACK + 1)
    own = next((record for record in records if record.number == number), None)
    if own is None:
        return
    content = own.message.content
    position = content.find(request.statement)
    before = [part for part in spans.sentences(content) if part.stop <= position]
    if before:
        yield Mention(own, before)
        return
    earlier = [record for record in records if record.number < number]
    statement = next((record for record in reversed(earlier) if is_said_by_person(record)), None)
    if statement is None or not statement.message.content:
        return
    yield Mention(statement, [Span(0, len(statement.message.content))])
    between = [record for record in earlier if record.number > statement.number]
    stated = [part.of(statement.message.content) for part in spans.sentences(statement.message.content)]
    yield from _repetitions(between, stated)


def _repetitions(records: Sequence[Record], texts: Sequence[str]) -> Iterator[Mention]:
    for record in records:
        if record.message.role is Role.ASSISTANT:
            mentions = [part for text in texts for part in repetitions_of(record.message.content, text)]
            if mentions:
                yield Mention(record, sorted(set(mentions)))


def _may_state(record: Record) -> bool:
    return record.message.role is Role.ASSISTANT or is_said_by_person(record)


def _is_before(record: Record, request: RequestToForget) -> bool:
    if record.session_id == request.message.session_id:
        return record.number < request.message.number
    return (record.message.said_at or record.recorded_at) < request.said_at


def _occurrences(record: Record, quote: str) -> list[Span]:
    text = record.message.content
    start = text.find(quote) if quote else -1
    if start < 0:
        return []
    stop = start + len(quote)
    while stop < len(text) and text[stop] in _ENDING:  # a quote mostly ends before the period
        stop += 1
    return [Span(start, stop)]


def _is_covered(mention: Mention, quote: str) -> bool:
    text = mention.record.message.content
    for span in _occurrences(mention.record, quote):
        remaining = _remainder(
            span.of(text), [Span(max(0, part.start - span.start), part.stop - span.start) for part in mention.spans
                            if part.stop > span.start and part.start < span.stop]
        )  # fmt: skip
        total = sum(map(str.isalnum, span.of(text)))
        if len(remaining) <= (1 - _COVERED) * total:
            return True
    return False


def _overlaps(mention: Mention, quote: str) -> bool:
    return any(
        part.start < span.stop and span.start < part.stop
        for span in _occurrences(mention.record, quote)
        for part in mention.spans
    )
