"""What two memories that differ become together: which row stands where both have one, and where the others go.

It sees only rows that differ. It is the same whichever memory is named first, and nothing that was said is lost:

- What two sides made under the same name (an agent, a conversation, a document in the same place) becomes one.
- What was said in the same session on both sides stands one after the other: the side that spoke first keeps its
  numbers, the messages of the other follow with new ones. One that a third memory brought has the number it got first.
- What was written on both sides (a fact, a document) becomes one history by time: the last version holds.
- Of everything else that has one value, the later holds. `docs/howto/archive.md` has the whole list.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bethink.memory.archive.histories import DOCUMENT, FACT, merge_histories, renumber
from bethink.memory.archive.reading import RowDict
from bethink.memory.archive.trees import keep_tree, unify_places
from bethink.model.text import canonical_json
from bethink.store.archived import Values, declared_tables, tables

Rows = dict[str, dict[Values, RowDict]]
"""Rows by their table and key."""

_OF_THREADS = {
    "threads": "id",
    "events": "thread_id",
    "chunks": "thread_id",
    "placements": "thread_id",
    "states": "thread_id",
}
_TAKEN_BACK = "retracted_at"
"""The one thing of a message that changes once it was said."""
_MESSAGE_REFS = {
    "fact_sources": ("session_id", "number"), "fact_quotes": ("session_id", "number"),
    "review_sources": ("session_id", "number"),
}  # fmt: skip


def line(row: RowDict | None) -> str:
    """Return a row as text, which decides where nothing else does."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def keyed(table: str, rows: Iterable[RowDict]) -> dict[Values, RowDict]:
    """Return rows by their key."""
    key_of = next(each for each in tables() if each.name == table).key_of
    return {key_of(row): row for row in rows}


def merged(first: Rows, second: Rows) -> Rows:
    """Return what stands in place of the rows that differ, on both sides."""
    sides = (_copy(first), _copy(second))
    _unify(sides, "agents", ("name",), _AGENT_REFS)
    _unify(sides, "conversations", ("agent_id", "key"), _CONVERSATION_REFS)
    unify_places(sides)
    _line_up_messages(sides)
    _free_keys(sides)
    _one_review_each(sides)
    _one_effect_each(sides)
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
    _settle_slots(result, sides)
    _settle_sessions(result)
    _settle_threads(result)
    keep_tree(result)
    return result


def _copy(side: Rows) -> Rows:
    return {table: {key: dict(row) for key, row in rows.items()} for table, rows in side.items()}


_AGENT_REFS = (("conversations", "agent_id"), ("sessions", "agent_id"), ("answers", "agent_id"))
_CONVERSATION_REFS = (
    ("summaries", "conversation_id"), ("sessions", "conversation_id"), ("threads", "conversation_id"),
)  # fmt: skip


def _unify(sides: tuple[Rows, Rows], table: str, by: tuple[str, ...], refs: tuple[tuple[str, str], ...]) -> None:
    """Give what both sides made under the same name one id: that of the older."""
    ours, theirs = ({tuple(row[name] for name in by): row for row in side.get(table, {}).values()} for side in sides)
    for name in ours.keys() & theirs.keys():
        pair = ours[name], theirs[name]
        if pair[0]["id"] == pair[1]["id"]:
            continue
        older = min(pair, key=lambda row: (row["created_at"], row["id"]))
        for side, row in zip(sides, pair, strict=True):
            if row is not older:
                _rename(side, row["id"], older["id"], refs)
                side[table] = keyed(table, [older if each is row else each for each in side[table].values()])


def _rename(side: Rows, old: str, new: str, refs: tuple[tuple[str, str], ...]) -> None:
    for table, column in refs:
        for row in side.get(table, {}).values():
            if row[column] == old:
                row[column] = new
        side[table] = keyed(table, side.get(table, {}).values())


def taken_back(first: Rows, second: Rows) -> tuple[list[RowDict], list[RowDict]]:
    """Return for each side the messages that it also has, and that the other side alone, or earlier, took back."""
    found: tuple[list[RowDict], list[RowDict]] = ([], [])
    ours, theirs = first.get("messages", {}), second.get("messages", {})
    for key in sorted(ours.keys() & theirs.keys()):
        pair = ours[key], theirs[key]
        if {**pair[0], _TAKEN_BACK: None} == {**pair[1], _TAKEN_BACK: None}:
            early = min((row for row in pair if row[_TAKEN_BACK] is not None), key=lambda row: row[_TAKEN_BACK])
            found[0 if early is pair[1] else 1].append(early)
    return found


def _line_up_messages(sides: tuple[Rows, Rows]) -> None:
    """Let messages that have the same number in the same session follow one another. Erased ones keep their numbers."""
    every = [_by_session(side) for side in sides]
    for session in sorted({*every[0], *every[1]}):
        blocks = [each.get(session, {}) for each in every]
        late = _late(sides, blocks, session)
        if late is None:
            continue
        rows = [side["sessions"][session,] for side in sides]
        top = max(row["last_number"] for row in rows)
        numbers = _new_numbers(blocks[late], blocks[1 - late], top)
        _renumber_messages(sides[late], session, numbers)
        # What follows is learnt from once more: the side that spoke first has not learnt from it.
        ended = [row for row in rows if row["ended_at"] is not None]
        first = min(ended, key=lambda row: (row["ended_at"], line(row)), default=rows[1 - late])
        for side in sides:
            side["sessions"][session,] = {
                **rows[1 - late],
                "last_number": max(top, *numbers.values()),
                "ended_at": first["ended_at"],
                "end_reason": first["end_reason"],
            }


