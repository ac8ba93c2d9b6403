"""Words of change, and questions about the present, in every language that has a list."""

import pytest

from bethink.memory.phrases.changes import changes
from bethink.memory.phrases.vocabulary import LANGUAGES

CASES = {
    "en": ("I work there no longer.", "Where do I work?", "Where did I work?", "When is it?"),
    "de": ("Ich arbeite dort nicht mehr.", "Wo arbeite ich?", "Wo habe ich früher gearbeitet?", "Wann ist es?"),
    "fr": ("Je ne travaille plus là-bas.", "Où je travaille ?", "Où ai-je travaillé avant ?", "Quand est-ce ?"),
    "es": ("Ya no trabajo allí.", "¿Dónde trabajo?", "¿Dónde trabajaba antes?", "¿Cuándo es?"),
    "it": ("Non lavoro più lì.", "Dove lavoro?", "Dove lavoravo prima?", "Quando è?"),
    "pt": ("Já não trabalho lá.", "Onde trabalho?", "Onde trabalhava antes?", "Quando é?"),
    "nl": ("Ik werk daar niet meer.", "Waar werk ik?", "Waar heb ik vroeger gewerkt?", "Wanneer is het?"),
    "pl": ("Już nie pracuję tam.", "Gdzie pracuję?", "Gdzie pracowałam wcześniej?", "Kiedy to jest?"),
    "ru": ("Я там больше не работаю.", "Где я работаю?", "Где я работал раньше?", "Когда это?"),
    "tr": ("Artık orada çalışmıyorum.", "Nerede çalışıyorum?", "Eskiden nerede çalışıyordum?", "Bu ne zaman?"),
    "zh": ("我现在不在那里工作。", "我在哪里工作？", "我以前在哪里工作？", "什么时候？"),
    "ja": ("その仕事はやめました。", "どこで働いていますか？", "以前どこで働いていましたか？", "いつですか？"),
}
AMOUNTS = {
    "en": "How many cats do I have?",
    "de": "Wie viele Katzen habe ich?",
    "fr": "Combien de chats ai-je ?",
    "es": "¿Cuántos gatos tengo?",
    "it": "Quanti gatti ho?",
    "pt": "Quantos gatos tenho?",
    "nl": "Hoeveel katten heb ik?",
    "pl": "Ile mam kotów?",
    "ru": "Сколько у меня кошек?",
    "tr": "Kaç kedim var?",
    "zh": "我有多少只猫？",
    "ja": "猫はいくついますか？",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_knows_changes_and_questions_about_the_present(language: str) -> None:
    changed, present, past, when = CASES[language]
    words = changes(language)

    assert words is not None
    assert (words.says_changed(changed), words.says_changed(present)) == (True, False)
    assert (words.asks_for_present(present), words.asks_for_present(past)) == (True, False)
    assert (words.asks_when(when), words.asks_when(present)) == (True, False)
    assert (words.asks_how_many(AMOUNTS[language]), words.asks_how_many(when)) == (True, False)


def test_language_without_a_list_has_no_words() -> None:
    assert changes("xx") is None
