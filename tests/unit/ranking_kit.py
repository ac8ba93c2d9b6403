"""Helpers for ranking tests: questions, matches and texts without a database."""

from collections.abc import Mapping, Sequence

from bethink.extend import Cosines
from bethink.memory.recall import fuse
from bethink.memory.recall.candidates import Candidates, MatchResult, Ranked
from bethink.memory.recall.counts import count_words
from bethink.memory.recall.question import ParsedQuestion, Term
from bethink.memory.recall.signals.base import RecallSignal
from bethink.memory.recall.tuning import TUNING
from bethink.model.moments import Micros
from bethink.model.recall import Use
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.store.search import Size, TermMatch, Text

NOW = Micros(1_700_000_000_000_000)
DAY = 86_400_000_000


def a_message(number: int, session: str = "s") -> Ref:
    return Ref(RefKind.MESSAGE, session, number)


def a_fact(name: str) -> Ref:
    return Ref(RefKind.FACT, name, 1)


def asked(*words: str, **more: object) -> ParsedQuestion:
    """A question in which every word is its own stem."""
    terms = tuple(Term(word=word, stems=(place,), related=(), weight=1.0) for place, word in enumerate(words))
    fields: dict[str, object] = {
        "text": " ".join(words), "terms": terms, "stems": words, "quoted": (), "spans": (), "speaker": None,
        "role": None, **more,
    }  # fmt: skip
    return ParsedQuestion(**fields)  # pyright: ignore[reportArgumentType]


def match(ref: Ref, *hits: int, **more: object) -> TermMatch:
    fields: dict[str, object] = {"role": None, "name": None, "origin": "user", "at": NOW, "length": 40, **more}
    return TermMatch(ref=ref, hits=hits, **fields)  # pyright: ignore[reportArgumentType]


def text(ref: Ref, said: str = "text", **more: object) -> Text:
    fields: dict[str, object] = {"origin": Origin("user"), "at": NOW, **more}
    return Text(ref=ref, text=said, **fields)  # pyright: ignore[reportArgumentType]


def found_of(matches: Sequence[TermMatch], **more: object) -> MatchResult:
    fields: dict[str, object] = {"similarities": {}, "size": Size(1_000, 50), **more}
    return MatchResult(matches=matches, **fields)  # pyright: ignore[reportArgumentType]


def read(*texts: Text, **more: object) -> Candidates:
    """Candidates whose texts were read."""
    return Candidates(
        keys=[each.ref.parts for each in texts], positions=range(len(texts)), texts=texts,
        **more,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


def ranked(
    question: ParsedQuestion,
    known: MatchResult,
    *,
    usage: Mapping[Ref, Use] | None = None,
    texts: Sequence[Text] = (),
    extra: Sequence[RecallSignal] = (),
) -> dict[Ref, Ranked]:
    """Rank candidates that all exist, and return them by name, the best first."""
    candidates = count_words(question, known, TUNING)
    cosines = Cosines() if known.similarities else None
    added = fuse.sum_signals(question, candidates, fuse.added_signals(TUNING, cosines), TUNING)
    best = fuse.select_best(question, added, 1_000, TUNING)
    refs = [Ref(*candidates.keys[index]) for index in best]
    existing = {ref: text(ref) for ref in refs}
    existing |= {each.ref: each for each in texts}
    pool = candidates.with_texts(best, refs, existing, usage or {})
    found = fuse.rank_candidates(question, added, pool, tuning=TUNING, cosines=cosines, extra=extra, explain=True)
    return {each.ref: each for each in found}


def weighed(
    question: ParsedQuestion,
    matches: Sequence[TermMatch],
    *,
    near: Mapping[Ref, float] | None = None,
    usage: Mapping[Ref, Use] | None = None,
    texts: Sequence[Text] = (),
    passages: int = 1_000,
) -> dict[Ref, Ranked]:
    """Rank what was found in a space of so many passages."""
    known = found_of(matches, similarities=near or {}, size=Size(passages, 50))
    return ranked(question, known, usage=usage, texts=texts)
