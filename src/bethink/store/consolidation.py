"""Inputs and results of consolidations: selected session summaries, and change sets."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bethink.model.consolidation import ChangeSet, ChangeStatus, ConsolidationCandidate, DocumentChange, Selection
from bethink.model.documents import DocumentDraft
from bethink.model.jobs import JobKind
from bethink.model.moments import Micros, from_micros, from_micros_or_none, later
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page, page_of
from bethink.model.text import canonical_json
from bethink.store import documents, hidden, jobs
from bethink.store.db import NO_LIMIT, Row, Tx
from bethink.store.learning import memory_of

WrittenVersions = Mapping[str, tuple[str, int]]
"""The id and version of the document that each change became, by path."""


def select(tx: Tx, *, space: str, max_unused_days: int, limit: int) -> Selection:
    """Select the session summaries for a consolidation, together with those that the last successful one read."""
    since = later(tx.now, days=-max_unused_days)
    current = tx.all("select_memories", space=space, since=since, limit=limit)
    previous = tx.all("previous_memories", space=space)
    return Selection(current=tuple(map(_candidate, current)), previous=tuple(map(_candidate, previous)))


def last_selection(tx: Tx, *, space: str) -> Selection:
    """Return the session summaries that the last successful consolidation read."""
    previous = tx.all("previous_memories", space=space)
    return Selection(current=tuple(map(_candidate, previous)), previous=())


def record_selection(tx: Tx, *, space: str, snapshot: list[tuple[str, Micros]]) -> None:
    """Record which session summaries were read. One that changed in the meantime is omitted."""
    tx.run("clear_selection", space=space)
    if snapshot:
        sessions, times = zip(*snapshot, strict=True)
        tx.run("set_selection", space=space, sessions=list(sessions), times=list(times))


def has_expired(tx: Tx, *, space: str, max_unused_days: int) -> bool:
    """Return whether a space has a session summary that was unused for too long to be selected again."""
    return tx.first("expired_spaces", space=space, since=later(tx.now, days=-max_unused_days)) is not None


def use(tx: Tx, *, space: str, session_ids: list[str]) -> int:
    """Count each session summary as used once, and return how many exist."""
    return sum(
        tx.run("use_memory", space=space, session=session_id, now=tx.now) for session_id in dict.fromkeys(session_ids)
    )


def put_change_set(
    tx: Tx, *, space: str, run: str, token: int, changes: Sequence[DocumentChange], snapshot: list[tuple[str, Micros]],
    versions: WrittenVersions | None,
) -> None:  # fmt: skip
    """Store the changes of a run, or its proposed changes if `versions` is None."""
    is_proposal = versions is None
    tx.run(
        "put_change_set",
        space=space, run=run, token=token, status=ChangeStatus.PENDING if is_proposal else ChangeStatus.APPLIED,
        changes=canonical_json([change.to_json() for change in changes]) if is_proposal else _without_text(changes,
        versions),
        selection=canonical_json(snapshot), now=tx.now, settled_at=None if is_proposal else tx.now,
    )  # fmt: skip


def supersede(tx: Tx, *, space: str) -> None:
    """Discard proposed changes that are out of date."""
    for change_set in _change_sets(tx, space, tx.all("list_held", space=space)):
        _settle(tx, change_set, space=space, status=ChangeStatus.SUPERSEDED)


def reject(tx: Tx, change_set: ChangeSet, *, space: str) -> bool:
    """Discard a change set because a user rejected it. Returns False if it is no longer pending."""
    return _settle(tx, change_set, space=space, status=ChangeStatus.REJECTED)


def record_written(tx: Tx, approved: ChangeSet, *, space: str, versions: WrittenVersions) -> None:
    """Record which versions contain the text of an applied change set."""
    tx.run("keep_written", space=space, run=approved.run, changes=_without_text(approved.changes, versions))


def forget_text(tx: Tx, *, space: str, document_id: str) -> None:
    """Delete copies of a document's text: answers of writers, and pending changes."""
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    tx.run("forget_writers_answers", space=space, kind=JobKind.EXTRACT)
    runs = {row["run"] for row in tx.all("runs_of_document", space=space, id=document_id)}
    for row in tx.all("list_change_sets", space=space, limit=NO_LIMIT):
        changes = json.loads(row["changes"])
        touches = row["run"] in runs or any(change["document_id"] == document_id for change in changes)
        if touches and any(change["draft"] and change["draft"]["body"] for change in changes):
            tx.run("drop_change_sets", space=space, runs=[row["run"]])
            if row["status"] == ChangeStatus.PENDING:
                jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)