def _late(sides: tuple[Rows, Rows], blocks: Sequence[Mapping[Values, RowDict]], session: str) -> int | None:
    """Return the side whose messages in a session get new numbers: the one that spoke last, or None if no two collide.

    A number that the other side has given out and holds no message of was that of an erased one.
    """
    given = [side.get("sessions", {}).get((session,), {}).get("last_number", 0) for side in sides]
    erased = [any(key[1] <= given[1 - at] and key not in blocks[1 - at] for key in blocks[at]) for at in (0, 1)]
    if erased[0] != erased[1]:
        return erased.index(True)
    same = {_said(row) for row in blocks[0].values()} & {_said(row) for row in blocks[1].values()}
    if not erased[0] and not same and blocks[0].keys().isdisjoint(blocks[1]):
        return None
    firsts = [block[min(block)] for block in blocks]
    return 0 if (firsts[0]["recorded_at"], line(firsts[0])) > (firsts[1]["recorded_at"], line(firsts[1])) else 1


def _by_session(side: Rows) -> dict[Any, dict[Values, RowDict]]:
    """Return the messages of each session, in the order of their numbers."""
    found: dict[Any, dict[Values, RowDict]] = {}
    for key, row in sorted(side.get("messages", {}).items()):
        found.setdefault(key[0], {})[key] = row
    return found


def _said(row: RowDict) -> tuple[Any, ...]:
    """Return what a message is known by, whatever number it got elsewhere."""
    return tuple(row[name] for name in ("recorded_at", "said_at", "role", "name", "content"))


def _new_numbers(late: Mapping[Values, RowDict], others: Mapping[Values, RowDict], top: int) -> dict[int, int]:
    """Return the numbers of messages that come late: that of the same message on the other side, or the next one."""
    there: dict[tuple[Any, ...], list[int]] = {}
    for row in others.values():
        there.setdefault(_said(row), []).append(row["number"])
    numbers: dict[int, int] = {}
    for row in late.values():
        same = there.get(_said(row))
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
            row["claim"] = canonical_json(_told(json.loads(row["claim"]), session, numbers))
    for table in ("messages", *_MESSAGE_REFS):
        side[table] = keyed(table, side.get(table, {}).values())


