"""Merges the rows of two databases that differ: which row wins if both have one, and how the others are renumbered.

Only rows that differ are read. The result does not depend on the order of the databases, and no message is lost:

- Items with the same name on both sides (an agent, a conversation, a document at the same path) become one.
- Messages of the same session on both sides are put in sequence: the side with the first message keeps its numbers, and
  the other messages follow with new ones. A message from a third database keeps the number it got first.
- Items written on both sides (a fact, a document) get one history by time: the last version is current.
- For any other single value, the later one wins. `docs/howto/archive.md` has the full list.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bethink.memory.archive.fact_rows import drop_replaced_statements, merge_effects, merge_statement
from bethink.memory.archive.histories import DOCUMENT, FACT, merge_histories, renumber
from bethink.memory.archive.reading import RowDict
from bethink.memory.archive.trees import repair_tree, unify_paths
from bethink.model.text import canonical_json
from bethink.store.archived import Values, declared_tables, tables

Rows = dict[str, dict[Values, RowDict]]
"""Rows by their table and key."""

_THREAD_COLUMNS = {
    "threads": "id",
    "events": "thread_id",
    "chunks": "thread_id",
    "placements": "thread_id",
    "states": "thread_id",
}
_RETRACTED_AT = "retracted_at"
"""The only column of a message that changes after it is stored."""
_MESSAGE_REFS = {
    "fact_sources": ("session_id", "number"), "fact_quotes": ("session_id", "number"),
    "review_sources": ("session_id", "number"), "message_marks": ("session_id", "number"),
    "forget_requests": ("session_id", "number"),
    "fact_statements": ("session_id", "number"), "fact_links": ("session_id", "number"),
}  # fmt: skip


def line(row: RowDict | None) -> str:
    """Return a row as text, which breaks ties."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def rows_by_key(table: str, rows: Iterable[RowDict]) -> dict[Values, RowDict]:
    """Return rows by their key."""
    key_of = next(entry for entry in tables() if entry.name == table).key_of
    return {key_of(row): row for row in rows}


def merge_rows(first: Rows, second: Rows) -> Rows:
    """Return the rows that replace the differing rows on both sides."""
    sides = (_copy(first), _copy(second))
    _unify(sides, "agents", ("name",), _AGENT_REFS)
    _unify(sides, "conversations", ("agent_id", "key"), _CONVERSATION_REFS)
    unify_paths(sides)
    _line_up_messages(sides)
    _free_keys(sides)
    _merge_reviews(sides)
    merge_effects(sides)
    for history in (FACT, DOCUMENT):
        merge_histories(sides, history)
    _choose_threads(sides)
    result: Rows = {}
    for table in tables():
        ours, theirs = (side.get(table.name, {}) for side in sides)
        choose = _chooser(table.name)
        result[table.name] = {
            key: choose(ours[key], theirs[key]) if key in ours and key in theirs else dict(ours.get(key) or theirs[key])
            for key in sorted({*ours, *theirs}, key=repr)
        }
    drop_replaced_statements(result)
    _settle_sessions(result)
    _settle_threads(result)
    repair_tree(result)
    return result


def _copy(side: Rows) -> Rows:
    return {table: {key: dict(row) for key, row in rows.items()} for table, rows in side.items()}


_AGENT_REFS = (("conversations", "agent_id"), ("sessions", "agent_id"), ("answers", "agent_id"))
_CONVERSATION_REFS = (
    ("summaries", "conversation_id"), ("sessions", "conversation_id"), ("threads", "conversation_id"),
)  # fmt: skip


def _unify(sides: tuple[Rows, Rows], table: str, columns: tuple[str, ...], refs: tuple[tuple[str, str], ...]) -> None:
    """Give items with the same name on both sides one id: that of the older."""
    ours, theirs = (
        {tuple(row[name] for name in columns): row for row in side.get(table, {}).values()} for side in sides
    )
    for name in ours.keys() & theirs.keys():
        pair = ours[name], theirs[name]
        if pair[0]["id"] == pair[1]["id"]:
            continue
        older = min(pair, key=lambda row: (row["created_at"], row["id"]))
        for side, row in zip(sides, pair, strict=True):
            if row is not older:
                _rename(side, row["id"], older["id"], refs)
                side[table] = rows_by_key(
                    table, [older if candidate is row else candidate for candidate in side[table].values()]
                )


def _rename(side: Rows, old: str, new: str, refs: tuple[tuple[str, str], ...]) -> None:
    for table, column in refs:
        for row in side.get(table, {}).values():
            if row[column] == old:
                row[column] = new
        side[table] = rows_by_key(table, side.get(table, {}).values())


def missed_retractions(first: Rows, second: Rows) -> tuple[list[RowDict], list[RowDict]]:
    """Return for each side its messages that only the other side retracted, or retracted earlier."""
    missed: tuple[list[RowDict], list[RowDict]] = ([], [])
    ours, theirs = first.get("messages", {}), second.get("messages", {})
    for key in sorted(ours.keys() & theirs.keys()):
        pair = ours[key], theirs[key]
        if {**pair[0], _RETRACTED_AT: None} == {**pair[1], _RETRACTED_AT: None}:
            early = min((row for row in pair if row[_RETRACTED_AT] is not None), key=lambda row: row[_RETRACTED_AT])
            missed[0 if early is pair[1] else 1].append(early)
    return missed


