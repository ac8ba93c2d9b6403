"""What consolidations select, what they have seen, and what they changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bethink.model.consolidation import Change, ChangeSet, ChangeStatus, ConsolidationCandidate, Selection
from bethink.model.documents import DocumentDraft
from bethink.model.jobs import JobKind
from bethink.model.moments import Micros, from_micros, from_micros_or_none, later
from bethink.model.text import canonical_json
from bethink.store import documents, jobs
from bethink.store.db import NO_LIMIT, Row, Tx
from bethink.store.learning import memory_of

Written = Mapping[str, tuple[str, int]]
"""The id and version of the document that each change became, by path."""


def select(tx: Tx, *, space: str, max_unused_days: int, limit: int) -> Selection:
    """Select the session memories for a consolidation, together with those that the last successful one saw."""
    since = later(tx.now, days=-max_unused_days)
    current = tx.all("select_memories", space=space, since=since, limit=limit)
    previous = tx.all("previous_memories", space=space)
    return Selection(current=tuple(map(_candidate, current)), previous=tuple(map(_candidate, previous)))


def seen(tx: Tx, *, space: str) -> Selection:
    """Return what the last successful consolidation saw."""
    previous = tx.all("previous_memories", space=space)
    return Selection(current=tuple(map(_candidate, previous)), previous=())


def mark_seen(tx: Tx, *, space: str, snapshot: list[tuple[str, Micros]]) -> None:
    """Record exactly what was seen; a memory that changed meanwhile is left out."""
    tx.run("clear_selection", space=space)
    for session_id, source_updated_at in snapshot:
        tx.run("set_selection", space=space, session=session_id, source_updated_at=source_updated_at)


def has_expired(tx: Tx, *, space: str, max_unused_days: int) -> bool:
    """Return whether a space has a memory that was unused for too long to be selected again."""
    return tx.one("expired_spaces", space=space, since=later(tx.now, days=-max_unused_days)) is not None


def use(tx: Tx, *, space: str, session_ids: list[str]) -> int:
    """Count each session memory as used once, and return how many exist."""
    return sum(tx.run("use_memory", space=space, session=each, now=tx.now) for each in dict.fromkeys(session_ids))


def put_change_set(
    tx: Tx, *, space: str, run: str, token: int, changes: Sequence[Change], snapshot: list[tuple[str, Micros]],
    written: Written | None,
) -> None:  # fmt: skip
    """Store what a run changed, or with `written` None what it proposes to change."""
    held = written is None
    tx.run(
        "put_change_set",
        space=space, run=run, token=token, status=ChangeStatus.HELD if held else ChangeStatus.APPLIED,
        changes=canonical_json([each.to_json() for each in changes]) if held else _without_text(changes, written),
        selection=canonical_json(snapshot), now=tx.now, settled_at=None if held else tx.now,
    )  # fmt: skip


def supersede(tx: Tx, *, space: str) -> None:
    """Discard proposed changes that are out of date."""
    for each in _change_sets(tx, space, tx.all("list_held", space=space)):
        _let_go(tx, each, space=space, status=ChangeStatus.SUPERSEDED)


def reject(tx: Tx, held: ChangeSet, *, space: str) -> bool:
    """Discard a change set because a user rejected it. Returns False if it is no longer held."""
    return _let_go(tx, held, space=space, status=ChangeStatus.REJECTED)


def keep_written(tx: Tx, approved: ChangeSet, *, space: str, written: Written) -> None:
    """Record which versions hold the text of a change set, now that it is in the tree."""
    tx.run("keep_written", space=space, run=approved.run, changes=_without_text(approved.changes, written))


def forget_text(tx: Tx, *, space: str, document_id: str) -> None:
    """Remove copies of a document's text elsewhere: answers of writers, and changes that are held."""
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    tx.run("forget_writers_answers", space=space, kind=JobKind.EXTRACT)
    runs = {row["run"] for row in tx.all("runs_of_document", space=space, id=document_id)}
    for row in tx.all("list_change_sets", space=space, limit=NO_LIMIT):
        changes = json.loads(row["changes"])
        touches = row["run"] in runs or any(each["document_id"] == document_id for each in changes)
        if touches and any(each["draft"] and each["draft"]["body"] for each in changes):
            tx.run("drop_change_set", space=space, run=row["run"])
            if row["status"] == ChangeStatus.HELD:
                jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)


def find_change_set(tx: Tx, *, space: str, run: str) -> ChangeSet | None:
    """Return a change set, if there is one."""
    found = _change_sets(tx, space, tx.all("find_change_set", space=space, run=run))
    return found[0] if found else None


def snapshot_of(tx: Tx, *, space: str, run: str) -> list[tuple[str, Micros]]:
    """Return exactly what a run saw."""
    row = tx.one("find_change_set", space=space, run=run)
    return [] if row is None else [(name, Micros(at)) for name, at in json.loads(row["selection"])]


def was_rejected(tx: Tx, *, space: str, run: str) -> bool:
    """Return whether the proposal of a run on these inputs was rejected before."""
    return tx.one("rejected_run", space=space, run=f"{run}.") is not None


def change_sets(tx: Tx, *, space: str, limit: int = NO_LIMIT) -> list[ChangeSet]:
    """Return the change sets of a space, the newest first."""
    return _change_sets(tx, space, tx.all("list_change_sets", space=space, limit=limit))


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


def _let_go(tx: Tx, held: ChangeSet, *, space: str, status: ChangeStatus) -> bool:
    changes = _without_text(held.changes, {})
    return tx.run("let_go", space=space, run=held.run, status=status, changes=changes, now=tx.now) == 1


def _without_text(changes: Sequence[Change], written: Written) -> str:
    """Serialize changes without their text, which is in the tree or was discarded."""
    kept: list[Mapping[str, Any]] = []
    for each in changes:
        place = written.get(each.path)
        empty = each.draft and place is None and DocumentDraft(slug=each.draft.slug, title=each.draft.slug)
        kept.append({**replace(each, draft=empty or None, sources=()).to_json(), "written": place})
    return canonical_json(kept)


def _change_sets(tx: Tx, space: str, rows: Sequence[Row]) -> list[ChangeSet]:
    """Read change sets; the text of applied changes is read from the tree."""
    kept: dict[str, list[Mapping[str, Any]]] = {row["run"]: json.loads(row["changes"]) for row in rows}
    places = [(each["written"][0], each["written"][1]) for changes in kept.values() for each in changes
              if each.get("written")]  # fmt: skip
    texts = documents.texts(tx, space=space, versions=places)

    def change(tree: Mapping[str, Any]) -> Change:
        read = Change.from_json(tree)
        said = texts.get(tuple(tree.get("written") or ()))  # pyright: ignore[reportArgumentType] - an empty tuple matches nothing
        return read if said is None else replace(read, draft=said[0], sources=said[1])

    return [
        ChangeSet(
            run=row["run"],
            status=ChangeStatus(row["status"]),
            changes=tuple(map(change, kept[row["run"]])),
            created_at=from_micros(row["created_at"]),
            settled_at=from_micros_or_none(row["settled_at"]),
        )
        for row in rows
    ]
