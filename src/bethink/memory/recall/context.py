"""Build the block of memory for the beginning of a prompt: the same bytes until memory changes."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.memory.recall.context_lines import NOTE, begins, line_of, one_line, write_block
from bethink.memory.recall.duplicates import meaning_of, new_lines, stems_in
from bethink.memory.recall.standing import current_sessions
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import SourceMessage
from bethink.model.filters import Filter
from bethink.model.framing import framed, label_of
from bethink.model.kinds import FactKind
from bethink.model.moments import EPOCH, from_micros, to_micros
from bethink.model.recall import Block, Recalled, Ref, RefKind
from bethink.model.rules import NOTES, confidential, tells
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.learnt_statements import confidential_sources
from bethink.store.search import Text

WISHES = "What the user wants"
PINNED = "Pinned"
_DIRECTIVE = [kind for kind in FactKind if tells(kind)]
_COMING = timedelta(days=TUNING.coming_days)


@frozen
class ContextSources:
    """What a block is built from, the most important first in each list."""

    facts: Sequence[Text]
    documents: Sequence[Text]
    sessions: Sequence[Text]
    notes: Sequence[Text] = ()
    pinned: Sequence[Text] = ()
    superseded: Mapping[Ref, Ref] = field(default_factory=dict[Ref, Ref])
    """What superseded something that a session memory says."""
    confidential: Collection[SourceMessage] = ()
    """The notes, and sessions as number 0, that state something confidential."""
    space: str = ""
    now: datetime = EPOCH


def context_sources(tx: Tx, *, space: str, as_of: datetime | None, only: Filter | None = None) -> ContextSources:
    """Read what a block is built from, as it was known at `as_of`."""
    memories = search.leading_sessions(tx, space=space, as_of=as_of, limit=TUNING.context_sessions, only=only)
    sessions, superseded = current_sessions(tx, space, memories, as_of=as_of)
    notes = search.leading_notes(
        tx, space=space, conversation=NOTES, as_of=as_of, limit=TUNING.context_notes, only=only
    )  # fmt: skip
    facts = search.leading_facts(
        tx, space=space, as_of=as_of, directive=list(_DIRECTIVE), soon=_COMING, limit=TUNING.context_facts, only=only
    )  # fmt: skip
    return ContextSources(
        facts=facts,
        documents=search.leading_documents(tx, space=space, as_of=as_of, limit=TUNING.context_documents, only=only),
        sessions=sessions,
        notes=notes,
        pinned=search.pinned_facts(tx, space=space, as_of=as_of, limit=TUNING.context_facts, only=only),
        superseded=superseded,
        confidential=confidential_sources(tx, space=space, sources=[text.ref for text in (*sessions, *notes)]),
        space=space,
        now=tx.now if as_of is None else as_of,
    )


def block(sources: ContextSources, answers: Sequence[Recalled], *, budget: int, tokens: Tokens) -> Block:
    """Fill a block: answers to the question, every wish in force, what is pinned, known or comes up, pages."""
    shown = {item.ref for item in answers}
    answers = [item for item in answers if item.superseded_by not in shown]
    superseded = {item.ref: item.superseded_by for item in answers if item.superseded_by is not None}
    secret = {SourceMessage(item.ref.id, item.ref.number) for item in answers if item.confidential}
    filling = _Filling(
        replace(
            sources,
            superseded={**sources.superseded, **superseded},
            confidential=secret.union(sources.confidential),
        ),
        budget=budget - tokens.count(framed("", note=NOTE)),
        tokens=tokens,
    )
    wishes = sorted(filter(_directs, sources.facts), key=lambda fact: (-fact.at, fact.ref.parts))
    others = [fact for fact in sources.facts if not _directs(fact)]
    coming = [fact for fact in others if _comes_up(fact, sources.now)]
    needed = filling.share(WISHES, wishes, until=TUNING.wishes_until)
    room = min(TUNING.answers_until, TUNING.wishes_and_answers_until - needed)
    filling.add("To the question", [_as_text(item) for item in answers], until=room)
    filling.answered(answers)
    filling.add(WISHES, wishes, until=filling.spent + TUNING.wishes_until)
    filling.add(PINNED, sources.pinned, until=1.0)
    rest = [
        _Section("What is known", [fact for fact in others if fact not in coming], 0.0),
        _Section("Coming up", sorted(coming, key=_when), TUNING.coming_kept),
        _Section("Notes of the assistant", sources.notes, TUNING.notes_kept),
        _Section("Documents", sources.documents, TUNING.documents_kept),
        _Section("Earlier sessions", sources.sessions, TUNING.sessions_kept),
    ]
    for place, each in enumerate(rest):
        left = sum(later.kept for later in rest[place + 1 :] if later.texts)
        texts = each.texts if each is not rest[-1] else filling.rest_of(each.texts)
        filling.add(each.heading, texts, until=1 - left)
    if not filling.items:
        return Block()
    text = write_block(filling.items, space=sources.space)
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return Block(text=text, tokens=tokens.count(text), items=tuple(filling.items), digest=digest)


class _Section(NamedTuple):
    heading: str
    texts: Sequence[Text]
    kept: float
    """Which share of the budget the sections before it leave to it."""


class _Line(NamedTuple):
    """A memory as an item of a block, with its tokens, and the text that it was made from."""

    text: Text
    item: Recalled


class _Filling:
    """A block while it is being filled. It takes a line only once, and only within its budget."""

    def __init__(self, sources: ContextSources, *, budget: int, tokens: Tokens) -> None:
        self._budget = max(1, budget)
        self._tokens = tokens
        self._sources = sources
        self._spent = 0
        self._seen: set[str] = set()
        self._said: list[str] = []
        self._lines: dict[int, _Line] = {}
        self._meanings: dict[str, str] = {}
        self.items: list[Recalled] = []

    @property
    def spent(self) -> float:
        """How much of the budget is used."""
        return self._spent / self._budget

    def answered(self, answers: Sequence[Recalled]) -> None:
        """Take no facts that say the same as the answers that were taken, and no lines that these quote."""
        refs = {item.ref for item in self.items}
        taken = [item for item in answers if item.ref in refs]
        self._seen.update(label_of(ref) for item in taken for ref in item.also if ref.kind is RefKind.FACT)
        self._said += [quote.text for item in taken for quote in item.excerpts]

    def rest_of(self, notes: Sequence[Text]) -> list[Text]:
        """Return notes with as many whole lines as fit into one, of those that say what the block does not say yet."""
        found: list[Text] = []
        said = [stems_in(text) for text in self._said] if notes else []
        for each in notes:
            lines = (line.removeprefix("- ") for line in dict.fromkeys(each.text.splitlines()) if line.strip())
            kept: list[str] = []
            for line in new_lines(lines, said):
                if kept and sum(map(len, kept)) + 3 * len(kept) + len(line) > TUNING.line_characters:
                    break
                kept.append(line)
            found += [each._replace(text="\n".join(kept))] if kept else []
        return found

    def share(self, heading: str, texts: Sequence[Text], *, until: float) -> float:
        """Return which share of the budget a section would take."""
        taken, spent = self._fitting(heading, texts, until)
        return (spent - self._spent) / self._budget if taken else 0.0

    def add(self, heading: str, texts: Sequence[Text], *, until: float) -> None:
        """Add a section with the lines that fit, until this share of the total budget is used."""
        taken, spent = self._fitting(heading, texts, min(1.0, until))
        if not taken:
            return
        self._spent = spent
        # Oldest first, whatever the priority: a new line then comes last and the bytes before it stay the same.
        taken.sort(key=lambda each: (each.text.at, each.text.ref.parts))
        for each in taken:
            self._seen |= {each.item.label, self._meaning(each.text)}
            self._said.append(each.text.text)
        self.items += [
            replace(item, section=heading, tags=tuple(json.loads(text.tags)), metadata=json.loads(text.metadata))
            for text, item in taken
        ]

    def _fitting(self, heading: str, texts: Sequence[Text], until: float) -> tuple[list[_Line], int]:
        """Return the lines that fit, and what is spent with them."""
        taken: list[_Line] = []
        seen = set(self._seen)
        spent = self._spent + self._tokens.count(f"## {heading}") + 2
        for text in texts:
            if spent + 1 > self._budget * until:  # not even the shortest line fits
                break
            line = self._line(text)
            label, cost = line.item.label, line.item.tokens
            if label in seen or spent + cost > self._budget * until or self._meaning(text) in seen:
                continue
            spent += cost
            seen |= {label, self._meaning(text)}
            taken.append(line)
        return taken, spent

    def _line(self, text: Text) -> _Line:
        """Return the line of a text, which is written once however often it is considered."""
        found = self._lines.get(id(text))  # which stays its own: the line keeps the text
        if found is None:
            item = self._item(text)
            cost = self._tokens.count(line_of(item, space=self._sources.space)) + 1
            found = self._lines[id(text)] = _Line(text, replace(item, tokens=cost))
        return found

    def _item(self, text: Text) -> Recalled:
        """Return a text as an item, without what does not show in its line."""
        source = SourceMessage(text.ref.id, text.ref.number)
        return Recalled(
            ref=text.ref,
            text=one_line(text.text),
            origin=text.origin,
            at=from_micros(text.at),
            score=0.0,
            tokens=0,
            label=label_of(text.ref),
            speaker=text.name if text.ref.kind is RefKind.MESSAGE else None,
            fact=text.fact,
            superseded_by=self._sources.superseded.get(text.ref),
            confidential=source in self._sources.confidential if text.fact is None else confidential(text.fact),
        )

    def _meaning(self, text: Text) -> str:
        found = self._meanings.get(text.text)
        if found is None:
            found = self._meanings[text.text] = meaning_of(text.text)
        return found


def _directs(fact: Text) -> bool:
    # Only what a user said directly may tell an agent what to do.
    return fact.fact is not None and tells(fact.fact.kind) and fact.origin == "user"


def _comes_up(fact: Text, now: datetime) -> bool:
    begun = None if fact.fact is None else begins(fact.fact)
    return begun is not None and now <= begun and to_micros(begun) <= to_micros(now) + _COMING // _MICROSECOND


_MICROSECOND = timedelta(microseconds=1)


def _when(fact: Text) -> tuple[int, Ref]:
    begun = None if fact.fact is None else begins(fact.fact)
    return to_micros(begun or EPOCH), fact.ref


def _as_text(item: Recalled) -> Text:
    return Text(
        ref=item.ref, text=item.text, origin=item.origin, at=to_micros(item.at), name=item.speaker, fact=item.fact,
        tags=json.dumps(item.tags), metadata=json.dumps(item.metadata),
    )  # fmt: skip