def _told(value: Any, session: str, numbers: Mapping[int, int]) -> Any:
    """Return the claim of a review with the new numbers of the messages that it quotes."""
    if isinstance(value, list):
        return [_told(each, session, numbers) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {name: _told(each, session, numbers) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if found.get("session_id") == session and found.get("number") in numbers:
        found["number"] = numbers[found["number"]]
    return found


def _free_keys(sides: tuple[Rows, Rows]) -> None:
    """Let the first of two messages with the same idempotency key have it."""
    ours, theirs = (
        {row["idempotency_key"]: row for row in side.get("messages", {}).values() if row["idempotency_key"]}
        for side in sides
    )
    for key in ours.keys() & theirs.keys():
        pair = ours[key], theirs[key]
        if (pair[0]["session_id"], pair[0]["number"]) != (pair[1]["session_id"], pair[1]["number"]):
            max(pair, key=lambda row: (row["recorded_at"], line(row)))["idempotency_key"] = None


def _one_review_each(sides: tuple[Rows, Rows]) -> None:
    """Keep one of two reviews of the same claim: the one that was decided, or else the older."""
    ours, theirs = ({row["effect"]: row for row in side.get("reviews", {}).values()} for side in sides)
    for effect in ours.keys() & theirs.keys():
        pair = ours[effect], theirs[effect]
        if pair[0]["id"] == pair[1]["id"]:
            continue
        kept = min(pair, key=lambda row: (row["decided_at"] is None, row["created_at"], row["id"]))
        for side, row in zip(sides, pair, strict=True):
            if row is not kept:
                del side["reviews"][row["id"],]
                sources = side.get("review_sources", {})
                side["review_sources"] = {key: each for key, each in sources.items() if key[0] != row["id"]}
                for said in side.get("feedback", {}).values():
                    said["review_id"] = kept["id"] if said["review_id"] == row["id"] else said["review_id"]


def _one_effect_each(sides: tuple[Rows, Rows]) -> None:
    """Let what was learnt first stand where both sides have learnt from the same messages."""
    ours, theirs = ({row["effect"]: row for row in side.get("facts", {}).values() if row["effect"]} for side in sides)
    for effect in ours.keys() & theirs.keys():
        pair = ours[effect], theirs[effect]
        if pair[0]["id"] == pair[1]["id"]:
            continue
        first = min(pair, key=lambda row: (row["recorded_at"], row["id"]))
        for side, row in zip(sides, pair, strict=True):
            if row is first:
                continue
            row["effect"] = f"{effect}~{row['id']}"
            for each in side["facts"].values():
                if each["id"] == row["id"] and each["retired_at"] is None:
                    each["retired_at"], each["retired_by"] = each["recorded_at"], first["id"]
            for quote in side.get("fact_quotes", {}).values():
                if quote["fact_id"] == row["id"] and quote["support"] == effect:
                    quote["support"] = row["effect"]
            side["fact_quotes"] = keyed("fact_quotes", side.get("fact_quotes", {}).values())


def _choose_threads(sides: tuple[Rows, Rows]) -> None:
    """Of a thread that went on on both sides, keep the side that went further."""
    found = [
        {row[column] for table, column in _OF_THREADS.items() for row in side.get(table, {}).values()} for side in sides
    ]
    for thread in found[0] & found[1]:
        reached = [_reached(side, thread) for side in sides]
        loser = sides[0] if reached[0] < reached[1] else sides[1]
        for table, column in _OF_THREADS.items():
            loser[table] = {key: row for key, row in loser.get(table, {}).items() if row[column] != thread}


def _reached(side: Rows, thread: str) -> tuple[int, int, str]:
    row = side.get("threads", {}).get((thread,))
    states = [line(each) for each in side.get("states", {}).values() if each["thread_id"] == thread]
    return (row["state_number"], row["last_event"], line(row)) if row else (0, 0, max(states, default=""))


def _chooser(table: str) -> Callable[[RowDict, RowDict], RowDict]:
    if table == "sessions":
        return _session
    if table == "usage":
        return lambda ours, theirs: {name: max(ours[name], theirs[name]) for name in ours}
    if table == "document_sources":
        return _source
    column = next(declared.later for declared in declared_tables() if declared.name == table)
    return lambda ours, theirs: dict(max(ours, theirs, key=lambda row: (row.get(column) or 0, line(row))))


def _source(ours: RowDict, theirs: RowDict) -> RowDict:
    """What one side says a document rests on to a later version, it rests on."""
    last = [row["last_version"] for row in (ours, theirs)]
    return {**ours, "last_version": None if None in last else max(last)}


def _session(ours: RowDict, theirs: RowDict) -> RowDict:
    """A session that one side has ended has ended; it was learnt from as far as the side that has gone further."""
    further = max(ours, theirs, key=lambda row: (row["last_number"], row["processed_until"] or 0, line(row)))
    ended = [row for row in (ours, theirs) if row["ended_at"] is not None]
    first = min(ended, key=lambda row: (row["ended_at"], line(row)), default=further)
    learnt = max((row["processed_until"] for row in (ours, theirs) if row["processed_until"] is not None), default=None)
    marks = [
        row for row in (ours, theirs) if row["invalidated_at"] is not None and row["invalidated_at"] > (learnt or 0)
    ]
    mark = max(marks, key=lambda row: (row["invalidated_at"], line(row)), default=None)
    found = {**further, "ended_at": first["ended_at"], "end_reason": first["end_reason"], "processed_until": learnt}
    found |= {name: mark[name] if mark else None for name in ("invalidated_at", "marked_at", "marked_by")}
    return {**found, "rests": mark["rests"] if mark else 0}


def _settle_slots(result: Rows, sides: tuple[Rows, Rows]) -> None:
    """Of two facts that fill the same slot, one from each side, let the newer hold."""
    of: dict[tuple[str, str], list[RowDict]] = defaultdict(list)
    for row in result["facts"].values():
        if row["slot"] is not None and row["retired_at"] is None and row["valid_to"] is None:
            of[row["subject"] or "", row["slot"]].append(row)
    for rivals in of.values():
        newest = max(rivals, key=lambda row: (row["recorded_at"], row["id"]))
        home = [{key[0] for key in side.get("facts", {})} for side in sides]
        for row in rivals:
            together = any(row["id"] in ids and newest["id"] in ids for ids in home)
            if row is not newest and not together:
                row["retired_at"], row["retired_by"] = newest["recorded_at"], newest["id"]


def _settle_sessions(result: Rows) -> None:
    """Number the sessions of each conversation by when they began, and leave at most the last one open."""
    of: dict[str, list[RowDict]] = defaultdict(list)
    for row in result["sessions"].values():
        of[row["conversation_id"]].append(row)
    for rows in of.values():
        rows.sort(key=lambda row: (row["ordinal"], row["created_at"], row["id"]))
        for before, row in pairwise(rows):
            row["ordinal"] = max(row["ordinal"], before["ordinal"] + 1)
        still_open = [row for row in rows if row["ended_at"] is None]
        for row in still_open[:-1]:
            row["ended_at"], row["end_reason"] = max(row["created_at"], still_open[-1]["created_at"]), "closed"


def _settle_threads(result: Rows) -> None:
    """Leave a session to the older of two threads."""
    seen: dict[str, RowDict] = {}
    for row in sorted(result["threads"].values(), key=lambda row: (row["created_at"], row["id"])):
        if row["session_id"] is not None and seen.setdefault(row["session_id"], row) is not row:
            row["session_id"] = None
