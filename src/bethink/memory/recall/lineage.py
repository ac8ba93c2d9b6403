"""Follows a memory back to its source messages, and on to its context log entries."""

import json
from dataclasses import replace
from datetime import datetime

from bethink.errors import NotFoundError
from bethink.model.documents import DocumentSource, SourceKind
from bethink.model.facts import FactStatus, Quote, SourceMessage
from bethink.model.jobs import Job, JobKind
from bethink.model.moments import EPOCH, LAST, from_micros
from bethink.model.recall import Lineage, Version
from bethink.model.refs import Ref, RefKind
from bethink.model.views import NOW, TimeView
from bethink.store import (
    documents,
    facts,
    fates,
    feedback,
    forget_requests,
    jobs,
    learning,
    ledger,
    search,
    visible_facts,
)
from bethink.store.db import Tx
from bethink.store.forget_requests import RequestToForget
from bethink.store.views import in_view, is_lasting

_FROM_A_RESULT = "Use the ref of a result, in the space that the result came from."


def newest_version(tx: Tx, *, space: str, ref: Ref, view: TimeView = NOW) -> Ref:
    """Return the ref of the newest version in a view for version 0, as results of `forget` have. Others stay."""
    if ref.number or ref.kind not in (RefKind.FACT, RefKind.DOCUMENT):
        return ref
    until = view.written_by or LAST
    if ref.kind is RefKind.FACT:
        known, said = view.known_at or LAST, view.moment or LAST
        recorded = facts.versions(tx, space=space, fact_id=ref.id)
        versions = [
            version.version
            for version in recorded
            if (version.recorded_at or EPOCH) <= known and (version.created_at or EPOCH) <= said
        ]
    else:
        written = documents.versions(tx, space=space, document_id=ref.id)
        versions = [version.version for version in written if version.valid_from <= until]
    return Ref(ref.kind, ref.id, max(versions, default=0))


def trace(tx: Tx, *, space: str, ref: Ref, view: TimeView = NOW) -> Lineage:
    """Return the sources and the history of a memory in a view. Raises `NotFoundError` for a ref unknown there."""
    text = search.texts(tx, space=space, refs=[ref], view=view).get(ref)
    entries = tuple(ledger.entries_with(tx, space=space, ref=ref))
    request = forget_requests.hiding(tx, ref, space=space)
    if request is not None and text is None:  # nothing of it is shown
        return _with_reason(Lineage(ref=ref, text=None, context_log=entries), request, view)
    if text is None and ref.kind is RefKind.DOCUMENT and _is_redacted(tx, space, ref):
        return _document(tx, space, Lineage(ref=ref, text=None, context_log=entries), view)
    if text is None:
        if not entries:
            raise NotFoundError(f"No memory {ref} in space {space!r}.", hint=_FROM_A_RESULT)
        return Lineage(ref=ref, text=None, context_log=entries)
    usage = ledger.usage_of(tx, space=space, ref=ref)
    lineage = Lineage(
        ref=ref, text=text.text, origin=text.origin, at=from_micros(text.at), context_log=entries, usage=usage,
        metadata=json.loads(text.metadata) if ref.kind is RefKind.MESSAGE else {},
    )  # fmt: skip
    lineage = _TRACE[ref.kind](tx, space, lineage, view)
    lineage = lineage if view.is_now else _without_future(tx, space, lineage, view)
    return lineage if request is None else _with_reason(lineage, request, view)


def _with_reason(lineage: Lineage, request: RequestToForget, view: TimeView) -> Lineage:
    """Return a lineage with the request that hides it, unless that was said after the view."""
    if request.said_at > (view.moment or LAST):
        return lineage
    return replace(lineage, hidden_by=_ref_of(request.message), hidden_at=request.said_at)


def _without_future(tx: Tx, space: str, lineage: Lineage, view: TimeView) -> Lineage:
    """Return a lineage without what was said, learned or written after a view."""
    known, until = view.known_at or LAST, view.written_by or LAST
    texts = search.texts(tx, space=space, refs=dict.fromkeys(lineage.derived), view=view)
    return replace(
        lineage,
        derived=tuple(ref for ref in lineage.derived if ref in texts),
        context_log=tuple(entry for entry in lineage.context_log if entry.shown_at <= until),
        feedback=tuple(entry for entry in lineage.feedback if entry.rated_at <= until),
        versions=tuple(
            replace(version, until=None if version.until is not None and version.until > known else version.until)
            for version in lineage.versions
            if version.since <= known
        ),
        usage=None,
        jobs=(),
    )


def _is_redacted(tx: Tx, space: str, ref: Ref) -> bool:
    versions = documents.versions(tx, space=space, document_id=ref.id)
    return any(version.redacted and version.version == ref.number for version in versions)


def _message(tx: Tx, space: str, lineage: Lineage, view: TimeView) -> Lineage:
    del view
    ref = lineage.ref
    rows = tx.all("facts_from_messages", space=space, session=ref.id, numbers=[ref.number])
    derived = [Ref(RefKind.FACT, row["id"], row["version"]) for row in rows]
    if learning.find_memory(tx, space=space, session_id=ref.id) is not None:
        derived.append(Ref(RefKind.SESSION_SUMMARY, ref.id))
    return replace(
        lineage,
        derived=(*derived, *_documents_citing(tx, space, SourceKind.MESSAGE, ref.id, ref.number)),
        jobs=_jobs_of(tx, space, [ref.id]),
    )


