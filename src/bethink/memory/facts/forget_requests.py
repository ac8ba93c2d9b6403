"""Applies a person's spoken requests to forget: the words are hidden at once, and the rules decide about deletion."""

from collections.abc import Iterable, Sequence

from bethink.memory.deletion.plan import Step
from bethink.memory.deletion.recording import Requester, record_plan
from bethink.memory.facts import mentioned
from bethink.memory.facts.hidden_notes import hide_in_summary
from bethink.memory.facts.marking import is_said_by_person
from bethink.memory.facts.mentioned import Mention
from bethink.memory.phrases.forgetting import SpokenForgetRequest, find_forget_request
from bethink.memory.phrases.spans import Span
from bethink.model.facts import Evidence, Fact, Quote, SourceMessage
from bethink.model.forgetting import ForgetPolicy, ForgetScope, ForgetStatus
from bethink.model.ids import new_id
from bethink.model.jobs import JobKind
from bethink.model.records import Origin, Record
from bethink.model.refs import RefKind
from bethink.model.reviews import FORGET_REQUEST, MAX_STATEMENT_LENGTH, ClaimChange, ClaimedFact, ReviewStatus
from bethink.model.steering import LearningRules
from bethink.model.views import NOW
from bethink.store import forget_requests, jobs, marks, reviews, statements, views
from bethink.store.db import Tx
from bethink.store.forget_requests import RequestToForget
from bethink.store.marks import Mark, MarkKind
from bethink.store.statements import LinkKind

_REQUESTER = Requester(name="spoken request", reason="asked in a conversation")


def effect_of(request_id: str) -> str:
    """Return the effect key of the review of a request, which is stored once."""
    return f"forget:{request_id}"


def note_requests(
    tx: Tx,
    *,
    space: str,
    session_id: str,
    records: Sequence[Record],
    rules: LearningRules,
) -> list[RequestToForget]:
    """Apply the plain requests to forget of new messages, found without a model, and return the new ones."""
    noted: list[RequestToForget] = []
    for record in records:
        if record.session_id != session_id or not is_said_by_person(record):
            continue
        spoken = find_forget_request(record.message.content)
        if spoken is None:
            continue
        request = _request(record, spoken)
        if not _store(tx, request, space=space, rules=rules):
            continue
        noted.append(request)
        if rules.forget_requests is not ForgetPolicy.IGNORE:
            _hide(tx, request, [Mention(record, [Span(spoken.start, spoken.stop)])], space=space)
            named_ids = mentioned.find_named_facts(tx, request, space=space)
            mentions = mentioned.find_mentions(tx, request, space=space)
            mentions += mentioned.mentions_of_facts(tx, named_ids, request, space=space)
            fact_ids = _hide_with_facts(tx, request, mentions, named_ids, space=space)
            _follow_rules(tx, request, fact_ids, space=space, rules=rules)
    return noted


def store_claimed_request(
    tx: Tx,
    claimed: ClaimedFact,
    *,
    space: str,
    fact_ids: Sequence[str],
    rules: LearningRules,
    scope: ForgetScope = ForgetScope.ONE,
) -> RequestToForget | None:
    """Apply a request to forget that a model read, and the facts it names. Return None if no person's message says so.

    A request that was found without a model before is the same one: its facts are added.
    """
    quote = next((quote for quote in claimed.quotes if not quote.context), None)
    if quote is None:
        return None
    message = SourceMessage(quote.session_id, quote.number)
    record = next(iter(forget_requests.read_messages(tx, space=space, refs=[message])), None)
    if record is None or not is_said_by_person(record):
        return None
    request = forget_requests.of_message(tx, space=space, message=message)
    if request is None:
        start = max(0, record.message.content.find(quote.text))
        target = _target(tx, record, quote.text, fact_ids, scope, space=space)
        spoken = SpokenForgetRequest(scope=scope, target=target, start=start, stop=start + len(quote.text))
        request = _request(record, spoken)
        _store(tx, request, space=space, rules=rules)
        if rules.forget_requests is not ForgetPolicy.IGNORE:
            _hide(tx, request, [Mention(record, [Span(spoken.start, spoken.stop)])], space=space)
    elif request.status is ForgetStatus.IGNORED:
        return request
    if rules.forget_requests is not ForgetPolicy.IGNORE:
        mentions = mentioned.mentions_of_facts(tx, fact_ids, request, space=space)
        if request.target:
            mentions += mentioned.find_mentions(tx, request, space=space)
        _hide(tx, request, mentions, space=space)
        apply_request(tx, space=space, request=request, fact_ids=fact_ids)
        _follow_rules(tx, request, fact_ids, space=space, rules=rules)
    return request


