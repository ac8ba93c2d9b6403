"""Follows a memory back to its source messages, and on to its context log entries."""

import json
from dataclasses import replace
from datetime import datetime

from bethink.errors import NotFoundError
from bethink.model.documents import DocumentSource, SourceKind
from bethink.model.facts import SourceMessage
from bethink.model.jobs import Job, JobKind
from bethink.model.moments import EPOCH, from_micros
from bethink.model.recall import Lineage, Version
from bethink.model.refs import Ref, RefKind
from bethink.store import documents, facts, feedback, jobs, learning, ledger, search
from bethink.store.db import Tx

_FROM_A_RESULT = "Use the ref of a result, in the space that the result came from."


def newest_version(tx: Tx, *, space: str, ref: Ref) -> Ref:
    """Return the ref of the newest version for version 0, which the results of `forget` have. Other refs stay."""
    if ref.number or ref.kind not in (RefKind.FACT, RefKind.DOCUMENT):
        return ref
    versions = (
        [version.version for version in facts.versions(tx, space=space, fact_id=ref.id)]
        if ref.kind is RefKind.FACT
        else [version.version for version in documents.versions(tx, space=space, document_id=ref.id)]
    )
    return Ref(ref.kind, ref.id, max(versions, default=0))


def trace(tx: Tx, *, space: str, ref: Ref) -> Lineage:
    """Return the sources and the history of a memory. Raises `NotFoundError` for a ref that never existed."""
    text = search.texts(tx, space=space, refs=[ref], as_of=None).get(ref)
    entries = tuple(ledger.entries_with(tx, space=space, ref=ref))
    if text is None and ref.kind is RefKind.DOCUMENT and _is_redacted(tx, space, ref):
        return _document(tx, space, Lineage(ref=ref, text=None, context_log=entries))
    if text is None:
        if not entries:
            raise NotFoundError(f"No memory {ref} in space {space!r}.", hint=_FROM_A_RESULT)
        return Lineage(ref=ref, text=None, context_log=entries)
    usage = ledger.usage_of(tx, space=space, ref=ref)
    lineage = Lineage(
        ref=ref, text=text.text, origin=text.origin, at=from_micros(text.at), context_log=entries, usage=usage,
        metadata=json.loads(text.metadata) if ref.kind is RefKind.MESSAGE else {},
    )  # fmt: skip
    return _TRACE[ref.kind](tx, space, lineage)


def _is_redacted(tx: Tx, space: str, ref: Ref) -> bool:
    versions = documents.versions(tx, space=space, document_id=ref.id)
    return any(version.redacted and version.version == ref.number for version in versions)


def _message(tx: Tx, space: str, lineage: Lineage) -> Lineage:
    ref = lineage.ref
    rows = tx.all("facts_from_message", space=space, session=ref.id, number=ref.number)
    derived = [Ref(RefKind.FACT, row["id"], row["version"]) for row in rows]
    if learning.find_memory(tx, space=space, session_id=ref.id) is not None:
        derived.append(Ref(RefKind.SESSION_SUMMARY, ref.id))
    return replace(
        lineage,
        derived=(*derived, *_documents_citing(tx, space, SourceKind.MESSAGE, ref.id, ref.number)),
        jobs=_jobs_of(tx, space, [ref.id]),
    )


def _fact(tx: Tx, space: str, lineage: Lineage) -> Lineage:
    ref = lineage.ref
    versions = facts.versions(tx, space=space, fact_id=ref.id)
    current = next(version for version in versions if version.version == ref.number)
    sources = search.excerpts(tx, space=space, fact_ids=[ref.id], as_of=None).get(ref.id, [])
    sessions = list(dict.fromkeys(quote.source.session_id for quote in sources))
    return replace(
        lineage,
        fact=current,
        quotes=tuple(facts.quotes_of(tx, space=space, fact_id=ref.id)),
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
                until=version.replaced_at,
            )
            for version in versions
        ),
        replaced_by=search.successor(tx, space=space, ref=ref, successor_id=current.replaced_by),
    )


def _session_summary(tx: Tx, space: str, lineage: Lineage) -> Lineage:
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


def _document(tx: Tx, space: str, lineage: Lineage) -> Lineage:
    ref = lineage.ref
    versions = documents.versions(tx, space=space, document_id=ref.id)
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
                until=entry.valid_to,
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