def _line_up_messages(sides: tuple[Rows, Rows]) -> None:
    """Put messages with the same number in the same session in sequence. Erased messages keep their numbers."""
    blocks_by_session = [_by_session(side) for side in sides]
    for session in sorted({*blocks_by_session[0], *blocks_by_session[1]}):
        blocks = [by_session.get(session, {}) for by_session in blocks_by_session]
        late = _later_side(sides, blocks, session)
        if late is None:
            continue
        rows = [side["sessions"][session,] for side in sides]
        top = max(row["last_number"] for row in rows)
        numbers = _new_numbers(blocks[late], blocks[1 - late], top)
        _renumber_messages(sides[late], session, numbers)
        # The later messages are learned from again: the side with the first message has not learned from them.
        ended = [row for row in rows if row["ended_at"] is not None]
        first = min(ended, key=lambda row: (row["ended_at"], line(row)), default=rows[1 - late])
        for side in sides:
            side["sessions"][session,] = {
                **rows[1 - late],
                "last_number": max(top, *numbers.values()),
                "ended_at": first["ended_at"],
                "end_reason": first["end_reason"],
            }


def _later_side(sides: tuple[Rows, Rows], blocks: Sequence[Mapping[Values, RowDict]], session: str) -> int | None:
    """Return the side whose messages in a session get new numbers: the later side, or None without collisions.

    A number that the other side has assigned, but has no message for, belongs to an erased message.
    """
    last_numbers = [side.get("sessions", {}).get((session,), {}).get("last_number", 0) for side in sides]
    erased = [any(key[1] <= last_numbers[1 - at] and key not in blocks[1 - at] for key in blocks[at]) for at in (0, 1)]
    if erased[0] != erased[1]:
        return erased.index(True)
    same = {_identity(row) for row in blocks[0].values()} & {_identity(row) for row in blocks[1].values()}
    if not erased[0] and not same and blocks[0].keys().isdisjoint(blocks[1]):
        return None
    firsts = [block[min(block)] for block in blocks]
    return 0 if (firsts[0]["recorded_at"], line(firsts[0])) > (firsts[1]["recorded_at"], line(firsts[1])) else 1


def _by_session(side: Rows) -> dict[Any, dict[Values, RowDict]]:
    """Return the messages of each session, in the order of their numbers."""
    sessions: dict[Any, dict[Values, RowDict]] = {}
    for key, row in sorted(side.get("messages", {}).items()):
        sessions.setdefault(key[0], {})[key] = row
    return sessions


def _identity(row: RowDict) -> tuple[Any, ...]:
    """Return the values that identify a message, whatever its number."""
    return tuple(row[name] for name in ("recorded_at", "said_at", "role", "name", "content"))


def _new_numbers(late: Mapping[Values, RowDict], others: Mapping[Values, RowDict], top: int) -> dict[int, int]:
    """Return new numbers for later messages: that of the same message on the other side, or the next one."""
    existing: dict[tuple[Any, ...], list[int]] = {}
    for row in others.values():
        existing.setdefault(_identity(row), []).append(row["number"])
    numbers: dict[int, int] = {}
    for row in late.values():
        same = existing.get(_identity(row))
        if not same:
            top += 1
        numbers[row["number"]] = same.pop(0) if same else top
    return numbers


def _renumber_messages(side: Rows, session: str, numbers: Mapping[int, int]) -> None:
    for row in side["messages"].values():
        if row["session_id"] == session:
            row["number"] = numbers[row["number"]]
    for table, (name, number) in _MESSAGE_REFS.items():
        for row in side.get(table, {}).values():
            if row[name] == session:
                row[number] = numbers.get(row[number], row[number])
    renumber(side, "message", session, numbers)
    for row in side.get("reviews", {}).values():
        if session in row["claim"]:
            row["claim"] = canonical_json(_renumber_quotes(json.loads(row["claim"]), session, numbers))
    for table in ("messages", *_MESSAGE_REFS):
        side[table] = rows_by_key(table, side.get(table, {}).values())


