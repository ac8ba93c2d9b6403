"""Finds what shares words with a question, counts the words, and reads the texts of chosen candidates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.model.facts import Fact, SourceMessage
from bethink.model.filters import Filter
from bethink.model.moments import Micros, from_micros, to_micros
from bethink.model.recall import Excerpt, Fate, Ref, RefKind
from bethink.model.records import Origin
from bethink.store.candidates import BOUNDS, Bounds, candidates
from bethink.store.db import Row, Tx, until
from bethink.store.facts import fact_of
from bethink.store.terms import SEARCHED, place_from


class Match(NamedTuple):
    """A memory that shares words with a question: how often each word occurs, in the order of the question."""

    ref: Ref
    role: str | None
    name: str | None
    origin: str
    at: Micros
    length: int
    hits: tuple[int, ...]
    asks: bool = False
    fate: Fate | None = None
    because_of: Ref | None = None


class Text(NamedTuple):
    """The full text of a candidate."""

    ref: Ref
    text: str
    origin: Origin
    at: Micros
    role: str | None = None
    name: str | None = None
    fact: Fact | None = None
    fate: Fate | None = None
    because_of: Ref | None = None
    quotes: bool = False
    """Whether it only repeats messages, as a session memory made without a model does."""
    tags: str = "[]"
    metadata: str = "{}"
    """As JSON, which is read only if it is shown."""
    row: Row | None = None
    """The row of a fact, which is read only if it is shown: most candidates never are."""

    def as_fact(self) -> Fact | None:
        """Return the fact, if this is one."""
        return self.fact if self.row is None else fact_of(self.row)


class Matches(list[Match]):
    """The matches of a question, in the order of the index."""

    counts: tuple[int, ...] = ()
    """How many texts of the space have each term, whether they are among the matches or not."""


def matches(
    tx: Tx,
    *,
    space: str,
    terms: Mapping[str, float],
    as_of: datetime | None,
    kinds: Iterable[RefKind],
    past: bool = False,
    only: Filter | None = None,
    bounds: Bounds = BOUNDS,
) -> Matches:
    """Return what shares the rarest terms with a question; `past` includes what no longer held, marked as such.

    In a space of a few hundred texts that is everything that shares a term. In a larger one it is what shares the
    rarest terms, so that a search costs the same in a space of any size; each term comes with how much it counts for
    that. With `only`, it is chosen among what fits.
    """
    found, kinds = Matches(), list(kinds)
    chosen = candidates(tx, space=space, stems=terms, as_of=as_of, kinds=kinds, only=only, bounds=bounds)
    if chosen is None:
        return found
    found.counts = chosen.counts
    judge = _Judge(tx, space, as_of)
    for kind in kinds:
        docs = chosen.of_kind(kind)
        given = {"space": space, "docs": docs, "at": judge.at, "now": judge.now, "past": int(past)}
        for row in tx.all(_MATCH[kind], **given) if docs else ():
            ref = Ref(kind, row["id"], row["number"])
            fate, by = judge.fate_of(ref, row) if past else (None, None)
            found.append(
                Match(
                    ref, row["role"], row["name"], row["origin"], row["at"], row["length"], chosen.hits(row),
                    bool(row["asks"]), fate, by,
                )
            )  # fmt: skip
    return found


def said_between(
    tx: Tx,
    *,
    space: str,
    start: Micros,
    end: Micros,
    as_of: datetime | None,
    width: int,
    limit: int,
    only: Filter | None = None,
) -> list[Match]:
    """Return the newest messages of a period, as matches without any of `width` words."""
    at, nothing = until(as_of), (0,) * width
    rows = tx.all("messages_between", only, space=space, start=start, end=end, at=at, limit=limit)
    return [
        Match(
            Ref(RefKind.MESSAGE, row["id"], row["number"]), row["role"], row["name"], row["origin"], row["at"],
            min(row["length"], SEARCHED), nothing,
        )
        for row in rows
    ]  # fmt: skip


_MATCH = {
    RefKind.MESSAGE: "match_messages",
    RefKind.FACT: "match_facts",
    RefKind.SESSION_MEMORY: "match_session_memories",
    RefKind.DOCUMENT: "match_documents",
}


def texts(
    tx: Tx, *, space: str, refs: Iterable[Ref], as_of: datetime | None, only: Filter | None = None
) -> dict[Ref, Text]:
    """Return the texts of some refs that exist and fit a filter; the fate says if one no longer held."""
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in refs:
        by_kind.setdefault(ref.kind, []).append(ref)
    judge = _Judge(tx, space, as_of)
    found: dict[Ref, Text] = {}
    for kind, wanted in by_kind.items():
        query, read = _READ[kind]
        ids, numbers = [ref.id for ref in wanted], [ref.number for ref in wanted]
        for row in tx.all(query, only, space=space, at=judge.at, ids=ids, numbers=numbers):
            # A vector may refer to what no longer held at that time, so every text that can end carries its fate.
            text = read(row)
            fate, by = judge.fate_of(text.ref, row) if kind in _VERSIONED else (None, None)
            found[text.ref] = text if fate is None else text._replace(fate=fate, because_of=by)
    return found


def anything_by(tx: Tx, *, space: str, at: datetime) -> bool:
    """Return whether anything was said, known or made in a space by a time."""
    row = tx.one("anything_by", space=space, at=at)
    return row is not None and bool(row["known"])


def gone(tx: Tx, *, space: str, refs: Iterable[Ref], as_of: datetime | None) -> set[Ref]:
    """Return those refs that did not hold at a time: not yet said, known or made, or no longer so."""
    judge = _Judge(tx, space, as_of)
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in refs:
        # Without a time, session memories always hold.
        if as_of is not None or ref.kind in _CAN_END:
            by_kind.setdefault(ref.kind, []).append(ref)
    return {
        Ref(kind, row["id"], row["number"])
        for kind, asked in by_kind.items()
        for row in tx.all(
            _GONE[kind],
            space=space, at=judge.at, now=judge.now, ids=[ref.id for ref in asked],
            numbers=[ref.number for ref in asked],
        )
    }  # fmt: skip


_VERSIONED = (RefKind.FACT, RefKind.DOCUMENT)
_CAN_END = (RefKind.MESSAGE, *_VERSIONED)
_GONE = {
    RefKind.MESSAGE: "gone_messages",
    RefKind.FACT: "gone_facts",
    RefKind.SESSION_MEMORY: "gone_session_memories",
    RefKind.DOCUMENT: "gone_documents",
}


def excerpts(tx: Tx, *, space: str, fact_ids: list[str], as_of: datetime | None) -> dict[str, list[Excerpt]]:
    """Return the messages that some facts rest on, uncut."""
    found: dict[str, list[Excerpt]] = {}
    if not fact_ids:
        return found
    for row in tx.all("sources_of_facts", space=space, ids=fact_ids, at=until(as_of)):
        found.setdefault(row["fact_id"], []).append(
            Excerpt(
                source=SourceMessage(row["session_id"], row["number"]),
                text=row["content"],
                origin=Origin(row["origin"]),
                said_at=from_micros(row["said_at"]),
            )
        )
    return found


def leading_facts(
    tx: Tx,
    *,
    space: str,
    as_of: datetime | None,
    directive: list[str],
    soon: timedelta,
    limit: int,
    only: Filter | None = None,
) -> list[Text]:
    """Return the facts that somebody vouches for: wishes first, then what begins `soon`, then what lasts."""
    now = tx.now if as_of is None else as_of
    begins = to_micros(now) + soon // timedelta(microseconds=1)
    rows = tx.all(
        "facts_for_context", only,
        space=space, at=until(as_of), now=now, soon=begins, origins=_VOUCHED, directive=directive, health=_HEALTH,
        limit=limit,
    )  # fmt: skip
    return [_fact(row) for row in rows]


def pinned_facts(
    tx: Tx, *, space: str, as_of: datetime | None, limit: int, only: Filter | None = None
) -> list[Text]:  # fmt: skip
    """Return the facts that were pinned at a time, in the order they were pinned."""
    now = tx.now if as_of is None else as_of
    rows = tx.all("pinned_facts", only, space=space, at=until(as_of), now=now, limit=limit)
    return [_fact(row) for row in rows]


def leading_sessions(
    tx: Tx, *, space: str, as_of: datetime | None, limit: int, only: Filter | None = None
) -> list[Text]:
    """Return notes on sessions, the most used and newest first.

    Notes that a model made of a session in which a tool or a document spoke are left out: they may repeat its words.
    """
    rows = tx.all("session_memories_for_context", only, space=space, at=until(as_of), limit=limit)
    made = [row["id"] for row in rows if not row["quotes"]]
    mixed = tx.all("sessions_with_others", space=space, ids=made, origins=_VOUCHED) if made else []
    left_out = {row["id"] for row in mixed}
    return [_session_memory(row) for row in rows if row["id"] not in left_out]


def leading_notes(
    tx: Tx, *, space: str, conversation: str, as_of: datetime | None, limit: int, only: Filter | None = None
) -> list[Text]:
    """Return what an assistant noted in a conversation of its own, the newest first, except what was learnt from."""
    rows = tx.all("notes_for_context", only, space=space, conversation=conversation, at=until(as_of), limit=limit)
    return [_message(row) for row in rows]


def leading_documents(
    tx: Tx, *, space: str, as_of: datetime | None, limit: int, only: Filter | None = None
) -> list[Text]:
    """Return paths, titles and descriptions of documents, the oldest first."""
    at = until(as_of)
    rows = tx.all("documents_for_context", only, space=space, at=at, origins=_VOUCHED, limit=limit)
    ids = [row["id"] for row in rows]
    paths = {row["id"]: row["path"] for row in tx.all("paths_of_documents", space=space, ids=ids, at=at)} if ids else {}
    return [
        found._replace(text=f"~/{paths.get(found.ref.id, row['slug'])}: {found.text}")
        for row in rows
        for found in [_document(row)]
    ]


_HEALTH = '%"health"%'
"""What the flags of a fact look like that concerns somebody's health."""
_VOUCHED = ["user", "assistant", "import"]
"""The origins that somebody stands behind, as `rules.vouched` has it."""


