"""Finds memories that share words with a question, and reads the texts of candidates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.model.facts import Fact, SourceMessage
from bethink.model.filters import Filter
from bethink.model.moments import Micros, from_micros, to_micros
from bethink.model.recall import Excerpt, Fate
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.store.candidates import BOUNDS, Bounds, candidates
from bethink.store.db import Row, Tx, until
from bethink.store.facts import fact_of
from bethink.store.terms import SEARCHED, read_space_index


class TermMatch(NamedTuple):
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
    """Whether it only repeats messages, as a session summary made without a model does."""
    tags: str = "[]"
    metadata: str = "{}"
    """As JSON, which is parsed only if it is shown."""
    row: Row | None = None
    """The row of a fact, which is parsed only if it is shown: most candidates never are."""

    def as_fact(self) -> Fact | None:
        """Return the fact, if this is one."""
        return self.fact if self.row is None else fact_of(self.row)


class TermMatches(list[TermMatch]):
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
) -> TermMatches:
    """Return memories that share the rarest terms with a question; `past` adds outdated ones, with their fate.

    In a space of a few hundred texts, these are all memories that share a term. In a larger one, only the rarest terms
    count, so that a search costs the same in a space of any size. `terms` has the weight of each term. With `only`,
    memories are chosen among those that match the filter.
    """
    result, kinds = TermMatches(), list(kinds)
    chosen = candidates(tx, space=space, stems=terms, as_of=as_of, kinds=kinds, only=only, bounds=bounds)
    if chosen is None:
        return result
    result.counts = chosen.counts
    judge = _Judge(tx, space, as_of)
    for kind in kinds:
        docs = chosen.of_kind(kind)
        parameters = {"space": space, "docs": docs, "at": judge.at, "now": judge.now, "past": int(past)}
        for row in tx.all(_MATCH[kind], **parameters) if docs else ():
            ref = Ref(kind, row["id"], row["number"])
            fate, cause = judge.fate_of(ref, row) if past else (None, None)
            result.append(
                TermMatch(
                    ref, row["role"], row["name"], row["origin"], row["at"], row["length"], chosen.hits(row),
                    bool(row["asks"]), fate, cause,
                )
            )  # fmt: skip
    return result


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
) -> list[TermMatch]:
    """Return the newest messages of a period, as matches without any of `width` words."""
    at, nothing = until(as_of), (0,) * width
    rows = tx.all("messages_between", only, space=space, start=start, end=end, at=at, limit=limit)
    return [
        TermMatch(
            Ref(RefKind.MESSAGE, row["id"], row["number"]), row["role"], row["name"], row["origin"], row["at"],
            min(row["length"], SEARCHED), nothing,
        )
        for row in rows
    ]  # fmt: skip


_MATCH = {
    RefKind.MESSAGE: "match_messages",
    RefKind.FACT: "match_facts",
    RefKind.SESSION_SUMMARY: "match_session_summaries",
    RefKind.DOCUMENT: "match_documents",
}


def texts(
    tx: Tx, *, space: str, refs: Iterable[Ref], as_of: datetime | None, only: Filter | None = None
) -> dict[Ref, Text]:
    """Return the texts of refs that exist and match a filter. Outdated ones have a fate."""
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in refs:
        by_kind.setdefault(ref.kind, []).append(ref)
    judge = _Judge(tx, space, as_of)
    result: dict[Ref, Text] = {}
    for kind, kind_refs in by_kind.items():
        query, parse = _READERS[kind]
        ids, numbers = [ref.id for ref in kind_refs], [ref.number for ref in kind_refs]
        for row in tx.all(query, only, space=space, at=judge.at, ids=ids, numbers=numbers):
            # A vector may refer to an outdated text, so every text that can end has its fate.
            text = parse(row)
            fate, cause = judge.fate_of(text.ref, row) if kind in _VERSIONED else (None, None)
            result[text.ref] = text if fate is None else text._replace(fate=fate, because_of=cause)
    return result


def has_content_by(tx: Tx, *, space: str, at: datetime) -> bool:
    """Return whether a space had any content by a time."""
    row = tx.first("anything_by", space=space, at=at)
    return row is not None and bool(row["known"])


def outdated_refs(tx: Tx, *, space: str, refs: Iterable[Ref], as_of: datetime | None) -> set[Ref]:
    """Return the refs that were not valid at a time: not yet stored, or no longer current."""
    judge = _Judge(tx, space, as_of)
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in refs:
        # Without a time, session summaries are always valid.
        if as_of is not None or ref.kind in _CAN_END:
            by_kind.setdefault(ref.kind, []).append(ref)
    return {
        Ref(kind, row["id"], row["number"])
        for kind, kind_refs in by_kind.items()
        for row in tx.all(
            _OUTDATED[kind],
            space=space, at=judge.at, now=judge.now, ids=[ref.id for ref in kind_refs],
            numbers=[ref.number for ref in kind_refs],
        )
    }  # fmt: skip


_VERSIONED = (RefKind.FACT, RefKind.DOCUMENT)
_CAN_END = (RefKind.MESSAGE, *_VERSIONED)
_OUTDATED = {
    RefKind.MESSAGE: "gone_messages",
    RefKind.FACT: "gone_facts",
    RefKind.SESSION_SUMMARY: "gone_session_summaries",
    RefKind.DOCUMENT: "gone_documents",
}


def excerpts(tx: Tx, *, space: str, fact_ids: list[str], as_of: datetime | None) -> dict[str, list[Excerpt]]:
    """Return the full source messages of some facts."""
    by_fact: dict[str, list[Excerpt]] = {}
    if not fact_ids:
        return by_fact
    for row in tx.all("sources_of_facts", space=space, ids=fact_ids, at=until(as_of)):
        by_fact.setdefault(row["fact_id"], []).append(
            Excerpt(
                source=SourceMessage(row["session_id"], row["number"]),
                text=row["content"],
                origin=Origin(row["origin"]),
                said_at=from_micros(row["said_at"]),
            )
        )
    return by_fact


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
    """Return facts from trusted origins: preferences first, then those that begin `soon`, then lasting ones."""
    now = tx.now if as_of is None else as_of
    begins = to_micros(now) + soon // timedelta(microseconds=1)
    rows = tx.all(
        "facts_for_context", only,
        space=space, at=until(as_of), now=now, soon=begins, origins=_TRUSTED_ORIGINS, directive=directive,
        health=_HEALTH,
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
    """Return session summaries, the most used and newest first.

    A model's summaries of sessions with text from tools or documents are omitted, because they may repeat that text.
    """
    rows = tx.all("session_summaries_for_context", only, space=space, at=until(as_of), limit=limit)
    generated = [row["id"] for row in rows if not row["quotes"]]
    mixed = tx.all("sessions_with_others", space=space, ids=generated, origins=_TRUSTED_ORIGINS) if generated else []
    omitted = {row["id"] for row in mixed}
    return [_session_summary(row) for row in rows if row["id"] not in omitted]


def leading_notes(
    tx: Tx, *, space: str, conversation: str, as_of: datetime | None, limit: int, only: Filter | None = None
) -> list[Text]:
    """Return an assistant's notes in its own conversation, the newest first, except those learned from."""
    rows = tx.all("notes_for_context", only, space=space, conversation=conversation, at=until(as_of), limit=limit)
    return [_message(row) for row in rows]


