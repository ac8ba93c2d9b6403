import pytest

from bethink.base.language import question_topics, stop_words, topics_of


def topics(text: str) -> set[str]:
    return {topic for found in question_topics(text).values() for topic in found}


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?", "Wo wohne ich?", "¿Dónde vivo?", "Où est-ce que j'habite ?", "Onde é que eu moro?",
        "Где я живу?", "我住在哪里?", "私はどこに住んでいますか?", "저는 어디에 살고 있나요?", "أين أسكن؟",
        "Nerede oturuyorum?",
    ],
)  # fmt: skip
def test_a_question_for_a_home_is_about_a_home_in_any_language(question: str) -> None:
    assert "topic:home" in topics(question)


@pytest.mark.parametrize(
    "fact",
    ["Mira rents a flat in Bergen.", "Mira hat eine Zweizimmerwohnung.", "Mira loue un studio.", "小伟在成都租房。"],
)
def test_fact_topics_follow_its_words(fact: str) -> None:
    assert "topic:home" in topics_of(fact)


def test_fact_topics_include_its_kind_and_slot() -> None:
    assert topics_of("Bergen.", kind="instruction", slot="home_town") == ("topic:wish", "topic:home")
    assert topics_of("Bergen.") == ()


def test_only_a_question_asks_for_preferences_by_its_words() -> None:
    assert "topic:wish" in topics("How should you format your replies?")
    assert "topic:wish" not in topics_of("How should you format your replies?")


def test_a_short_word_without_its_accents_is_another_one() -> None:
    assert "topic:food" in topics_of("Elle aime le thé.")
    assert "topic:food" not in topics_of("She likes the sea.")


def test_no_word_that_says_nothing_is_a_topic_in_english() -> None:
    assert not [word for word in stop_words("en") if topics(word)]