def hide_late(
    tx: Tx, *, space: str, session_id: str, records: Sequence[Record]
) -> int:  # fmt: skip
    """Hide what new messages state that was said before a request to forget and matches it. Return the new marks."""
    own = [record for record in records if record.session_id == session_id]
    if not own:
        return 0
    hidden = 0
    for request in forget_requests.newest(tx, space=space):
        if request.target and request.status is not ForgetStatus.IGNORED:
            mentions = mentioned.mentions_in(own, request)
            if mentions:
                hidden += _hide(tx, request, mentions, space=space)
                fact_ids = mentioned.find_facts(tx, mentions, request, space=space)
                apply_request(tx, space=space, request=request, fact_ids=fact_ids)
    return hidden


def hide_learned(tx: Tx, *, space: str, messages: Iterable[SourceMessage]) -> None:
    """Hide what was learned from messages after their words were hidden, such as a claim that is approved late."""
    by_request: dict[str, dict[SourceMessage, list[Span]]] = {}
    for message, message_marks in marks.of_messages(tx, space, messages, NOW).items():
        for mark in message_marks:
            if mark.kind is MarkKind.HIDDEN:
                spans = by_request.setdefault(mark.cause, {}).setdefault(message, [])
                spans.append(Span(mark.start, mark.stop))
    for request_id, hidden in by_request.items():
        request = forget_requests.find(tx, space=space, request_id=request_id)
        if request is None or request.status is ForgetStatus.IGNORED:
            continue
        records = forget_requests.read_messages(tx, space=space, refs=hidden)
        mentions = [Mention(record, hidden[SourceMessage(record.session_id, record.number)]) for record in records]
        fact_ids = mentioned.find_facts(tx, mentions, request, space=space)
        links = statements.links_to(tx, space=space, fact_ids=fact_ids)
        linked_ids = {link.target_id for link in links if link.support == request_id}
        if not linked_ids.issuperset(fact_ids):
            apply_request(
                tx, space=space, request=request, fact_ids=[item for item in fact_ids if item not in linked_ids]
            )


def apply_request(
    tx: Tx, *, space: str, request: RequestToForget, fact_ids: Sequence[str]
) -> None:  # fmt: skip
    """Hide what was said about some facts before a request, whatever time a question asks about."""
    for fact_id in fact_ids:
        statements.decide(
            tx, space=space, target_id=fact_id, kind=LinkKind.FORGETS, support=request.id, said_at=request.said_at
        )  # fmt: skip
    views.refresh(tx, space=space, fact_ids=views.neighbors(tx, space=space, fact_ids=fact_ids) if fact_ids else ())
    _rebuild_documents(tx, space=space)


def _rebuild_documents(tx: Tx, *, space: str) -> None:
    """Queue a consolidation, so that documents are written again without hidden words. A running one starts over.

    Until then these lines are left out when a document is read.
    """
    if tx.first("any_derived_document", space=space) is None:
        return
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    tx.run("forget_writers_answers", space=space, kind=JobKind.EXTRACT)
    jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)


def delete_for_good(tx: Tx, *, space: str, request_id: str, fact_ids: Iterable[str] = ()) -> str | None:
    """Record the deletion of what a request names, which then runs as any other one. Return its id.

    Messages that state something else as well stay, with their words hidden. A legal hold delays the deletion.
    """
    request = forget_requests.find(tx, space=space, request_id=request_id)
    if request is None:
        return None
    hidden = _hidden_spans(tx, request, space=space)
    records = forget_requests.read_messages(tx, space=space, refs=hidden, at=request.said_at)
    mentions = [Mention(record, hidden[SourceMessage(record.session_id, record.number)]) for record in records]
    by_session: dict[str, list[int]] = {}
    for record in mentioned.whole_messages(hidden, records):
        by_session.setdefault(record.session_id, []).append(record.number)
    ids = dict.fromkeys([*fact_ids, *mentioned.find_facts(tx, mentions, request, space=space)])
    steps = [
        *(Step(RefKind.MESSAGE, session_id, tuple(numbers)) for session_id, numbers in by_session.items()),
        *(Step(RefKind.FACT, fact_id) for fact_id in ids),
    ]
    forget_requests.set_status(tx, space=space, request_id=request_id, status=ForgetStatus.DELETED)
    if not steps:
        return None
    erasure_id = new_id("era")
    record_plan(tx, steps, _REQUESTER, erasure_id, space=space, folder="")
    return erasure_id