def _renumber_quotes(value: Any, session: str, numbers: Mapping[int, int]) -> Any:
    """Return the claim of a review with the new numbers of the messages that it quotes."""
    if isinstance(value, list):
        return [_renumber_quotes(item, session, numbers) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, dict):
        return value
    fields: dict[str, Any] = {name: _renumber_quotes(item, session, numbers) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if fields.get("session_id") == session and fields.get("number") in numbers:
        fields["number"] = numbers[fields["number"]]
    return fields


def _free_keys(sides: tuple[Rows, Rows]) -> None:
    """Leave an idempotency key to the first of two messages that have it."""
    ours, theirs = (
        {row["idempotency_key"]: row for row in side.get("messages", {}).values() if row["idempotency_key"]}
        for side in sides
    )
    for key in ours.keys() & theirs.keys():
        pair = ours[key], theirs[key]
        if (pair[0]["session_id"], pair[0]["number"]) != (pair[1]["session_id"], pair[1]["number"]):
            max(pair, key=lambda row: (row["recorded_at"], line(row)))["idempotency_key"] = None


def _merge_reviews(sides: tuple[Rows, Rows]) -> None:
    """Keep one of two reviews of the same claim: the decided one, or else the older."""
    ours, theirs = ({row["effect"]: row for row in side.get("reviews", {}).values()} for side in sides)
    for effect in ours.keys() & theirs.keys():
        pair = ours[effect], theirs[effect]
        if pair[0]["id"] == pair[1]["id"]:
            continue
        retained = min(pair, key=lambda row: (row["decided_at"] is None, row["created_at"], row["id"]))
        for side, row in zip(sides, pair, strict=True):
            if row is not retained:
                del side["reviews"][row["id"],]
                sources = side.get("review_sources", {})
                side["review_sources"] = {key: source for key, source in sources.items() if key[0] != row["id"]}
                for feedback in side.get("feedback", {}).values():
                    feedback["review_id"] = (
                        retained["id"] if feedback["review_id"] == row["id"] else feedback["review_id"]
                    )


def _choose_threads(sides: tuple[Rows, Rows]) -> None:
    """Keep the side that went further with a thread that continued on both sides."""
    thread_ids = [
        {row[column] for table, column in _THREAD_COLUMNS.items() for row in side.get(table, {}).values()}
        for side in sides
    ]
    for thread in thread_ids[0] & thread_ids[1]:
        progress = [_progress_of(side, thread) for side in sides]
        loser = sides[0] if progress[0] < progress[1] else sides[1]
        for table, column in _THREAD_COLUMNS.items():
            loser[table] = {key: row for key, row in loser.get(table, {}).items() if row[column] != thread}


def _progress_of(side: Rows, thread: str) -> tuple[int, int, str]:
    row = side.get("threads", {}).get((thread,))
    states = [line(state) for state in side.get("states", {}).values() if state["thread_id"] == thread]
    return (row["state_number"], row["last_event"], line(row)) if row else (0, 0, max(states, default=""))


def _chooser(table: str) -> Callable[[RowDict, RowDict], RowDict]:
    if table == "sessions":
        return _session
    if table == "usage":
        return lambda ours, theirs: {name: max(ours[name], theirs[name]) for name in ours}
    if table == "document_sources":
        return _source
    if table == "fact_statements":
        return merge_statement
    column = next(declared.later for declared in declared_tables() if declared.name == table)
    return lambda ours, theirs: dict(max(ours, theirs, key=lambda row: (row.get(column) or 0, line(row))))


def _source(ours: RowDict, theirs: RowDict) -> RowDict:
    """Merge two rows of a document source: the later last version wins."""
    last = [row["last_version"] for row in (ours, theirs)]
    return {**ours, "last_version": None if None in last else max(last)}


def _session(ours: RowDict, theirs: RowDict) -> RowDict:
    """Merge two rows of a session: an end on either side counts, and so does the furthest learning progress."""
    further = max(ours, theirs, key=lambda row: (row["last_number"], row["processed_until"] or 0, line(row)))
    ended = [row for row in (ours, theirs) if row["ended_at"] is not None]
    first = min(ended, key=lambda row: (row["ended_at"], line(row)), default=further)
    processed = max(
        (row["processed_until"] for row in (ours, theirs) if row["processed_until"] is not None), default=None
    )
    marks = [
        row for row in (ours, theirs) if row["invalidated_at"] is not None and row["invalidated_at"] > (processed or 0)
    ]
    mark = max(marks, key=lambda row: (row["invalidated_at"], line(row)), default=None)
    session = {
        **further,
        "ended_at": first["ended_at"],
        "end_reason": first["end_reason"],
        "processed_until": processed,
    }
    session |= {name: mark[name] if mark else None for name in ("invalidated_at", "marked_at", "marked_by")}
    return {**session, "rests": mark["rests"] if mark else 0}


def _settle_sessions(result: Rows) -> None:
    """Number the sessions of each conversation by start time, and leave at most the last one open."""
    by_conversation: dict[str, list[RowDict]] = defaultdict(list)
    for row in result["sessions"].values():
        by_conversation[row["conversation_id"]].append(row)
    for rows in by_conversation.values():
        rows.sort(key=lambda row: (row["ordinal"], row["created_at"], row["id"]))
        for before, row in pairwise(rows):
            row["ordinal"] = max(row["ordinal"], before["ordinal"] + 1)
        still_open = [row for row in rows if row["ended_at"] is None]
        for row in still_open[:-1]:
            row["ended_at"], row["end_reason"] = max(row["created_at"], still_open[-1]["created_at"]), "closed"


def _settle_threads(result: Rows) -> None:
    """Assign a session to the older of two threads."""
    by_session: dict[str, RowDict] = {}
    for row in sorted(result["threads"].values(), key=lambda row: (row["created_at"], row["id"])):
        if row["session_id"] is not None and by_session.setdefault(row["session_id"], row) is not row:
            row["session_id"] = None
