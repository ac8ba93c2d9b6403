"""Finds memories that share words with a question, and reads the texts of candidates."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.model.facts import Fact, SourceMessage
from bethink.model.filters import Filter
from bethink.model.moments import EPOCH, Micros, from_micros, to_micros
from bethink.model.recall import Excerpt, Fate
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store import hidden, marks
from bethink.store.candidates import BOUNDS, Bounds, candidates
from bethink.store.db import Row, Tx
from bethink.store.facts import fact_of, facts_of
from bethink.store.fates import FateJudge, bounds_of
from bethink.store.marks import Mark, MarkKind
from bethink.store.terms import SEARCHED, read_space_index
from bethink.store.views import in_view, is_lasting


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
    now: Micros = Micros(0)
    """When it was read."""
    corrections: tuple[Mark, ...] = ()
    """The spans of a message that a later one corrected."""

    def as_fact(self) -> Fact | None:
        """Return the fact, if this is one."""
        return self.fact if self.row is None else fact_of(self.row, self.now)


class TermMatches(list[TermMatch]):
    """The matches of a question, in the order of the index."""

    counts: tuple[int, ...] = ()
    """How many texts of the space have each term, whether they are among the matches or not."""


def matches(
    tx: Tx,
    *,
    space: str,
    terms: Mapping[str, float],
    view: TimeView,
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
    chosen = candidates(tx, space=space, stems=terms, view=view, kinds=kinds, only=only, bounds=bounds)
    if chosen is None:
        return result
    result.counts = chosen.counts
    for kind in kinds:
        docs = chosen.of_kind(kind)
        # Whether a fact was current in another view is computed, not selected.
        is_computed = kind is RefKind.FACT and not view.is_now
        parameters = {**bounds_of(tx, kind, view), "docs": docs, "past": int(past)}
        rows = tx.all(_MATCH[kind], space=space, **parameters) if docs else []
        judge = FateJudge(tx, space, view, {row["id"] for row in rows} if is_computed else ())
        for row in rows:
            ref = Ref(kind, row["id"], row["number"])
            if is_computed and not judge.was_said(ref.id):
                continue
            fate, cause = judge.fate_of(ref, row) if past or is_computed else (None, None)
            if fate is not None and not past:
                continue
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
    view: TimeView,
    width: int,
    limit: int,
    only: Filter | None = None,
) -> list[TermMatch]:
    """Return the newest messages of a period, as matches without any of `width` words."""
    nothing = (0,) * width
    bounds = bounds_of(tx, RefKind.MESSAGE, view)
    rows = tx.all("messages_between", only, space=space, start=start, end=end, limit=limit, **bounds)
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


def texts(tx: Tx, *, space: str, refs: Iterable[Ref], view: TimeView, only: Filter | None = None) -> dict[Ref, Text]:
    """Return the texts of refs that exist and match a filter. Outdated ones have a fate."""
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in refs:
        by_kind.setdefault(ref.kind, []).append(ref)
    now = to_micros(tx.now)
    result: dict[Ref, Text] = {}
    for kind, kind_refs in by_kind.items():
        query, parse = _READERS[kind]
        ids, numbers = [ref.id for ref in kind_refs], [ref.number for ref in kind_refs]
        rows = tx.all(query, only, space=space, ids=ids, numbers=numbers, **bounds_of(tx, kind, view))
        judge = FateJudge(tx, space, view, ids if kind is RefKind.FACT and not view.is_now else ())
        for row in rows:
            # A vector may refer to an outdated text, so every text that can end has its fate.
            text = parse(row)
            if kind in _VERSIONED:
                fate, cause = judge.fate_of(text.ref, row)
                text = text._replace(fate=fate, because_of=cause, now=now)
            result[text.ref] = text
    result = _visible(tx, result, space=space, view=view)
    return result if view.is_now else _in_view(tx, result, space=space, view=view)


def _visible(tx: Tx, texts: dict[Ref, Text], *, space: str, view: TimeView) -> dict[Ref, Text]:
    """Return texts without the words that a person asked to forget. Messages know what was corrected in them."""
    messages = {SourceMessage(ref.id, ref.number): ref for ref in texts if ref.kind is RefKind.MESSAGE}
    result = dict(texts)
    for message, message_marks in marks.of_messages(tx, space, messages, view).items():
        ref = messages[message]
        text = marks.visible_text(texts[ref].text, message_marks)
        corrections = tuple(mark for mark in message_marks if mark.kind is MarkKind.CORRECTED)
        result[ref] = texts[ref]._replace(text=text, corrections=corrections)
    derived = {ref: text for ref, text in texts.items() if ref.kind is RefKind.DOCUMENT and text.role}
    if derived:
        words = hidden.of_space(tx, space=space)
        result |= {
            ref: text._replace(text=words.visible(text.text, written_at=text.at)) for ref, text in derived.items()
        }
    # A text of which nothing remains says nothing.
    return {ref: text for ref, text in result.items() if text.text or not texts[ref].text}


def _in_view(tx: Tx, texts: dict[Ref, Text], *, space: str, view: TimeView) -> dict[Ref, Text]:
    """Return texts with the facts as they were in a view, without those that had not been said."""
    facts = [fact for text in texts.values() if (fact := text.as_fact()) is not None]
    listed = {fact.ref: fact for fact in in_view(tx, facts, space=space, view=view)}
    older = {ref for ref, text in texts.items() if text.row is not None and not text.row["is_newest"]}
    listed |= {fact.ref: fact for fact in facts if fact.ref in older.intersection(listed)}
    return {
        ref: text._replace(fact=listed[ref], row=None, at=_said_at(listed[ref])) if ref in listed else text
        for ref, text in texts.items()
        if ref.kind is not RefKind.FACT or ref in listed
    }


def _said_at(fact: Fact) -> Micros:
    return to_micros(fact.created_at or EPOCH)


def newest_facts(tx: Tx, *, space: str, fact_ids: Collection[str], view: TimeView) -> dict[str, Text]:
    """Return the newest versions of some facts in a view, by their ids."""
    rows = tx.all("newest_versions", space=space, ids=sorted(fact_ids), said=view.said_until, known=view.known_until)
    refs = [Ref(RefKind.FACT, row["id"], row["version"]) for row in rows]
    return {ref.id: text for ref, text in texts(tx, space=space, refs=refs, view=view).items()}


def has_content_by(tx: Tx, *, space: str, at: datetime) -> bool:
    """Return whether a space had any content by a time."""
    row = tx.first("anything_by", space=space, at=at)
    return row is not None and bool(row["known"])


def outdated_refs(tx: Tx, *, space: str, refs: Iterable[Ref], view: TimeView) -> set[Ref]:
    """Return the refs that were not valid at a time: not yet stored, or no longer current."""
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in refs:
        # Without a time, session summaries are always valid.
        if not view.is_now or ref.kind in _CAN_END:
            by_kind.setdefault(ref.kind, []).append(ref)
    outdated: set[Ref] = set()
    for kind, kind_refs in by_kind.items():
        if kind is RefKind.FACT and not view.is_now:
            read = texts(tx, space=space, refs=kind_refs, view=view)
            outdated.update(ref for ref in kind_refs if ref not in read or read[ref].fate is not None)
            continue
        rows = tx.all(
            _OUTDATED[kind],
            space=space, ids=[ref.id for ref in kind_refs], numbers=[ref.number for ref in kind_refs],
            **bounds_of(tx, kind, view),
        )  # fmt: skip
        outdated.update(Ref(kind, row["id"], row["number"]) for row in rows)
    return outdated


_VERSIONED = (RefKind.FACT, RefKind.DOCUMENT)
_CAN_END = (RefKind.MESSAGE, *_VERSIONED)
_OUTDATED = {
    RefKind.MESSAGE: "gone_messages",
    RefKind.FACT: "gone_facts",
    RefKind.SESSION_SUMMARY: "gone_session_summaries",
    RefKind.DOCUMENT: "gone_documents",
}


def excerpts(tx: Tx, *, space: str, fact_ids: list[str], view: TimeView) -> dict[str, list[Excerpt]]:
    """Return the full source messages of some facts."""
    by_fact: dict[str, list[Excerpt]] = {}
    if not fact_ids:
        return by_fact
    bounds = bounds_of(tx, RefKind.MESSAGE, view)
    rows = tx.all("sources_of_facts", space=space, ids=fact_ids, **bounds)
    sources = [SourceMessage(row["session_id"], row["number"]) for row in rows]
    marked = marks.of_messages(tx, space, sources, view)
    for row, source in zip(rows, sources, strict=True):
        text = marks.visible_text(row["content"], marked.get(source, ()))
        if not text:
            continue
        by_fact.setdefault(row["fact_id"], []).append(
            Excerpt(
                source=source,
                text=text,
                origin=Origin(row["origin"]),
                said_at=from_micros(row["said_at"]),
            )
        )
    return by_fact


def leading_facts(
    tx: Tx,
    *,
    space: str,
    view: TimeView,
    directive: list[str],
    soon: timedelta,
    limit: int,
    only: Filter | None = None,
) -> list[Text]:
    """Return facts from trusted origins: preferences first, then those that begin `soon`, then lasting ones."""
    bounds = bounds_of(tx, RefKind.FACT, view)
    begins = to_micros(view.at(tx.now)) + soon // timedelta(microseconds=1)
    rows = tx.all(
        "facts_for_context", only,
        space=space, soon=begins, origins=_TRUSTED_ORIGINS, directive=directive, health=_HEALTH,
        limit=limit if view.is_now else _WIDER * limit, **bounds,
    )  # fmt: skip
    return _current(tx, rows, space=space, view=view)[:limit]


_WIDER = 10
"""How many times more facts are read for another view: most that had ended by now were current then."""


def _current(tx: Tx, rows: Iterable[Row], *, space: str, view: TimeView) -> list[Text]:
    """Return the facts that are current in a view, as texts in the same order."""
    listed = {fact.ref: fact for fact in in_view(tx, facts_of(tx, rows), space=space, view=view)}
    texts = (_unread_fact(row)._replace(row=None) for row in rows)
    pairs = ((text, listed[text.ref]) for text in texts if text.ref in listed)
    return [text._replace(fact=fact, at=_said_at(fact)) for text, fact in pairs if is_lasting(fact.status)]


def pinned_facts(
    tx: Tx, *, space: str, view: TimeView, limit: int, only: Filter | None = None
) -> list[Text]:  # fmt: skip
    """Return the facts that were pinned at a time, in the order they were pinned."""
    wider = limit if view.is_now else _WIDER * limit
    bounds = bounds_of(tx, RefKind.FACT, view)
    rows = tx.all("pinned_facts", only, space=space, limit=wider, **bounds)
    return _current(tx, rows, space=space, view=view)[:limit]


def leading_sessions(tx: Tx, *, space: str, view: TimeView, limit: int, only: Filter | None = None) -> list[Text]:
    """Return session summaries, the most used and newest first.

    A model's summaries of sessions with text from tools or documents are omitted, because they may repeat that text.
    """
    rows = tx.all("session_summaries_for_context", only, space=space, at=view.written_until, limit=limit)
    generated = [row["id"] for row in rows if not row["quotes"]]
    mixed = tx.all("sessions_with_others", space=space, ids=generated, origins=_TRUSTED_ORIGINS) if generated else []
    omitted = {row["id"] for row in mixed}
    return [_session_summary(row) for row in rows if row["id"] not in omitted]


def leading_notes(
    tx: Tx, *, space: str, conversation: str, view: TimeView, limit: int, only: Filter | None = None
) -> list[Text]:
    """Return an assistant's notes in its own conversation, the newest first, except those learned from."""
    bounds = bounds_of(tx, RefKind.MESSAGE, view)
    rows = tx.all("notes_for_context", only, space=space, conversation=conversation, limit=limit, **bounds)
    notes = {text.ref: text for row in rows for text in [_message(row)]}
    return list(_visible(tx, notes, space=space, view=view).values())


