"""Shortcuts of recall never skip a match that the full search finds."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bethink.memory.recall.calendars import calendar
from bethink.memory.recall.dates import may_mention_time
from bethink.memory.recall.duplicates import opening_of
from bethink.memory.recall.question import _mentions
from bethink.model.words import gist
from tests.length import often

_ROOTS = "bee agree walk bake tree free e ee eel passe Straße café gym 7 x1 Stockholm 苹果 我喜欢吃苹果"
ENDINGS = ("", "s", "es", "ed", "ing", "e", "ee", "d")
COMMON = ("the", "a", "I", "was", "not", "their", "would")
word = st.builds(str.__add__, st.sampled_from(_ROOTS.split()), st.sampled_from(ENDINGS))
said = st.lists(st.one_of(word, st.sampled_from(COMMON)), max_size=6)
_TIMES = """
    jan January may Sept. march spring Fall yesterday today tonight tomorrow morning night recently lately other day
    hours day week months quarter year decade Mon Tues thurs Friday weekend last this past next the a two couple few
    of in on first Q3 2023 5 5th 1990s ago back
"""


@st.composite
def dressed(draw: st.DrawFn, words: list[str]) -> str:
    """Say the same words with other endings, common words between them, in another case and with other signs."""
    parts: list[str] = []
    for each in words:
        parts += draw(st.lists(st.sampled_from(COMMON), max_size=2))
        parts.append(
            draw(st.sampled_from((each, each.upper(), each.capitalize(), f"{each}s", f"{each}ing", f"{each}.")))
        )
    return draw(st.sampled_from((" ", "  ", ", ", " - "))).join(parts)


@settings(max_examples=often(200, long=2_000))
@given(st.data())
def test_equal_texts_have_equal_openings(data: st.DataObject) -> None:
    words = data.draw(said)
    one, other = data.draw(dressed(words)), data.draw(dressed(words))
    if gist(one) == gist(other):
        assert opening_of(one) == opening_of(other)


def test_different_texts_have_different_openings() -> None:
    assert opening_of("We moved to Bergen in spring") != opening_of("We moved to Oslo in spring")
    assert opening_of("We MOVE, to Bergen") == opening_of("And then we moved to Bergen, too") != ""


@settings(max_examples=often(300, long=2_000))
@given(st.lists(st.sampled_from(_TIMES.split()), max_size=6).map(" ".join))
@example("the other day")
@example("Thurs")
def test_a_text_in_which_a_rule_finds_a_time_may_name_one(text: str) -> None:
    if any(pattern.search(text) for _, pattern in calendar("en").rules):
        assert may_mention_time(text, "en")


def test_most_questions_name_no_time() -> None:
    assert not may_mention_time("What did Caroline say about her mother's new job?", "en")
    assert may_mention_time("What did Caroline say on Monday?", "en")


@settings(max_examples=often(100, long=500))
@given(
    st.text(alphabet="AnosSKk\u017fß 'x", max_size=12), st.sampled_from(("Ano", "Nok", "Kx", "Sano", "\u017fa", "ßa"))
)
@example("Is \u017fano here?", "Sano")
@example("Sano's", "\u017fano")
def test_fast_name_search_matches_the_pattern(question: str, name: str) -> None:
    assert _mentions(question, name) == (re.search(rf"\b{re.escape(name)}\b", question, re.IGNORECASE) is not None)
