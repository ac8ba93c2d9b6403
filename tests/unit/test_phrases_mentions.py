"""Sentences about a person or a topic are found, and nothing else of a message is taken with them."""

import pytest

from bethink.memory.phrases.mentions import mentions_of, repetitions_of


def _mentioned(text: str, target: str, *, is_name: bool = False) -> list[str]:
    return [span.of(text) for span in mentions_of(text, target, is_name=is_name)]


@pytest.mark.parametrize(
    ("text", "target", "words"),
    [
        ("My therapist is called Moe. I play the cello.", "my therapist", "My therapist is called Moe."),
        ("My ex is called Valentin and my cat is called Mirabelle.", "my ex", "My ex is called Valentin"),
        ("Mi suegra se llama Remedios. Toco la guitarra.", "mi suegra", "Mi suegra se llama Remedios."),
        ("Meine Scheidung war teuer. Ich wohne in Graz.", "meine Scheidung", "Meine Scheidung war teuer."),
        ("我婆婆住在成都。我喜欢喝茶。", "我婆婆", "我婆婆住在成都。"),
        ("義母は仙台に住んでいます。私は猫が好きです。", "義母", "義母は仙台に住んでいます。"),
        ("Мой начальник строгий. Я люблю чай.", "начальника", "Мой начальник строгий."),
    ],
)  # fmt: skip
def test_topic_names_its_sentences(text: str, target: str, words: str) -> None:
    assert _mentioned(text, target) == [words]


def test_sentences_that_go_on_about_somebody_belong_to_them() -> None:
    text = "Bernd from sales snores on the train. He always orders schnitzel. I play chess."
    assert _mentioned(text, "Bernd", is_name=True) == [
        "Bernd from sales snores on the train. He always orders schnitzel."
    ] or _mentioned(text, "Bernd", is_name=True) == [
        "Bernd from sales snores on the train.", "He always orders schnitzel.",
    ]  # fmt: skip


def test_names_match_as_whole_words() -> None:
    assert _mentioned("Tomas is here. I met Tom's sister.", "Tom", is_name=True) == ["I met Tom's sister."]


def test_target_without_words_names_nothing() -> None:
    assert _mentioned("I play chess.", "...") == []


def test_repetition_needs_most_of_the_words() -> None:
    text = "Noted: your locker number is 417. Anything else?"
    assert [span.of(text) for span in repetitions_of(text, "My locker number is 417.")] == [
        "Noted: your locker number is 417."
    ]
    assert repetitions_of("The number is unlucky.", "My locker number is 417.") == []
