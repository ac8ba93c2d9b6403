"""Questions without a question mark, and statements that begin like questions."""

import pytest

from bethink.base.language import is_question
from bethink.memory.recall.signals.asks import AsksSignal
from bethink.memory.recall.tuning import TUNING
from tests.unit.ranking_kit import a_message, asked, read, text

_ASK = [
    ("en", "what is the weather like in Porto in July"),
    ("en", "whats minimum wage for a 19 year old"),
    ("en", "what's the best home server for under 300"),
    ("en", "which programming language should a beginner pick"),
    ("en", "what rent do people owe if they move out early"),
    ("en", "when do exams usually end"),
    ("en", "ok so how do I get better at chess openings"),
    ("en", "why is my build so slow"),
    ("en", "Who was the first person on the moon"),
    ("en", "do you know my student number"),
    ("en", "Did I ever tell you where I was born"),
    ("en", "how long are teachers hired for"),
    ("en", "hey any tips for a first marathon"),
    ("en", "which is better, tea or coffee"),
    ("en", "what shoe size should a child have"),
    ("de", "wie heißt mein Zahnarzt"),
    ("es", "cua\u0301l es la capital de Bolivia"),
    ("de", "wo ist der nächste Bahnhof"),
    ("de", "welche Farbe hat mein Auto"),
    ("de", "weißt du wie mein Zahnarzt heißt"),
    ("fr", "combien coûte un billet pour Lyon"),
    ("fr", "est-ce que tu connais mon adresse"),
    ("es", "cuál es la capital de Bolivia"),
    ("es", "por qué se enfría el motor"),
    ("pt", "qual é o melhor café do Porto"),
    ("ru", "сколько стоит билет в театр"),
    ("ru", "где находится музей"),
    ("tr", "hangi dil daha kolay"),
    ("tr", "benim adımı biliyor musun"),
    ("hi", "मेरा घर कहाँ है"),
    ("ar", "أين تقع مكتبة المدينة"),
    ("zh", "你知道我的电话号码吗"),
    ("zh", "我的猫叫什么"),
    ("ja", "一番近い駅はどこですか"),
    ("ko", "지금 몇 시일까요"),
]
_TELL = [
    ("en", "what I like most is green tea"),
    ("en", "what helps me sleep is camomile"),
    ("en", "when mum is home I cook"),
    ("en", "when I was ten we moved to Cork"),
    ("en", "where I work is a secret"),
    ("en", "who I trust most is my sister"),
    ("en", "how I met Ana: on a night train"),
    ("en", "was there yesterday, loved it"),
    ("en", "have my own flat now"),
    ("en", "can you call me Nadi from now on"),
    ("en", "which is why I moved to Bergen"),
    ("en", "which is great for me"),
    ("en", "what matters most is my family"),
    ("en", "what works best is email"),
    ("en", "how to reach me: 555 1234"),
    ("en", "What a week! My flat burnt down"),
    ("en", "what"),
    ("en", ""),
    ("en", "..."),
    ("de", "was ich am liebsten esse, sind Knödel"),
    ("de", "wo mein Bruder wohnt, schneit es"),
    ("de", "wie Anna schon sagte bin ich Vegetarier"),
    ("de", "wie gesagt, ich bin Vegetarierin"),
    ("de", "wie immer um acht im Chor"),
    ("fr", "où j'habite il n'y a pas de métro"),
    ("fr", "quand je serai grande je serai vétérinaire"),
    ("fr", "quand Marie travaille je garde les enfants"),
    ("es", "cuando vivía en Quito tenía un perro"),
    ("es", "donde trabajo no hay café"),
    ("pt", "onde eu moro faz frio"),
    ("ru", "когда я жил в Омске, у меня был кот"),
    ("ru", "когда мама приезжает, мы печём пироги"),
    ("tr", "babam okulda müdür"),
    ("ja", "私の部屋はとても静か"),
    ("ko", "나는 여섯 시에 일어나요"),
    ("ko", "비가 오니까"),
    ("zh", "我在家呢"),
    ("tr", "kızım müzik okuyor"),
    ("hi", "मैं दिल्ली में रहता हूँ"),
    ("ar", "كنت أعيش في القاهرة"),
    ("zh", "我住在柏林"),
    ("ja", "東京に住んでいます"),
    ("ko", "서울에 살아요"),
    ("xx", "what is this"),
]


@pytest.mark.parametrize(("language", "said"), _ASK)
def test_a_question_is_one_without_its_mark(language: str, said: str) -> None:
    assert is_question(said, language)


@pytest.mark.parametrize(("language", "said"), _TELL)
def test_statement_that_begins_like_a_question_is_not_one(language: str, said: str) -> None:
    assert not is_question(said, language)


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("do you know who my manager is", -1.0),
        ("which is it. I am Ana.", 0.0),  # a full stop ends a statement, however it begins
        ("what is my rent!", 0.0),
        ("I am Ana. what is my rent", -15 / 24),
        ("what is my rent\nI pay 410", -15 / 24),
    ],
)
def test_the_signal_counts_questions_without_a_mark(said: str, share: float) -> None:
    assert AsksSignal(TUNING).score(asked("x"), read(text(a_message(1), said))) == [pytest.approx(share)]


def test_the_signal_reads_messages_in_the_language_of_the_question() -> None:
    message = read(text(a_message(1), "was ist das"))

    assert AsksSignal(TUNING).score(asked("x", language="de"), message) == [-1.0]
    assert AsksSignal(TUNING).score(asked("x", language="en"), message) == [0.0]