def leading_documents(
    tx: Tx, *, space: str, as_of: datetime | None, limit: int, only: Filter | None = None
) -> list[Text]:
    """Return paths, titles and descriptions of documents, the oldest first."""
    at = until(as_of)
    rows = tx.all("documents_for_context", only, space=space, at=at, origins=_TRUSTED_ORIGINS, limit=limit)
    ids = [row["id"] for row in rows]
    paths = {row["id"]: row["path"] for row in tx.all("paths_of_documents", space=space, ids=ids, at=at)} if ids else {}
    return [
        document._replace(text=f"~/{paths.get(document.ref.id, row['slug'])}: {document.text}")
        for row in rows
        for document in [_document(row)]
    ]


_HEALTH = '%"health"%'
"""Pattern for the flags of a fact about a person's health."""
_TRUSTED_ORIGINS = ["user", "assistant", "import"]
"""Trusted origins, the same as in `rules.vouched`."""


class Size(NamedTuple):
    """Approximate size of a space, for weighting words."""

    passages: int
    sessions: int


class Survey(NamedTuple):
    """Contents of a space: its size, kinds and speakers, and whether any of it was ever used."""

    size: Size
    kinds: frozenset[RefKind]
    speakers: Sequence[str]
    used: bool


def survey(tx: Tx, *, space: str) -> Survey:
    """Survey a space, so that recall does not search what does not exist."""
    row = tx.first("survey_space", space=space)
    if row is None:
        return Survey(size=Size(0, 0), kinds=frozenset(), speakers=(), used=False)
    return Survey(
        size=Size(read_space_index(row).last, row["sessions"]),
        kinds=frozenset(kind for kind, column in _COUNT_COLUMNS.items() if row[column]),
        speakers=speakers(tx, space=space) if row["messages"] else (),
        used=bool(row["used"]),
    )