class Size(NamedTuple):
    """How much a space holds, approximately, for weighting words."""

    passages: int
    sessions: int


class Survey(NamedTuple):
    """What a space holds: how much, of which kinds, said by whom, and whether any of it was ever used."""

    size: Size
    kinds: frozenset[RefKind]
    speakers: Sequence[str]
    used: bool


def survey(tx: Tx, *, space: str) -> Survey:
    """Survey a space, so that recall does not search what does not exist."""
    row = tx.one("survey_space", space=space)
    if row is None:
        return Survey(size=Size(0, 0), kinds=frozenset(), speakers=(), used=False)
    return Survey(
        size=Size(place_from(row).last, row["sessions"]),
        kinds=frozenset(kind for kind, column in _HELD.items() if row[column]),
        speakers=speakers(tx, space=space) if row["messages"] else (),
        used=bool(row["used"]),
    )


_HELD = {
    RefKind.MESSAGE: "messages",
    RefKind.FACT: "facts",
    RefKind.SESSION_MEMORY: "session_memories",
    RefKind.DOCUMENT: "documents",
}


def speakers(tx: Tx, *, space: str) -> list[str]:
    """Return the names of the speakers in a space."""
    return [row["name"] for row in tx.all("list_speakers", space=space)]


class _Judge:
    """Returns the fate of a memory at a time: a vector may refer to what no longer held then."""

    def __init__(self, tx: Tx, space: str, as_of: datetime | None) -> None:
        self._tx = tx
        self._space = space
        self.at = until(as_of)
        self.now = to_micros(tx.now if as_of is None else as_of)

    def fate_of(self, ref: Ref, row: Row) -> tuple[Fate | None, Ref | None]:
        retired_at, ends = row.get("retired_at"), (row.get("valid_to"), row.get("expires_at"))
        if retired_at is not None and retired_at <= self.at:
            return Fate.SUPERSEDED, successor(self._tx, space=self._space, ref=ref, by=row.get("retired_by"))
        if any(end is not None and end <= self.now for end in ends):
            return Fate.ENDED, None
        return None, None