def _fact(tx: Tx, space: str, lineage: Lineage, view: TimeView) -> Lineage:
    ref = lineage.ref
    versions = facts.versions(tx, space=space, fact_id=ref.id)
    [current] = in_view(tx, [version for version in versions if version.version == ref.number], space=space, view=view)
    sources = search.excerpts(tx, space=space, fact_ids=[ref.id], view=view).get(ref.id, [])
    said = {quote.source for quote in sources}
    cause = current.doubted_by if current.status is FactStatus.DOUBTFUL else current.replaced_by
    successor = fates.successor(tx, space=space, ref=ref, successor_id=cause) if cause else None
    sessions = list(dict.fromkeys(quote.source.session_id for quote in sources))
    return replace(
        lineage,
        fact=current,
        quotes=tuple(
            quote for quote in visible_facts.quotes_of(tx, space=space, fact_id=ref.id) if _message_of(quote) in said
        ),
        feedback=tuple(feedback.on_fact(tx, space=space, fact_id=ref.id)),
        created_by=current.created_by,
        jobs=_jobs_of(tx, space, sessions),
        sources=tuple(sources),
        source_refs=tuple(_ref_of(quote.source) for quote in sources),
        derived=_documents_citing(tx, space, SourceKind.FACT, ref.id, 0),
        versions=tuple(
            Version(
                ref=Ref(RefKind.FACT, version.id, version.version),
                text=version.text,
                since=version.recorded_at or version.created_at,  # pyright: ignore[reportArgumentType]
                until=version.replaced_at or (None if is_lasting(version.status) else version.valid_to),
            )
            for version in versions
        ),
        replaced_by=None if current.status is FactStatus.DOUBTFUL else successor,
        because_of=successor,
        because_text=None if successor is None else _text_of(tx, space, successor, view),
    )


def _message_of(quote: Quote) -> SourceMessage:
    return SourceMessage(quote.session_id, quote.number)


def _text_of(tx: Tx, space: str, ref: Ref, view: TimeView) -> str | None:
    text = search.texts(tx, space=space, refs=[ref], view=view).get(ref)
    return None if text is None else text.text


def _session_summary(tx: Tx, space: str, lineage: Lineage, view: TimeView) -> Lineage:
    del view
    ref = lineage.ref
    memory = learning.find_memory(tx, space=space, session_id=ref.id)
    assert memory is not None  # noqa: S101 - its text was just read
    return replace(
        lineage,
        created_by=memory.created_by,
        jobs=_jobs_of(tx, space, [ref.id]),
        source_refs=tuple(Ref(RefKind.MESSAGE, ref.id, number) for number in range(1, memory.until + 1)),
        derived=_documents_citing(tx, space, SourceKind.SESSION_SUMMARY, ref.id, 0),
    )


def _document(tx: Tx, space: str, lineage: Lineage, view: TimeView) -> Lineage:
    ref, until = lineage.ref, view.written_by or LAST
    versions = [
        entry for entry in documents.versions(tx, space=space, document_id=ref.id) if entry.valid_from <= until
    ]  # fmt: skip
    current = next(entry for entry in versions if entry.version == ref.number)
    sources = documents.sources(tx, space=space, document_id=ref.id, version=ref.number)
    author = current.author
    kind, key = (JobKind.WRITE, author.id) if author.kind == "agent" else (JobKind.CONSOLIDATE, jobs.SPACE_KEY)
    job = jobs.find(tx, space=space, kind=kind, key=key) if author.run else None
    following = next((entry for entry in versions if entry.version > ref.number), None)
    return replace(
        lineage,
        text=None if current.redacted else lineage.text,
        replaced_by=None if following is None else Ref(RefKind.DOCUMENT, ref.id, following.version),
        written_by=" ".join(filter(None, (author.kind, author.id, author.run, author.reason))),
        jobs=() if job is None else (job,),
        source_refs=tuple(_source_of(tx, space, entry, current.valid_from) for entry in sources),
        versions=tuple(
            Version(
                ref=entry.ref,
                text=entry.body,
                since=entry.valid_from,
                until=None if entry.valid_to is not None and entry.valid_to > until else entry.valid_to,
            )
            for entry in versions
        ),
    )


_TRACE = {
    RefKind.MESSAGE: _message,
    RefKind.FACT: _fact,
    RefKind.SESSION_SUMMARY: _session_summary,
    RefKind.DOCUMENT: _document,
}
_KIND_OF = {
    SourceKind.MESSAGE: RefKind.MESSAGE,
    SourceKind.FACT: RefKind.FACT,
    SourceKind.SESSION_SUMMARY: RefKind.SESSION_SUMMARY,
}


def _documents_citing(tx: Tx, space: str, kind: SourceKind, name: str, number: int) -> tuple[Ref, ...]:
    rows = tx.all("documents_resting_on", space=space, kind=kind, id=name, number=number)
    return tuple(Ref(RefKind.DOCUMENT, row["id"], row["version"]) for row in rows)


def _jobs_of(tx: Tx, space: str, sessions: list[str]) -> tuple[Job, ...]:
    candidates = (jobs.find(tx, space=space, kind=JobKind.EXTRACT, key=session) for session in sessions)
    return tuple(job for job in candidates if job is not None)


def _source_of(tx: Tx, space: str, source: DocumentSource, at: datetime) -> Ref:
    """Return the ref of a source of a document; for a fact, the version that was current at that time."""
    number = source.number
    if source.kind is SourceKind.FACT:
        versions = [version.version for version in facts.versions(tx, space=space, fact_id=source.id)
                 if (version.recorded_at or EPOCH) <= at]  # fmt: skip
        number = max(versions, default=number)
    return Ref(_KIND_OF[source.kind], source.id, number)


def _ref_of(source: SourceMessage) -> Ref:
    return Ref(RefKind.MESSAGE, source.session_id, source.number)