_COUNT_COLUMNS = {
    RefKind.MESSAGE: "messages",
    RefKind.FACT: "facts",
    RefKind.SESSION_SUMMARY: "session_summaries",
    RefKind.DOCUMENT: "documents",
}


def speakers(tx: Tx, *, space: str) -> list[str]:
    """Return the names of the speakers in a space."""
    return [row["name"] for row in tx.all("list_speakers", space=space)]


class _Judge:
    """Determines the fate of a memory at a time, because a vector may refer to an outdated one."""

    def __init__(self, tx: Tx, space: str, as_of: datetime | None) -> None:
        self._tx = tx
        self._space = space
        self.at = until(as_of)
        self.now = to_micros(tx.now if as_of is None else as_of)

    def fate_of(self, ref: Ref, row: Row) -> tuple[Fate | None, Ref | None]:
        retired_at, ends = row.get("retired_at"), (row.get("valid_to"), row.get("expires_at"))
        if retired_at is not None and retired_at <= self.at:
            return Fate.SUPERSEDED, successor(self._tx, space=self._space, ref=ref, successor_id=row.get("retired_by"))
        if any(end is not None and end <= self.now for end in ends):
            return Fate.ENDED, None
        return None, None


def successor(tx: Tx, *, space: str, ref: Ref, successor_id: str | None) -> Ref | None:
    """Return the successor of a version of a fact: the next version, or the newest of the fact that replaced it."""
    if successor_id is None:
        return None
    if successor_id == ref.id:
        return Ref(RefKind.FACT, successor_id, ref.number + 1)
    last = tx.first("last_fact_version", space=space, id=successor_id)
    return None if last is None or last["version"] is None else Ref(RefKind.FACT, successor_id, last["version"])


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


def _session_summary(row: Row) -> Text:
    # The text below a summary repeats its lines in full, and need not be read twice.
    lines = {
        line.removeprefix("- "): line for line in f"{row['summary']}\n{row['raw_memory']}".splitlines() if line.strip()
    }
    text = "\n".join(lines.values())
    return Text(
        ref=Ref(RefKind.SESSION_SUMMARY, row["id"]), text=text, origin=Origin("memory"), at=row["at"], name=row["slug"],
        quotes=bool(row.get("quotes")), tags=row["tags"], metadata=row["metadata"],
    )  # fmt: skip


def _document(row: Row) -> Text:
    text = "\n".join(part for part in (row["title"], row["description"], row["body"]) if part.strip())
    return Text(
        ref=Ref(RefKind.DOCUMENT, row["id"], row["number"]), text=text, origin=Origin(row["origin"]),
        at=row["at"], name=row["slug"], tags=row["tags"], metadata=row["metadata"],
    )  # fmt: skip


_READERS: dict[RefKind, tuple[str, Callable[[Row], Text]]] = {
    RefKind.MESSAGE: ("read_messages_at", _message),
    RefKind.FACT: ("read_facts_at", _unread_fact),
    RefKind.SESSION_SUMMARY: ("read_session_summaries_at", _session_summary),
    RefKind.DOCUMENT: ("read_documents_at", _document),
}
