"""Verify a sentence: it cites memories that the model received, and they have its names, numbers and words.

    numbers    figures.py     dates, times of day and amounts: stated by the cited memories, or calculated from them
    names      grounding      those of the cited memories
    words      here           most are in the cited memories or the question, and none of them denies the sentence

The checks compare words, not meanings: they reject a sentence that no memory supports, and one that contradicts a
memory.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime

from bethink.base.language.numbers import is_number_word
from bethink.memory.answering.claims import Claim
from bethink.memory.answering.figures import Figures, prove_figures
from bethink.memory.answering.sentences import Sentence
from bethink.memory.answering.sources import DatedText, Source
from bethink.memory.answering.working import check_working
from bethink.memory.learning.extraction.grounding import Ground
from bethink.model.answers import AnswerSentence, SentenceFault
from bethink.model.recall import Match
from bethink.model.words import is_negated, key_stems

_OPENING = re.compile(
    r"(?:yes|no|yeah|nope|currently|now|recently|today|previously|originally|apparently|since|before|after|until"
    r"|about|around|roughly|approximately|altogether|overall|exactly|nearly|almost|according to memory"
    r"|first|next|then|later|finally|lastly|initially|eventually|afterwards|earlier|lately|formerly|meanwhile"
    r"|also|additionally|besides|however|instead|still|yet|even|therefore|thus|hence|together|in total|specifically"
    r"|usually|often|sometimes|always|typically|generally|mostly|mainly|probably|likely|perhaps|maybe"
    r"|ja|nein|heute|gestern|zuerst|dann|danach|schließlich|zuletzt|insgesamt|derzeit|aktuell|meistens|oft"
    r"|oui|non|actuellement|ensuite|souvent|s[ií]|actualmente|luego|siempre)\b[,.:;!]?\s+",
    re.IGNORECASE,
)
"""Opening words of an answer that no memory needs to have."""
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[.!?;\n\u3002\uff01\uff1f]+|,\s|\b(?:but|and|although|while)\b")
_MIN_SHARE = 0.5
_MAX_QUESTION = 4_000


class Proof:
    """Checks sentences against the memories that the model received."""

    def __init__(self, items: Sequence[Match], *, question: str, space: str, now: datetime | None = None) -> None:
        sources = [Source(item) for item in items]
        self._sources = {source.item.label: source for source in sources} | {
            str(source.item.ref): source for source in sources
        }
        self._question = question[:_MAX_QUESTION]
        self._question_stems = key_stems(question)
        self._space = space
        self._now = now

    def check(self, sentence: Sentence) -> AnswerSentence | SentenceFault:
        """Return a sentence with the memories that support it, or its fault."""
        if not sentence.labels:
            return SentenceFault.UNCITED
        if any(label not in self._sources for label in sentence.labels):
            return SentenceFault.UNKNOWN_REF
        cited = list({source.item.ref: source for source in map(self._sources.__getitem__, sentence.labels)}.values())
        claim = _OPENING.sub("", sentence.text, count=1)
        figures = self._prove_figures(sentence, cited)
        if isinstance(figures, SentenceFault):
            return figures
        stems = key_stems(claim)
        fault = self._find_foreign_name(claim, cited) or self._find_unsupported(claim, stems, cited, figures)
        if fault is not None:
            return fault
        refs = tuple(
            source.item.ref for source in cited if source.item.ref in figures.refs or not stems.isdisjoint(source.stems)
        )
        return AnswerSentence(text=sentence.text, refs=refs, working=figures.working)

    def _prove_figures(self, sentence: Sentence, cited: Sequence[Source]) -> Figures | SentenceFault:
        text = unicodedata.normalize("NFKC", sentence.text)
        reading = DatedText(text, self._now or max(source.at for source in cited))
        working = sentence.working and check_working(sentence.working, self._sources, now=self._now)
        claim = Claim(reading=reading, question=self._question, cited=cited, now=self._now)
        return prove_figures(claim, working or None)

    def _find_foreign_name(self, claim: str, cited: Sequence[Source]) -> SentenceFault | None:
        first = _FIRST_WORD.match(claim)
        if first is not None and self._is_no_name(first[0]):
            claim = f"{first[0].lower()}{claim[first.end() :]}"
        # Names in the question prove nothing: the user may be wrong.
        names = Ground([*(source.line for source in cited), self._space]).foreign_names(claim)
        return SentenceFault.FOREIGN_NAME if names else None

    def _is_no_name(self, word: str) -> bool:
        """Return whether the first word of a sentence is a number, or small in the question."""
        small = word.lower()
        return is_number_word(small) or re.search(rf"\b{re.escape(small)}\b", self._question) is not None

    def _find_unsupported(
        self, claim: str, stems: frozenset[str], cited: Sequence[Source], figures: Figures
    ) -> SentenceFault | None:
        supported = figures.stems.union(*(source.stems for source in cited))
        if stems.isdisjoint(supported) or len(stems & (supported | self._question_stems)) <= _MIN_SHARE * len(stems):
            return SentenceFault.OTHER_WORDS
        denied = [is_negated(_nearest(stems, source.item.text)) for source in cited]
        is_contradicted = not any(denied) if is_negated(claim) else all(denied)
        return SentenceFault.DENIED if is_contradicted else None


def _nearest(stems: frozenset[str], text: str) -> str:
    """Return the clause of a memory that shares the most words with a sentence."""
    return max(_CLAUSE.split(text), key=lambda clause: len(stems & key_stems(clause)), default="")
