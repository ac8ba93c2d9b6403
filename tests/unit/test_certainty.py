"""Certainty: an answer is certain if it leads over rivals that say something else."""

from collections.abc import Sequence

import pytest

from bethink.memory.recall.certainty import CandidateEvidence, certainties
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import TUNING
from bethink.model.moments import Micros
from bethink.model.refs import Ref
from tests.unit.ranking_kit import a_fact, a_message, asked, text

HIGH = TUNING.high
PRESENT = "What day is my choir?"
PAST = "What day was my choir?"


def evidence(
    total: float, said: str, *, ref: Ref | None = None, at: int = 0, role: str = "user", near: float = 0.5
) -> CandidateEvidence:
    said_in = ref or a_message(1, said.partition(" ")[0])
    return CandidateEvidence(text(said_in, said, at=Micros(at), role=role), total, near)


def first(*candidates: CandidateEvidence, question: ParsedQuestion | None = None, vectors: bool = True) -> float:
    """Return the certainty of the first candidate among others, of which ten are unrelated."""
    unrelated = [evidence(0.1, f"u{number} tells of rain.", near=0.1) for number in range(40)]
    known: Sequence[CandidateEvidence] = [*candidates, *unrelated]
    return certainties(question or asked("x"), known, range(len(known)), tuning=TUNING, vectors=vectors)[0]


@pytest.mark.parametrize("vectors", [True, False])
def test_a_close_rival_lowers_certainty(vectors: bool) -> None:
    alone = first(evidence(0.9, "a Choir is on Monday."), vectors=vectors)
    disputed = first(evidence(0.9, "a Choir is on Monday."), evidence(0.8, "b Choir was fun."), vectors=vectors)

    assert alone >= HIGH > disputed


@pytest.mark.parametrize(
    "other",
    [
        evidence(0.85, "a Choir is on Monday!", ref=a_message(7, "repeated")),
        evidence(0.85, "Their choir meets on Mondays.", ref=a_fact("learned")),
        evidence(0.85, "And when is choir?", ref=a_message(2, "a"), role="assistant"),
    ],
    ids=["same words", "fact", "exchange"],
)
def test_what_says_the_same_is_no_rival(other: CandidateEvidence) -> None:
    assert first(evidence(0.9, "a Choir is on Monday."), other) >= HIGH


def test_a_later_message_makes_an_answer_about_the_present_uncertain() -> None:
    monday = evidence(0.9, "a Choir is on Monday.")
    later = evidence(0.5, "b Choir moved.", at=5)
    reply = evidence(0.5, "c Choir sounds fun.", at=5, role="assistant")
    now, then = asked("x", text=PRESENT), asked("x", text=PAST)

    assert first(monday, later, question=now) == TUNING.doubtful_until < HIGH
    assert first(monday, later, question=then) >= HIGH
    assert first(monday, reply, question=now) >= HIGH
    assert first(evidence(0.9, "a Choir is on Monday.", at=9), later, question=now) >= HIGH


@pytest.mark.parametrize(
    ("language", "question", "old", "new"),
    [
        ("en", "What day is my choir now?", "a Choir is on Monday.", "a Choir is on Monday now."),
        ("de", "Wann ist mein Chor jetzt?", "a Chor ist montags.", "a Chor ist jetzt montags."),
    ],
)
def test_what_is_true_now_has_to_say_that_it_changed(language: str, question: str, old: str, new: str) -> None:
    now = asked("x", text=question, language=language)

    assert first(evidence(0.9, old), question=now) == TUNING.doubtful_until
    assert first(evidence(0.9, new), question=now) >= HIGH


def test_no_message_among_long_ones_is_certain() -> None:
    essays = [evidence(0.1, f"e{number} " + "word " * 200, near=0.1) for number in range(40)]
    monday = evidence(0.9, "a Choir is on Monday.")

    assert first(monday, *essays) == TUNING.doubtful_until
    assert first(evidence(0.9, "Choir is on Monday.", ref=a_fact("learned")), *essays) >= HIGH
