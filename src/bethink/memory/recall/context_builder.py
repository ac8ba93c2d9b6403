"""Fill a context block: each line once, section by section, within the budget."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from bethink.extend import Tokens
from bethink.memory.recall.context_lines import (
    ANSWERS,
    RELEVANT,
    WEAK,
    day_line,
    heading_of,
    line_of,
    one_line,
    write_sections,
)
from bethink.memory.recall.context_sources import ContextSources
from bethink.memory.recall.duplicates import meaning_of, new_lines, stems_in
from bethink.memory.recall.excerpts import excerpt
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import SourceMessage
from bethink.model.framing import label_of
from bethink.model.moments import from_micros
from bethink.model.recall import Certainty, Match
from bethink.model.refs import RefKind
from bethink.model.rules import is_private
from bethink.store.search import Text


class _Line(NamedTuple):
    """An item of a block with its tokens, and the text that it was built from."""

    text: Text
    item: Match


class BlockBuilder:
    """Fills a block with lines. Each is added once, and only within the budget."""

    def __init__(self, sources: ContextSources, *, budget: int, tokens: Tokens, citations: bool) -> None:
        self._budget = max(1, budget)
        self._citations = citations
        self._tokens = tokens
        self._sources = sources
        self._spent = 0
        self._seen_keys: set[str] = set()
        self._headings: set[str] = set()
        self._texts: list[str] = []
        self._lines: dict[int, _Line] = {}
        self._meanings: dict[str, str] = {}
        self.items: list[Match] = []

    @property
    def spent(self) -> float:
        """The share of the budget that is used."""
        return self._spent / self._budget

    def items_in_order(self) -> list[Match]:
        """Return the items of the block, weak matches last."""
        return sorted(self.items, key=lambda item: item.section == WEAK)

    def add_answers(self, answers: Sequence[Match], *, until: float, words: Collection[str]) -> None:
        """Add the answers by rank, until this share of the budget is used; then sort them by time.

        The first that does not fit is cut to the part with these words, and ends the list. So a larger budget shows
        all that a smaller one does.
        """
        end = int(self._budget * min(1.0, until))
        for position, answer in enumerate(answers):
            item, meaning = self._answer_item(self._shorten(answer, position, words)), self._meaning(answer.text)
            if item.label in self._seen_keys or meaning in self._seen_keys:
                continue
            if self._spent + item.tokens + self._heading_tokens(item) > end:
                self._spent = min(self._spent, self._answer_tokens())
            room = end - self._spent - self._heading_tokens(item)
            is_complete = item.tokens <= room
            cut = item if is_complete else self._cut_to_fit(answer, room, words)
            if cut is not None:
                self._spent += cut.tokens + self._heading_tokens(cut)
                self._add_answer(cut, answer, meaning)
            if not is_complete:
                break
        self._sort()

    def _shorten(self, answer: Match, position: int, words: Collection[str]) -> Match:
        """Return an answer; after the first few, a long text may take only half as much."""
        if position < TUNING.long_answers or answer.fact is not None:
            return answer
        budget = TUNING.max_item_tokens(self._budget // 2)
        text = excerpt(answer.text, words, self._tokens, budget=budget)
        return answer if text == answer.text else replace(answer, text=text)

    def _sort(self) -> None:
        self.items.sort(key=lambda item: (ANSWERS.index(item.section), item.said_at, item.ref.parts))

    def _heading_tokens(self, item: Match) -> int:
        """Return the tokens of the lines above an answer that are not there yet: its section and its day."""
        section, day = heading_of(item.section), day_line(item)
        tokens = 0 if section in self._headings else self._cost_of(section) + 1
        return tokens if section + day in self._headings else tokens + self._cost_of(day)

    def _answer_tokens(self) -> int:
        """Return the exact tokens of the answers so far: the sum over their lines is a little more."""
        self._sort()
        return self._tokens.count(write_sections(self.items, space=self._sources.space, citations=self._citations)) + 2

    def _add_answer(self, item: Match, answer: Match, meaning: str) -> None:
        # Facts that say the same are not repeated below, unless only they may be shown to readers of several spaces.
        facts = {label_of(ref) for ref in answer.duplicates if ref.kind is RefKind.FACT and not answer.confidential}
        self._seen_keys |= {item.label, meaning, *facts}
        self._texts += [answer.text, *(quote.text for quote in answer.excerpts)]
        self._headings |= {heading_of(item.section), heading_of(item.section) + day_line(item)}
        self.items.append(item)

    def _cut_to_fit(self, answer: Match, room: int, words: Collection[str]) -> Match | None:
        """Return a long answer cut to a number of tokens; None if too little of it would remain."""
        if answer.fact is not None:
            return None
        excess = self._answer_item(replace(answer, text="")).tokens
        if room - excess < TUNING.min_cut_tokens:
            return None
        item = self._answer_item(
            replace(answer, text=excerpt(answer.text, words, self._tokens, budget=room - excess - 2))
        )
        return item if item.tokens <= room else None

    def _answer_item(self, answer: Match) -> Match:
        item = Match(
            ref=answer.ref,
            text=one_line(answer.text, limit=None),
            origin=answer.origin,
            said_at=answer.said_at,
            score=0.0,
            tokens=0,
            label=answer.label,
            certainty=answer.certainty,
            speaker=answer.speaker,
            fact=answer.fact,
            tags=answer.tags,
            metadata=answer.metadata,
            replaced_by=answer.replaced_by,
            status=answer.status,
            because_of=answer.because_of,
            because_text=answer.because_text,
            confidential=answer.confidential,
            section=WEAK if answer.certainty is Certainty.WEAK else RELEVANT,
            reply_to=answer.reply_to,
        )
        return self._with_cost(item)

    def with_new_lines(self, notes: Sequence[Text]) -> list[Text]:
        """Return notes cut to the lines that are new to the block, as many as fit on one line."""
        shortened: list[Text] = []
        former = [text.text for text in self._sources.stated.replaced]
        stem_sets = [stems_in(text) for text in (*self._texts, *former)] if notes else []
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
            self._seen_keys |= {line.item.label, self._meaning(line.text.text)}
            self._texts.append(line.text.text)
        self.items += [
            replace(item, section=heading, tags=tuple(json.loads(text.tags)), metadata=json.loads(text.metadata))
            for text, item in lines
        ]

    def _select_fitting(self, heading: str, texts: Sequence[Text], until: float) -> tuple[list[_Line], int]:
        """Return the lines that fit, and the tokens spent including them."""
        lines: list[_Line] = []
        seen_keys = set(self._seen_keys)
        spent = self._spent + self._cost_of(heading_of(heading)) + 1
        for text in texts:
            if spent + 1 > self._budget * until:  # not even the shortest line fits
                break
            line = self._line(text)
            label, cost = line.item.label, line.item.tokens
            if label in seen_keys or spent + cost > self._budget * until or self._meaning(text.text) in seen_keys:
                continue
            spent += cost
            seen_keys |= {label, self._meaning(text.text)}
            lines.append(line)
        return lines, spent

    def _line(self, text: Text) -> _Line:
        """Return the line of a text, from a cache if it was built before."""
        line = self._lines.get(id(text))  # stays unique: the line keeps a reference to the text
        if line is None:
            line = self._lines[id(text)] = _Line(text, self._with_cost(self._item(text)))
        return line

    def _with_cost(self, item: Match) -> Match:
        return replace(item, tokens=self._cost_of(line_of(item, space=self._sources.space, citations=self._citations)))

    def _cost_of(self, line: str) -> int:
        return self._tokens.count(f"{line}\n")

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

    def _meaning(self, text: str) -> str:
        meaning = self._meanings.get(text)
        if meaning is None:
            meaning = self._meanings[text] = meaning_of(text)
        return meaning
