"""Sentences that state how an assistant should act from then on, in twelve languages, and which replaces which."""

import pytest

from bethink.base.language import preferences_in
from bethink.memory.phrases.preferences import replaces
from tests.pace import growth

STATED = [
    "Please answer in Spanish from now on.", "I prefer short answers.", "Always use tabs for indentation.",
    "Please never call me Bob.", "Never deploy on Fridays.", "Don't use emojis any more.",
    "Bitte antworte ab jetzt immer auf Deutsch.", "Ich bevorzuge kurze Antworten.", "Nenn mich in Zukunft bitte Max.",
    "Réponds toujours en français.", "Je préfère le thé.", "N\u2019utilise jamais d\u2019emojis.",
    "Responde siempre en español.", "Prefiero respuestas cortas.", "Rispondi sempre in italiano.", "Preferisco il tè.",
    "Responda sempre em português.", "Prefiro respostas curtas.", "Antwoord voortaan in het Nederlands.",
    "Ik heb liever korte antwoorden.", "Odpowiadaj zawsze po polsku.", "Wolę krótkie odpowiedzi.",
    "Всегда отвечай по-русски.", "Я предпочитаю короткие ответы.", "Lütfen her zaman Türkçe cevap ver.",
    "Kısa cevapları tercih ederim.", "以后请用中文回答。", "我更喜欢简短的回答。", "今後は日本語で答えてください。",
    "短い答えのほうが好きです。",
]  # fmt: skip
OTHER = [
    "I always use tabs.", "Write me a haiku.", "Never mind.", "I live in Oslo now.", "She always says please.",
    "What do I prefer?", "Please book a table for tomorrow.", "Never been there.", "Thanks, that was always the plan!",
    "My sister said \"always answer in Spanish\".", "From now on I work in Basel.", "Ich gehe immer ins Büro.",
    "Bitte buche einen Tisch.", "Je vais toujours au marché.", "Siempre voy al mercado.", "Io vado sempre al mare.",
    "Ik ga altijd fietsen.", "Zawsze chodzę do kina.", "Я всегда пью чай утром.", "Her zaman kahve içerim.",
    "我一直住在上海。", "いつも六時に起きます。",
]  # fmt: skip


@pytest.mark.parametrize("text", STATED)
def test_lasting_preference_is_recognized(text: str) -> None:
    assert preferences_in(text) == [text.replace("\u2019", "'")]
    assert preferences_in(f"I went to Rome.\n{text}") == [text.replace("\u2019", "'")]


@pytest.mark.parametrize("text", OTHER)
def test_other_sentence_states_no_preference(text: str) -> None:
    assert preferences_in(text) == []


@pytest.mark.parametrize(
    ("later", "earlier", "expected"),
    [
        ("From now on, please answer in English.", "Please answer in Spanish from now on.", True),
        ("I prefer coffee now.", "I prefer tea.", True),
        ("Actually, I prefer coffee.", "I prefer tea.", True),
        ("I no longer prefer tea.", "I prefer tea.", True),
        ("Ab jetzt bitte immer auf Englisch antworten.", "Bitte ab jetzt immer auf Deutsch antworten.", True),
        ("以后请用英文回答。", "以后请用中文回答。", True),
        ("I prefer coffee.", "I prefer tea.", False),
        ("Please answer briefly from now on.", "Please answer in Spanish from now on.", False),
        ("I prefer short answers now.", "I prefer tea.", False),
        ("以后请用英文回答。", "请不要再用表情符号。", False),
    ],
)
def test_later_preference_replaces_the_same_with_one_word_exchanged(
    later: str, earlier: str, *, expected: bool
) -> None:
    assert replaces(later, earlier) is expected


@pytest.mark.parametrize("unit", ["never ", "please always ", "以后请", "a", "I prefer. "])
def test_preferences_are_found_in_linear_time(unit: str) -> None:
    assert growth(lambda size: preferences_in(unit * size), 400) < 8