def leading_documents(tx: Tx, *, space: str, view: TimeView, limit: int, only: Filter | None = None) -> list[Text]:
    """Return paths, titles and descriptions of documents, the oldest first."""
    at = view.written_until
    rows = tx.all("documents_for_context", only, space=space, at=at, origins=_TRUSTED_ORIGINS, limit=limit)
    ids = [row["id"] for row in rows]
    paths = {row["id"]: row["path"] for row in tx.all("paths_of_documents", space=space, ids=ids, at=at)} if ids else {}
    documents = {text.ref: text for row in rows for text in [_document(row)]}
    visible = _visible(tx, documents, space=space, view=view)
    return [
        document._replace(text=f"~/{paths.get(ref.id, document.name)}: {document.text}")
        for ref, document in documents.items()
        if visible.get(ref) == document  # a title that names hidden words is left out until it is rebuilt
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


def _message(row: Row) -> Text:
    return Text(
        ref=Ref(RefKind.MESSAGE, row["id"], row["number"]), text=row["content"], origin=Origin(row["origin"]),
        at=row["at"], role=row["role"], name=row["name"], tags=row["tags"], metadata=row["metadata"],
    )  # fmt: skip


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
        at=row["at"], role=None if row["author_kind"] == "user" else row["author_kind"], name=row["slug"],
        tags=row["tags"], metadata=row["metadata"],
    )  # fmt: skip


_READERS: dict[RefKind, tuple[str, Callable[[Row], Text]]] = {
    RefKind.MESSAGE: ("read_messages_at", _message),
    RefKind.FACT: ("read_facts_at", _unread_fact),
    RefKind.SESSION_SUMMARY: ("read_session_summaries_at", _session_summary),
    RefKind.DOCUMENT: ("read_documents_at", _document),
}