def successor(tx: Tx, *, space: str, ref: Ref, by: str | None) -> Ref | None:
    """Return the successor of a version of a fact: the next version, or the newest of the fact that retired it."""
    if by is None:
        return None
    if by == ref.id:
        return Ref(RefKind.FACT, by, ref.number + 1)
    last = tx.one("last_fact_version", space=space, id=by)
    return None if last is None or last["version"] is None else Ref(RefKind.FACT, by, last["version"])


def _message(row: Row) -> Text:
    return Text(
        ref=Ref(RefKind.MESSAGE, row["id"], row["number"]), text=row["content"], origin=Origin(row["origin"]),
        at=row["at"], role=row["role"], name=row["name"], tags=row["tags"], metadata=row["metadata"],
    )  # fmt: skip


def _fact(row: Row) -> Text:
    return _unread_fact(row)._replace(fact=fact_of(row), row=None)


def _unread_fact(row: Row) -> Text:
    return Text(
        ref=Ref(RefKind.FACT, row["id"], row["version"]), text=row["content"], origin=Origin(row["origin"]),
        at=row["created_at"], role=row["kind"], name=row["subject"], tags=row["tags"], metadata=row["metadata"],
        row=row,
    )  # fmt: skip


def _session_memory(row: Row) -> Text:
    # What a summary says is said again in full below it, and need not be read twice.
    lines = {
        line.removeprefix("- "): line for line in f"{row['summary']}\n{row['raw_memory']}".splitlines() if line.strip()
    }
    text = "\n".join(lines.values())
    return Text(
        ref=Ref(RefKind.SESSION_MEMORY, row["id"]), text=text, origin=Origin("memory"), at=row["at"], name=row["slug"],
        quotes=bool(row.get("quotes")), tags=row["tags"], metadata=row["metadata"],
    )  # fmt: skip


def _document(row: Row) -> Text:
    text = "\n".join(part for part in (row["title"], row["description"], row["body"]) if part.strip())
    return Text(
        ref=Ref(RefKind.DOCUMENT, row["id"], row["number"]), text=text, origin=Origin(row["origin"]),
        at=row["at"], name=row["slug"], tags=row["tags"], metadata=row["metadata"],
    )  # fmt: skip


_READ: dict[RefKind, tuple[str, Callable[[Row], Text]]] = {
    RefKind.MESSAGE: ("read_messages_at", _message),
    RefKind.FACT: ("read_facts_at", _unread_fact),
    RefKind.SESSION_MEMORY: ("read_session_memories_at", _session_memory),
    RefKind.DOCUMENT: ("read_documents_at", _document),
}