def find_change_set(tx: Tx, *, space: str, run: str) -> ChangeSet | None:
    """Return a change set, if there is one."""
    matches = _change_sets(tx, space, tx.all("find_change_set", space=space, run=run))
    return matches[0] if matches else None


def snapshot_of(tx: Tx, *, space: str, run: str) -> list[tuple[str, Micros]]:
    """Return the session summaries that a run read."""
    row = tx.first("find_change_set", space=space, run=run)
    return [] if row is None else [(name, Micros(at)) for name, at in json.loads(row["selection"])]


def was_rejected(tx: Tx, *, space: str, run: str) -> bool:
    """Return whether the proposal of a run on these inputs was rejected before."""
    return tx.first("rejected_run", space=space, run=f"{run}.") is not None


def page(tx: Tx, *, space: str, limit: int, after: str) -> Page[ChangeSet]:
    """Return a page of the change sets of a space, the newest first."""
    before, last = read_cursor(after, int, str) or (None, None)
    rows = tx.all("list_change_sets", space=space, limit=limit + 1, before=before, run=last)
    page_rows = page_of(rows, limit, lambda row: cursor_of(row["created_at"], row["run"]))
    return Page(items=tuple(_change_sets(tx, space, list(page_rows))), next=page_rows.next)


def change_sets(tx: Tx, *, space: str) -> list[ChangeSet]:
    """Return all change sets of a space, the newest first."""
    return _change_sets(tx, space, tx.all("list_change_sets", space=space, limit=NO_LIMIT))


def set_change_status(tx: Tx, *, space: str, run: str, was: ChangeStatus, status: ChangeStatus) -> bool:
    """Change the status of a change set. Returns False if it is no longer `was`."""
    return tx.run("set_change_status", space=space, run=run, was=was, status=status, now=tx.now) == 1


def _candidate(row: Row) -> ConsolidationCandidate:
    return ConsolidationCandidate(
        memory=memory_of(row),
        usage_count=row["usage_count"],
        last_usage=from_micros_or_none(row["last_usage"]),
        selected=bool(row["selected"]),
        seen_at=from_micros_or_none(row["selected_source_updated_at"]),
    )


def _settle(tx: Tx, change_set: ChangeSet, *, space: str, status: ChangeStatus) -> bool:
    changes = _without_text(change_set.changes, {})
    return tx.run("let_go", space=space, run=change_set.run, status=status, changes=changes, now=tx.now) == 1


def _without_text(changes: Sequence[DocumentChange], versions: WrittenVersions) -> str:
    """Serialize changes without their text, which is in the tree or was discarded."""
    entries: list[Mapping[str, Any]] = []
    for change in changes:
        version = versions.get(change.path)
        empty = change.draft and version is None and DocumentDraft(slug=change.draft.slug, title=change.draft.slug)
        entries.append({**replace(change, draft=empty or None, sources=()).to_json(), "written": version})
    return canonical_json(entries)


def _change_sets(tx: Tx, space: str, rows: Sequence[Row]) -> list[ChangeSet]:
    """Read change sets; the text of applied changes is read from the tree."""
    changes_by_run: dict[str, list[Mapping[str, Any]]] = {row["run"]: json.loads(row["changes"]) for row in rows}
    versions = [(entry["written"][0], entry["written"][1]) for changes in changes_by_run.values() for entry in changes
              if entry.get("written")]  # fmt: skip
    texts = documents.texts(tx, space=space, versions=versions)
    words = hidden.of_space(tx, space=space) if rows else hidden.HiddenWords()

    def change(tree: Mapping[str, Any]) -> DocumentChange:
        parsed = DocumentChange.from_json(tree)
        text = texts.get(tuple(tree.get("written") or ()))  # pyright: ignore[reportArgumentType] - an empty tuple matches nothing
        if text is not None:
            return replace(parsed, draft=text[0], sources=text[1])
        draft = parsed.draft  # of proposed changes, which have their text
        return parsed if draft is None else replace(parsed, draft=replace(draft, body=words.visible(draft.body)))

    return [
        ChangeSet(
            run=row["run"],
            status=ChangeStatus(row["status"]),
            changes=tuple(map(change, changes_by_run[row["run"]])),
            created_at=from_micros(row["created_at"]),
            settled_at=from_micros_or_none(row["settled_at"]),
        )
        for row in rows
    ]
