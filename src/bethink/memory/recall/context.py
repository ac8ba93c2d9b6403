"""Build the context block for a prompt. Its bytes stay the same until memory changes."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.memory.recall.context_lines import frame_sections, line_of, one_line, start_of, write_block
from bethink.memory.recall.duplicates import meaning_of, new_lines, stems_in
from bethink.memory.recall.status import StatusMark, marks_of_facts, with_causes
from bethink.memory.recall.truth import current_sessions
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import SourceMessage
from bethink.model.filters import Filter
from bethink.model.framing import label_of
from bethink.model.kinds import FactKind
from bethink.model.moments import EPOCH, from_micros, to_micros
from bethink.model.recall import ContextBlock, Match
from bethink.model.refs import Ref, RefKind
from bethink.model.rules import NOTES, is_directive, is_private
from bethink.model.views import TimeView
from bethink.store import reviews, search
from bethink.store.db import Tx
from bethink.store.learned_statements import confidential_sources
from bethink.store.search import Text

PREFERENCES = "What the user wants"
PINNED = "Pinned"
_DIRECTIVE = [kind for kind in FactKind if is_directive(kind)]
_COMING = timedelta(days=TUNING.coming_days)


@frozen
class ContextSources:
    """The texts that a block is built from, the most important first in each list."""

    facts: Sequence[Text]
    documents: Sequence[Text]
    sessions: Sequence[Text]
    notes: Sequence[Text] = ()
    pinned: Sequence[Text] = ()
    superseded: Mapping[Ref, Ref] = field(default_factory=dict[Ref, Ref])
    """The facts that superseded parts of session summaries."""
    marks: Mapping[Ref, StatusMark] = field(default_factory=dict[Ref, StatusMark])
    """The statuses of texts that are not simply current, each with its cause."""
    pending: int = 0
    """The number of items that need review."""
    confidential: Collection[SourceMessage] = ()
    """The notes, and sessions as number 0, that state something confidential."""
    space: str = ""
    now: datetime = EPOCH


def context_sources(tx: Tx, *, space: str, view: TimeView, only: Filter | None = None) -> ContextSources:
    """Read the texts for a block, as they were in a view."""
    summaries = search.leading_sessions(tx, space=space, view=view, limit=TUNING.context_sessions, only=only)
    sessions, superseded = current_sessions(tx, space, summaries, view=view)
    notes = search.leading_notes(
        tx, space=space, conversation=NOTES, view=view, limit=TUNING.context_notes, only=only
    )  # fmt: skip
    facts = search.leading_facts(
        tx, space=space, view=view, directive=list(_DIRECTIVE), soon=_COMING, limit=TUNING.context_facts, only=only
    )  # fmt: skip
    pinned = search.pinned_facts(tx, space=space, view=view, limit=TUNING.context_facts, only=only)
    return ContextSources(
        facts=facts,
        documents=search.leading_documents(tx, space=space, view=view, limit=TUNING.context_documents, only=only),
        sessions=sessions,
        notes=notes,
        pinned=pinned,
        marks=with_causes(tx, space, view, marks_of_facts([*facts, *pinned])),
        pending=reviews.count_pending(tx, space=space) if view.is_now else 0,
        superseded=superseded,
        confidential=confidential_sources(tx, space=space, sources=[text.ref for text in (*sessions, *notes)]),
        space=space,
        now=view.at(tx.now),
    )


def build_block(
    sources: ContextSources, answers: Sequence[Match], *, budget: int, tokens: Tokens, citations: bool
) -> ContextBlock:
    """Build a block: answers, preferences, pinned and known facts, coming events, notes, documents, sessions."""
    answer_refs = {item.ref for item in answers}
    answers = [item for item in answers if item.replaced_by not in answer_refs]
    superseded = {item.ref: item.replaced_by for item in answers if item.replaced_by is not None}
    marks = {
        item.ref: StatusMark(item.status, item.because_of, item.because_text)
        for item in answers
        if item.status is not None
    }
    confidential_answers = {SourceMessage(item.ref.id, item.ref.number) for item in answers if item.confidential}
    builder = _BlockBuilder(
        replace(
            sources,
            superseded={**sources.superseded, **superseded},
            marks={**sources.marks, **marks},
            confidential=confidential_answers.union(sources.confidential),
        ),
        budget=budget - tokens.count(frame_sections("", citations=citations)),
        tokens=tokens,
        citations=citations,
    )
    preferences = sorted(filter(_is_instruction, sources.facts), key=lambda fact: (-fact.at, fact.ref.parts))
    others = [fact for fact in sources.facts if not _is_instruction(fact)]
    coming = [fact for fact in others if _comes_up(fact, sources.now)]
    needed = builder.share_of(PREFERENCES, preferences, until=TUNING.preferences_until)
    room = min(TUNING.answers_until, TUNING.preferences_and_answers_until - needed)
    builder.add_section("Relevant to the question", [_as_text(item) for item in answers], until=room)
    builder.exclude_repeats_of(answers)
    builder.add_section(PREFERENCES, preferences, until=builder.spent + TUNING.preferences_until)
    builder.add_section(PINNED, sources.pinned, until=1.0)
    sections = [
        _Section("What is known", [fact for fact in others if fact not in coming], 0.0),
        _Section("Coming up", sorted(coming, key=_start_key), TUNING.coming_reserved),
        _Section("Assistant notes", sources.notes, TUNING.notes_reserved),
        _Section("Documents", sources.documents, TUNING.documents_reserved),
        _Section("Earlier sessions", sources.sessions, TUNING.sessions_reserved),
    ]
    for index, section in enumerate(sections):
        reserved = sum(later.reserved_share for later in sections[index + 1 :] if later.texts)
        texts = section.texts if section is not sections[-1] else builder.with_new_lines(section.texts)
        builder.add_section(section.heading, texts, until=1 - reserved)
    if not builder.items:
        return ContextBlock()
    text = write_block(builder.items, space=sources.space, citations=citations, pending=sources.pending)
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return ContextBlock(text=text, tokens=tokens.count(text), items=tuple(builder.items), digest=digest)


class _Section(NamedTuple):
    heading: str
    texts: Sequence[Text]
    reserved_share: float
    """The share of the budget that earlier sections leave for it."""


class _Line(NamedTuple):
    """An item of a block with its tokens, and the text that it was built from."""

    text: Text
    item: Match


class _BlockBuilder:
    """Builds a block. Each line is added once, and only within the budget."""

    def __init__(self, sources: ContextSources, *, budget: int, tokens: Tokens, citations: bool) -> None:
        self._budget = max(1, budget)
        self._citations = citations
        self._tokens = tokens
        self._sources = sources
        self._spent = 0
        self._seen_keys: set[str] = set()
        self._texts: list[str] = []
        self._lines: dict[int, _Line] = {}
        self._meanings: dict[str, str] = {}
        self.items: list[Match] = []

    @property
    def spent(self) -> float:
        """The share of the budget that is used."""
        return self._spent / self._budget

    def exclude_repeats_of(self, answers: Sequence[Match]) -> None:
        """Exclude facts that duplicate an included answer, and lines that an included answer quotes."""
        refs = {item.ref for item in self.items}
        included = [item for item in answers if item.ref in refs]
        self._seen_keys.update(
            label_of(ref) for item in included for ref in item.duplicates if ref.kind is RefKind.FACT
        )
        self._texts += [quote.text for item in included for quote in item.excerpts]

    def with_new_lines(self, notes: Sequence[Text]) -> list[Text]:
        """Return notes cut to the lines that are new to the block, as many as fit on one line."""
        shortened: list[Text] = []
        stem_sets = [stems_in(text) for text in self._texts] if notes else []
        for note in notes:
            lines = (line.removeprefix("- ") for line in dict.fromkeys(note.text.splitlines()) if line.strip())
            retained: list[str] = []
            for line in new_lines(lines, stem_sets):
                if retained and sum(map(len, retained)) + 3 * len(retained) + len(line) > TUNING.line_characters:
                    break
                retained.append(line)
            shortened += [note._replace(text="\n".join(retained))] if retained else []
        return shortened

    def share_of(self, heading: str, texts: Sequence[Text], *, until: float) -> float:
        """Return the share of the budget that a section would take."""
        lines, spent = self._select_fitting(heading, texts, until)
        return (spent - self._spent) / self._budget if lines else 0.0

    def add_section(self, heading: str, texts: Sequence[Text], *, until: float) -> None:
        """Add a section with the lines that fit, until this share of the total budget is used."""
        lines, spent = self._select_fitting(heading, texts, min(1.0, until))
        if not lines:
            return
        self._spent = spent
        # Oldest first, regardless of priority: a new line comes last, and the bytes before it stay the same.
        lines.sort(key=lambda line: (line.text.at, line.text.ref.parts))
        for line in lines:
            self._seen_keys |= {line.item.label, self._meaning(line.text)}
            self._texts.append(line.text.text)
        self.items += [
            replace(item, section=heading, tags=tuple(json.loads(text.tags)), metadata=json.loads(text.metadata))
            for text, item in lines
        ]

    def _select_fitting(self, heading: str, texts: Sequence[Text], until: float) -> tuple[list[_Line], int]:
        """Return the lines that fit, and the tokens spent including them."""
        lines: list[_Line] = []
        seen_keys = set(self._seen_keys)
        spent = self._spent + self._tokens.count(f"## {heading}") + 2
        for text in texts:
            if spent + 1 > self._budget * until:  # not even the shortest line fits
                break
            line = self._line(text)
            label, cost = line.item.label, line.item.tokens
            if label in seen_keys or spent + cost > self._budget * until or self._meaning(text) in seen_keys:
                continue
            spent += cost
            seen_keys |= {label, self._meaning(text)}
            lines.append(line)
        return lines, spent

    def _line(self, text: Text) -> _Line:
        """Return the line of a text, from a cache if it was built before."""
        line = self._lines.get(id(text))  # stays unique: the line keeps a reference to the text
        if line is None:
            item = self._item(text)
            text_of_line = line_of(item, space=self._sources.space, citations=self._citations)
            cost = self._tokens.count(text_of_line) + 1
            line = self._lines[id(text)] = _Line(text, replace(item, tokens=cost))
        return line

    def _item(self, text: Text) -> Match:
        """Return a text as an item, without the fields that its line does not show."""
        source, mark = SourceMessage(text.ref.id, text.ref.number), self._sources.marks.get(text.ref)
        return Match(
            ref=text.ref,
            text=one_line(text.text),
            origin=text.origin,
            said_at=from_micros(text.at),
            score=0.0,
            tokens=0,
            label=label_of(text.ref),
            speaker=text.name if text.ref.kind is RefKind.MESSAGE else None,
            fact=text.fact,
            replaced_by=self._sources.superseded.get(text.ref),
            status=None if mark is None else mark.status,
            because_of=None if mark is None else mark.because_of,
            because_text=None if mark is None else mark.because_text,
            confidential=source in self._sources.confidential if text.fact is None else is_private(text.fact),
        )

    def _meaning(self, text: Text) -> str:
        meaning = self._meanings.get(text.text)
        if meaning is None:
            meaning = self._meanings[text.text] = meaning_of(text.text)
        return meaning


def _is_instruction(fact: Text) -> bool:
    # Only a direct statement of a user may instruct an agent.
    return fact.fact is not None and is_directive(fact.fact.kind) and fact.origin == "user"


def _comes_up(fact: Text, now: datetime) -> bool:
    start = None if fact.fact is None else start_of(fact.fact)
    return start is not None and now <= start and to_micros(start) <= to_micros(now) + _COMING // _MICROSECOND


_MICROSECOND = timedelta(microseconds=1)


def _start_key(fact: Text) -> tuple[int, Ref]:
    start = None if fact.fact is None else start_of(fact.fact)
    return to_micros(start or EPOCH), fact.ref


def _as_text(item: Match) -> Text:
    return Text(
        ref=item.ref, text=item.text, origin=item.origin, at=to_micros(item.said_at), name=item.speaker, fact=item.fact,
        tags=json.dumps(item.tags), metadata=json.dumps(item.metadata),
    )  # fmt: skip
