"""Follows a memory to the messages it came from, and on to where it was shown."""

import json
from dataclasses import replace
from datetime import datetime

from bethink.errors import NotFound
from bethink.model.documents import DocumentSource, SourceKind
from bethink.model.facts import SourceMessage
from bethink.model.jobs import Job, JobKind
from bethink.model.moments import EPOCH, from_micros
from bethink.model.recall import Lineage, Ref, RefKind, Version
from bethink.store import documents, facts, feedback, jobs, learning, ledger, search
from bethink.store.db import Tx

_FROM_A_RESULT = "Use the ref of a result, in the space that the result came from."


def trace(tx: Tx, *, space: str, ref: Ref) -> Lineage:
    """Return where a memory comes from and what happened to it. Raises `NotFound` for a ref that never existed."""
    text = search.texts(tx, space=space, refs=[ref], as_of=None).get(ref)
    shown = tuple(ledger.where_shown(tx, space=space, ref=ref))
    if text is None and ref.kind is RefKind.DOCUMENT and _is_redacted(tx, space, ref):
        return _document(tx, space, Lineage(ref=ref, text=None, shown=shown))
    if text is None:
        if not shown:
            raise NotFound(f"no memory {ref} in space {space!r}.", hint=_FROM_A_RESULT)
        return Lineage(ref=ref, text=None, shown=shown)
    usage = ledger.usage_of(tx, space=space, ref=ref)
    found = Lineage(
        ref=ref, text=text.text, origin=text.origin, at=from_micros(text.at), shown=shown, usage=usage,
        metadata=json.loads(text.metadata) if ref.kind is RefKind.MESSAGE else {},
    )  # fmt: skip
    return _TRACE[ref.kind](tx, space, found)


def _is_redacted(tx: Tx, space: str, ref: Ref) -> bool:
    found = documents.versions(tx, space=space, document_id=ref.id)
    return any(each.redacted and each.version == ref.number for each in found)


def _message(tx: Tx, space: str, found: Lineage) -> Lineage:
    ref = found.ref
    made = tx.all("facts_from_message", space=space, session=ref.id, number=ref.number)
    used = [Ref(RefKind.FACT, row["id"], row["version"]) for row in made]
    if learning.find_memory(tx, space=space, session_id=ref.id) is not None:
        used.append(Ref(RefKind.SESSION_MEMORY, ref.id))
    return replace(
        found,
        used_in=(*used, *_documents_on(tx, space, SourceKind.MESSAGE, ref.id, ref.number)),
        jobs=_jobs_of(tx, space, [ref.id]),
    )


def _fact(tx: Tx, space: str, found: Lineage) -> Lineage:
    ref = found.ref
    versions = facts.versions(tx, space=space, fact_id=ref.id)
    this = next(each for each in versions if each.version == ref.number)
    sources = search.excerpts(tx, space=space, fact_ids=[ref.id], as_of=None).get(ref.id, [])
    sessions = list(dict.fromkeys(quote.source.session_id for quote in sources))
    return replace(
        found,
        fact=this,
        quotes=tuple(facts.quotes_of(tx, space=space, fact_id=ref.id)),
        feedback=tuple(feedback.on_fact(tx, space=space, fact_id=ref.id)),
        made_by=this.made_by,
        jobs=_jobs_of(tx, space, sessions),
        sources=tuple(sources),
        rests_on=tuple(_ref_of(quote.source) for quote in sources),
        used_in=_documents_on(tx, space, SourceKind.FACT, ref.id, 0),
        versions=tuple(
            Version(
                ref=Ref(RefKind.FACT, each.id, each.version),
                text=each.content,
                since=each.recorded_at or each.created_at,  # pyright: ignore[reportArgumentType]
                until=each.retired_at,
            )
            for each in versions
        ),
        superseded_by=search.successor(tx, space=space, ref=ref, by=this.retired_by),
    )


def _session_memory(tx: Tx, space: str, found: Lineage) -> Lineage:
    ref = found.ref
    memory = learning.find_memory(tx, space=space, session_id=ref.id)
    assert memory is not None  # noqa: S101 - its text was just read
    return replace(
        found,
        made_by=memory.made_by,
        jobs=_jobs_of(tx, space, [ref.id]),
        rests_on=tuple(Ref(RefKind.MESSAGE, ref.id, number) for number in range(1, memory.until + 1)),
        used_in=_documents_on(tx, space, SourceKind.SESSION_MEMORY, ref.id, 0),
    )


def _document(tx: Tx, space: str, found: Lineage) -> Lineage:
    ref = found.ref
    versions = documents.versions(tx, space=space, document_id=ref.id)
    this = next(each for each in versions if each.version == ref.number)
    rests = documents.sources(tx, space=space, document_id=ref.id, version=ref.number)
    author = this.author
    kind, key = (JobKind.WRITE, author.id) if author.kind == "agent" else (JobKind.CONSOLIDATE, jobs.SPACE_KEY)
    job = jobs.find(tx, space=space, kind=kind, key=key) if author.run else None
    following = next((each for each in versions if each.version > ref.number), None)
    return replace(
        found,
        text=None if this.redacted else found.text,
        superseded_by=None if following is None else Ref(RefKind.DOCUMENT, ref.id, following.version),
        written_by=" ".join(filter(None, (author.kind, author.id, author.run, author.reason))),
        jobs=() if job is None else (job,),
        rests_on=tuple(_source_of(tx, space, each, this.valid_from) for each in rests),
        versions=tuple(
            Version(
                ref=Ref(RefKind.DOCUMENT, each.id, each.version),
                text=each.body,
                since=each.valid_from,
                until=each.valid_to,
            )
            for each in versions
        ),
    )


_TRACE = {
    RefKind.MESSAGE: _message,
    RefKind.FACT: _fact,
    RefKind.SESSION_MEMORY: _session_memory,
    RefKind.DOCUMENT: _document,
}
_KIND_OF = {
    SourceKind.MESSAGE: RefKind.MESSAGE,
    SourceKind.FACT: RefKind.FACT,
    SourceKind.SESSION_MEMORY: RefKind.SESSION_MEMORY,
}


def _documents_on(tx: Tx, space: str, kind: SourceKind, name: str, number: int) -> tuple[Ref, ...]:
    rows = tx.all("documents_resting_on", space=space, kind=kind, id=name, number=number)
    return tuple(Ref(RefKind.DOCUMENT, row["id"], row["version"]) for row in rows)


def _jobs_of(tx: Tx, space: str, sessions: list[str]) -> tuple[Job, ...]:
    found = (jobs.find(tx, space=space, kind=JobKind.EXTRACT, key=session) for session in sessions)
    return tuple(job for job in found if job is not None)


def _source_of(tx: Tx, space: str, source: DocumentSource, at: datetime) -> Ref:
    """Return a ref to what a document rests on; for a fact, the version known when the document was written."""
    number = source.number
    if source.kind is SourceKind.FACT:
        known = [each.version for each in facts.versions(tx, space=space, fact_id=source.id)
                 if (each.recorded_at or EPOCH) <= at]  # fmt: skip
        number = max(known, default=number)
    return Ref(_KIND_OF[source.kind], source.id, number)


def _ref_of(source: SourceMessage) -> Ref:
    return Ref(RefKind.MESSAGE, source.session_id, source.number)
