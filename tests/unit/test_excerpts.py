"""Long texts are cut to the parts with the words of the question, and never beyond the budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.memory.recall.excerpts import excerpt, question_stems
from bethink.providers.estimated_tokens import EstimatedTokens
from tests.pace import growth

TOKENS = EstimatedTokens()
FILLER = [f"Paragraph {number} tells of the weather and of nothing else." for number in range(60)]


def cut(text: str, question: str, budget: int = 60) -> str:
    return excerpt(text, question_stems(question), TOKENS, budget=budget)


@pytest.mark.parametrize("position", [0, 30, 60])
def test_excerpt_has_the_sentence_with_the_words_of_the_question(position: int) -> None:
    lines = [*FILLER[:position], "The influencer budget is $2,750.", *FILLER[position:]]

    piece = cut("\n".join(lines), "What is the budget for influencers?")

    assert "The influencer budget is $2,750." in piece
    assert TOKENS.count(piece) <= 64
    assert piece.startswith("… ") == (position > 0)


def test_excerpt_has_matches_that_are_far_apart() -> None:
    lines = ["Ana has a red boat.", *FILLER, "Ana's boat is called Heron."]

    piece = cut("\n".join(lines), "What is the boat of Ana called?", budget=40)

    assert "red boat" in piece
    assert "called Heron" in piece
    assert "\n… Ana's" in piece


def test_row_of_a_table_comes_with_its_heading() -> None:
    rows = ["| Item | Cost |", "|---|---|", *(f"| Thing {number} | ${number} |" for number in range(100))]
    text = "\n".join(["A plan.", *rows, "| Influencers | $2,750 |", *FILLER])

    piece = cut(text, "How much do influencers cost?", budget=40)

    assert "| Influencers | $2,750 |" in piece
    assert "| Item | Cost |" in piece


def test_match_wins_over_the_opening() -> None:
    piece = cut(
        "\n".join(["The boat was fine.", *FILLER, "The boat harbor fee is $12."]), "What is the harbor fee?", 20
    )

    assert "harbor fee is $12" in piece
    assert "The boat was fine" not in piece


def test_excerpt_of_text_without_spaces_has_the_match() -> None:
    text = "今天天气很好。" * 40 + "我的船叫苍鹭。" + "昨天下雨了。" * 40

    assert "我的船叫苍鹭" in cut(text, "我的船叫什么?", budget=40)


@given(
    parts=st.lists(st.text(alphabet=st.sampled_from("ab .!?\n|中…"), min_size=1, max_size=80), min_size=1, max_size=30),
    budget=st.integers(10, 120),
)
def test_excerpt_is_within_its_budget(parts: list[str], budget: int) -> None:
    text = "\n".join(parts)

    piece = cut(text, "a b 中", budget)

    assert piece == text or TOKENS.count(piece) <= budget + 4  # and an ellipsis on both sides


@pytest.mark.parametrize("unit", ["boat ", "boat. ", "| boat |\n", "船", "a"])
def test_excerpts_are_cut_in_linear_time(unit: str) -> None:
    assert growth(lambda size: cut(unit * size, "Which boat?", 50), 1_000) < 8
