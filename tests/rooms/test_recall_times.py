"""The time of an event is not the time of saying: a future or vague time excludes nothing that was said before."""

import pytest

from bethink import Memory
from bethink.model.recall import Certainty
from tests.conftest import FakeClock
from tests.rooms.recall_kit import ago, tell, texts, user

SAID = {
    "en": ("I am going to a cheese conference in Oslo.", "cheese conference", "We bought a boat."),
    "de": ("Ich fahre zu einer Konferenz über Käse nach Oslo.", "Konferenz über Käse", "Wir haben ein Boot gekauft."),
    "es": ("Voy a una conferencia sobre quesos en Oslo.", "conferencia sobre quesos", "Compramos un barco."),
    "fr": ("Je vais à une conférence sur le fromage à Oslo.", "conférence sur le fromage", "On a acheté un bateau."),
    "pt": ("Vou a uma conferência sobre queijo em Oslo.", "conferência sobre queijo", "Comprámos um barco."),
    "ru": ("Я еду на конференцию о сыре в Осло.", "конференция о сыре", "Мы купили лодку."),
    "tr": ("Oslo'da bir peynir konferansına gidiyorum.", "peynir konferansı", "Bir tekne aldık."),
    "ar": ("سأذهب إلى مؤتمر الجبن في أوسلو.", "مؤتمر الجبن", "اشترينا قاربا."),
    "hi": ("मैं ओस्लो में पनीर सम्मेलन में जा रहा हूँ।", "पनीर सम्मेलन", "हमने नाव खरीदी।"),
    "zh": ("我要去奥斯陆参加奶酪会议。", "奶酪会议", "買船。"),
    "ja": ("オスロのチーズ会議に行く予定です。", "チーズ会議", "ボート買いました。"),
    "ko": ("오슬로에서 열리는 치즈 회의에 가요.", "치즈 회의", "배를 샀다."),
}
"""Per language: a statement, its topic, and a statement about another topic."""

TIMES = {
    "en": ("next year", "next month", "tomorrow", "recently", "lately"),
    "de": ("nächstes Jahr", "nächsten Monat", "morgen", "neulich", "in letzter Zeit"),
    "es": ("el año que viene", "el próximo mes", "mañana", "recientemente", "últimamente"),
    "fr": ("l'année prochaine", "le mois prochain", "demain", "récemment", "dernièrement"),
    "pt": ("no próximo ano", "no mês que vem", "amanhã", "recentemente", "ultimamente"),
    "ru": ("в следующем году", "в следующем месяце", "завтра", "недавно", "в последнее время"),
    "tr": ("gelecek yıl", "gelecek ay", "yarın", "geçenlerde", "son zamanlarda"),
    "ar": ("العام القادم", "الشهر القادم", "غدا", "مؤخرا", "في الآونة الأخيرة"),
    "hi": ("अगले साल", "अगले महीने", "आने वाले कल", "हाल ही में", "हाल में"),
    "zh": ("明年", "下个月", "明天", "最近", "前阵子"),
    "ja": ("来年", "来月", "明日", "最近", "先日"),
    "ko": ("내년", "다음 달", "내일", "최근", "요즘"),
}

YESTERDAY = {
    "en": "What did we talk about yesterday?",
    "de": "Worüber haben wir gestern gesprochen?",
    "es": "¿De qué hablamos ayer?",
    "fr": "De quoi avons-nous parlé hier ?",
    "pt": "Do que falamos ontem?",
    "ru": "О чём мы говорили вчера?",
    "tr": "Dün ne konuştuk?",
    "ar": "عن ماذا تحدثنا أمس؟",
    "hi": "हमने बीते कल क्या बात की?",
    "zh": "我们昨天聊了什么？",
    "ja": "昨日何を話しましたか？",
    "ko": "어제 우리 무슨 얘기했어?",
}

ABOUT_TOPIC = [(language, time) for language, times in TIMES.items() for time in times]


async def tell_both(memory: Memory, clock: FakeClock, language: str) -> tuple[str, str]:
    """Say the statement 60 days ago and the other one yesterday."""
    statement, _, other = SAID[language]
    await tell(memory, user(statement, said_at=ago(clock, 60)))
    await tell(memory, user(other, said_at=ago(clock, 1)))
    return statement, other


@pytest.mark.parametrize(("language", "time"), ABOUT_TOPIC)
async def test_a_future_or_vague_time_excludes_no_earlier_message(
    memory: Memory, clock: FakeClock, language: str, time: str
) -> None:
    statement, _ = await tell_both(memory, clock, language)

    result = await memory.space("alice").recall(f"{SAID[language][1]} {time}?")

    assert texts(result) == [statement]


@pytest.mark.parametrize(
    "question", ["What did I say is next year?", "What did I mention about next month?", "What is planned next year?"]
)
async def test_a_future_time_is_matched_as_words(memory: Memory, clock: FakeClock, question: str) -> None:
    await tell(memory, user("The cheese conference is next year, and next month I pack.", said_at=ago(clock, 60)))
    await tell(memory, user("We bought a boat.", said_at=ago(clock, 1)))

    assert len(await memory.space("alice").recall(question)) == 1


@pytest.mark.parametrize("language", YESTERDAY)
async def test_a_question_about_yesterday_returns_what_was_said_then(
    memory: Memory, clock: FakeClock, language: str
) -> None:
    _, other = await tell_both(memory, clock, language)

    assert texts(await memory.space("alice").recall(YESTERDAY[language])) == [other]


@pytest.mark.parametrize(
    "question",
    ["What have I mentioned lately?", "我最近说过什么？", "最近何を話しましたか？", "Что я говорил недавно?"],
)
async def test_a_question_about_recent_talk_returns_the_newest_first(
    memory: Memory, clock: FakeClock, question: str
) -> None:
    statement, other = await tell_both(memory, clock, "en")

    result = await memory.space("alice").recall(question)

    assert texts(result) == [other, statement]
    assert result.items[1].certainty is Certainty.WEAK


async def test_the_word_before_a_latin_name_is_content_in_chinese(memory: Memory, clock: FakeClock) -> None:
    await tell(memory, user("IBM的报告写完了。", said_at=ago(clock, 60)))
    await tell(memory, user("買船。", said_at=ago(clock, 1)))

    assert texts(await memory.space("alice").recall("昨天IBM的报告？")) == ["IBM的报告写完了。"]