def withdraw_request(tx: Tx, *, space: str, request_id: str) -> None:
    """Show what a request hid again: a person rejected it."""
    marks.delete_of_causes(tx, [request_id], space=space)
    hidden = statements.targets_of(tx, space=space, kind=LinkKind.FORGETS, support=request_id)
    statements.withdraw(tx, space=space, kind=LinkKind.FORGETS, support=request_id)
    views.refresh(tx, space=space, fact_ids=hidden)
    _rebuild_documents(tx, space=space)
    forget_requests.set_status(tx, space=space, request_id=request_id, status=ForgetStatus.IGNORED)


def request_of_review(tx: Tx, claim: ClaimedFact, *, space: str) -> RequestToForget | None:
    """Return the request that a review is about."""
    messages = (SourceMessage(quote.session_id, quote.number) for quote in claim.quotes)
    matches = (forget_requests.of_message(tx, space=space, message=message) for message in messages)
    return next((request for request in matches if request is not None), None)


def _target(tx: Tx, record: Record, text: str, fact_ids: Sequence[str], scope: ForgetScope, *, space: str) -> str:
    """Return the words for what a claimed request is about, so that what is learned later is hidden as well."""
    plain = find_forget_request(record.message.content)
    if plain is not None:
        return plain.target
    return "" if scope is ForgetScope.ONE else mentioned.shared_words(tx, fact_ids, text, space=space)


def _request(record: Record, spoken: SpokenForgetRequest) -> RequestToForget:
    return RequestToForget(
        id=forget_requests.request_id(record.session_id, record.number),
        message=SourceMessage(record.session_id, record.number),
        scope=spoken.scope,
        target=spoken.target,
        statement=record.message.content[spoken.start : spoken.stop],
        said_at=record.message.said_at or record.recorded_at,
        status=ForgetStatus.SUPPRESSED,
    )


def _store(tx: Tx, request: RequestToForget, *, space: str, rules: LearningRules) -> bool:
    added = forget_requests.add(tx, request, space=space)
    if added and rules.forget_requests is ForgetPolicy.IGNORE:
        forget_requests.set_status(tx, space=space, request_id=request.id, status=ForgetStatus.IGNORED)
    return added


def _hide_with_facts(
    tx: Tx, request: RequestToForget, mentions: Sequence[Mention], named_ids: Sequence[str], *, space: str
) -> list[str]:  # fmt: skip
    _hide(tx, request, mentions, space=space)
    fact_ids = list(dict.fromkeys([*named_ids, *mentioned.find_facts(tx, mentions, request, space=space)]))
    apply_request(tx, space=space, request=request, fact_ids=fact_ids)
    return fact_ids


def _hide(tx: Tx, request: RequestToForget, mentions: Sequence[Mention], *, space: str) -> int:
    """Hide words of messages, also in the summaries of their sessions. Return the number of new marks."""
    new = marks.add(
        tx,
        [
            Mark(
                message=SourceMessage(mention.record.session_id, mention.record.number),
                kind=MarkKind.HIDDEN,
                start=span.start,
                stop=span.stop,
                cause=request.id,
                said_at=request.said_at,
            )
            for mention in mentions
            for span in mention.spans
        ],
        space=space,
    )
    for session_id in dict.fromkeys(mention.record.session_id for mention in mentions if new):
        hide_in_summary(tx, space=space, session_id=session_id)
    return new


def _hidden_spans(tx: Tx, request: RequestToForget, *, space: str) -> dict[SourceMessage, list[Span]]:
    hidden: dict[SourceMessage, list[Span]] = {}
    for mark in marks.of_cause(tx, space=space, cause=request.id):
        if mark.kind is MarkKind.HIDDEN and mark.message != request.message:
            hidden.setdefault(mark.message, []).append(Span(mark.start, mark.stop))
    return hidden


def _follow_rules(
    tx: Tx, request: RequestToForget, fact_ids: Sequence[str], *, space: str, rules: LearningRules
) -> None:  # fmt: skip
    """Delete what a request names, or ask a person about it."""
    if rules.forget_requests is ForgetPolicy.DELETE:
        delete_for_good(tx, space=space, request_id=request.id, fact_ids=fact_ids)
        return
    statement = " ".join(request.statement.split())[:MAX_STATEMENT_LENGTH]
    fact = Fact(
        id=new_id("fct"),
        text=statement,
        source=request.message.session_id,
        created_at=request.said_at,
        origin=Origin("user"),
        evidence=Evidence.QUOTED,
    )
    quote = Quote(
        session_id=request.message.session_id, number=request.message.number, text=request.statement
    )  # fmt: skip
    claim = ClaimedFact(fact=fact, quotes=(quote,), change=ClaimChange.FORGET, existing_ids=tuple(fact_ids))
    reviews.put(
        tx,
        claim,
        space=space,
        status=ReviewStatus.PENDING,
        reason=FORGET_REQUEST,
        detail="a person asked to forget this; it is hidden until then",
        effect=effect_of(request.id),
    )
