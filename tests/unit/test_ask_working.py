"""Numbers of an answer: which calculations of a model are right, and what code derives without one."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.memory.answering.amounts import amounts_in, split_clock_times
from bethink.memory.answering.days import read_dates
from bethink.memory.answering.proof import Proof
from bethink.memory.answering.sentences import Sentence, SentenceSplitter
from bethink.model.answers import AnswerSentence, SentenceFault
from bethink.model.facts import Fact
from bethink.model.kinds import FactKind
from bethink.model.recall import Match
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind

MONDAY = datetime(2026, 3, 16, 12, tzinfo=UTC)
NOW = MONDAY + timedelta(days=30)


def line(label: str, text: str, *, days: int = 0) -> Match:
    ref = Ref(RefKind.MESSAGE, f"ses_{label}", 1)
    said_at = MONDAY + timedelta(days=days)
    return Match(
        ref=ref, text=text, origin=Origin("user"), said_at=said_at, score=1.0, tokens=9, label=6 * label, speaker=None
    )


def checked(text: str, *lines: Match, question: str = "How many hours did I paint?") -> AnswerSentence | SentenceFault:
    splitter = SentenceSplitter()
    [sentence] = [*splitter.add(text), *splitter.finish()]
    return Proof(lines, question=question, space="alice", now=NOW).check(sentence)


PAINTING = [
    line("a", "I painted the fence for 3 hours and had two coffees."),
    line("b", "Painting the door took me 90 minutes.", days=2),
    line("c", "The paint was $40 a bucket, and I bought 3 buckets.", days=3),
    line("d", "Started painting the shed yesterday.", days=4),
    line("e", "The shed is painted since today! My alarm was at 6:30 AM.", days=18),
    line("f", "A coat of paint has to dry 45 minutes.", days=18),
]
SHOWN = [
    (
        "You painted 4.5 hours. {3 hours [^aaaaaa] + 90 minutes [^bbbbbb] = 4.5 hours}",
        "3 hours + 90 minutes = 4.5 hours",
    ),
    ("Painting took 1.5 hours less. {3 hours [^aaaaaa] - 90 minutes [^bbbbbb] = 1.5 hours}", None),
    ("You paid $120 for the paint. {$40 [^cccccc] * 3 buckets [^cccccc] = $120}", "$40 * 3 buckets = $120"),
    ("You paint 135 minutes on average. {average: 3 hours [^aaaaaa]; 90 minutes [^bbbbbb] = 135 minutes}", None),
    ("You painted 2 things. {count: the fence [^aaaaaa]; the door [^bbbbbb] = 2 things}", None),
    ("Painting the shed took 15 days. {yesterday [^dddddd] to today [^eeeeee] = 15 days}", None),
    ("Painting the shed took 15 days. {2026-03-19 [^dddddd] to 2026-04-03 [^eeeeee] = 15 days}", None),
    ("The shed is painted for 12 days. {2026-04-03 [^eeeeee] to today = 12 days}", None),
    ("The alarm was 45 minutes late, 7:15 AM. {6:30 AM [^eeeeee] + 45 minutes [^ffffff] = 7:15 AM}", None),
    ("The door took 50 % of the time. {90 minutes [^bbbbbb] of 3 hours [^aaaaaa] = 50 %}", None),
]


@pytest.mark.parametrize(("text", "working"), SHOWN, ids=lambda value: str(value)[:40])
def test_right_calculation_of_the_model_is_shown(text: str, working: str | None) -> None:
    result = checked(text, *PAINTING)

    assert isinstance(result, AnswerSentence), result
    assert result.working is not None
    assert working is None or result.working == working
    assert result.text == text.partition(" {")[0]
    assert set(result.refs) >= {item.ref for item in PAINTING if f"[^{item.label}]" in text}


@pytest.mark.parametrize(
    "text",
    [
        "You painted 5 hours. {3 hours [^aaaaaa] + 90 minutes [^bbbbbb] = 5 hours}",
        "You painted 5 hours. {3 hours [^aaaaaa] + 2 hours [^bbbbbb] = 5 hours}",
        "You painted 6 hours. {3 hours [^aaaaaa] + 3 hours [^aaaaaa] = 6 hours}",
        "You painted 93 hours. {3 hours [^aaaaaa] + 90 hours [^bbbbbb] = 93 hours}",
        "You painted 5 hours. {3 hours [^aaaaaa] + two [^aaaaaa] = 5 hours}",
        "You painted 90 minutes. {3 hours [^bbbbbb] - 90 minutes [^bbbbbb] = 90 minutes}",
        "You paid $120 for the paint. {$40 [^cccccc] * 3 hours [^aaaaaa] = $120}",
        "You paint 2 hours on average. {average: 3 hours [^aaaaaa]; 90 minutes [^bbbbbb] = 2 hours}",
        "You painted 3 things. {count: the fence [^aaaaaa]; the door [^bbbbbb] = 3 things}",
        "You painted 2 things. {count: the fence [^aaaaaa]; the fence [^aaaaaa] = 2 things}",
        "You painted 2 things. {count: the fence [^aaaaaa]; the kitchen [^bbbbbb] = 2 things}",
        "Painting the shed took 14 days. {2026-03-19 [^dddddd] to 2026-04-03 [^eeeeee] = 14 days}",
        "Painting the shed took 14 days. {2026-03-18 [^dddddd] to 2026-04-01 [^eeeeee] = 14 days}",
        "The shed is painted for 13 days. {2026-04-03 [^eeeeee] to today = 13 days}",
        "The alarm was 45 minutes early, 5:30 AM. {6:30 AM [^eeeeee] - 45 minutes [^ffffff] = 5:30 AM}",
        "The alarm was 45 minutes early, 6:15 AM. {7:00 AM [^eeeeee] - 45 minutes [^ffffff] = 6:15 AM}",
        "The door took 60 % of the time. {90 minutes [^bbbbbb] of 3 hours [^aaaaaa] = 60 %}",
        "You painted 4.5 hours. {3 hours [^aaaaaa] + 90 minutes [^bbbbbb][^cccccc] = 4.5 hours}",
    ],
)
def test_wrong_calculation_of_the_model_rejects_the_sentence(text: str) -> None:
    assert checked(text, *PAINTING) is SentenceFault.WRONG_CALCULATION


def test_operand_with_an_unknown_label_rejects_the_sentence() -> None:
    text = "You painted 4.5 hours. {3 hours [^aaaaaa] + 90 minutes [^zzzzzz] = 4.5 hours}"

    assert checked(text, *PAINTING) is SentenceFault.UNKNOWN_REF


def test_result_that_is_not_in_the_sentence_proves_nothing() -> None:
    text = "You painted 7 hours. {3 hours [^aaaaaa] + 90 minutes [^bbbbbb] = 4.5 hours}"

    assert checked(text, *PAINTING) is SentenceFault.FOREIGN_NUMBER


def test_braces_without_a_calculation_are_text() -> None:
    assert checked("You painted the {fence} [^aaaaaa].", *PAINTING) == AnswerSentence(
        text="You painted the {fence}.", refs=(PAINTING[0].ref,)
    )


@given(
    st.lists(
        st.sampled_from(
            ["You paint.", " ", "[^aaaaaa]", "{3 hours ", "= 4 hours}", "[^bb", "bbbb]", "\n", "{", "}", "=", "Ja. "]
        ),
        max_size=12,
    )
)
def test_calculations_are_split_alike_however_they_arrive(pieces: list[str]) -> None:
    gradual, whole = SentenceSplitter(), SentenceSplitter()

    sentences = [sentence for piece in pieces for sentence in gradual.add(piece)] + gradual.finish()

    assert sentences == [*whole.add("".join(pieces)), *whole.finish()]


def test_working_belongs_to_the_sentence_before_it() -> None:
    splitter = SentenceSplitter()

    assert splitter.add("It took 2 hours. {1 hour [^aaaaaa] + 1 hour [^bbb") == []
    assert splitter.add("bbb] = 2 hours} Yes. [^cccccc] ") == [
        Sentence("It took 2 hours.", ("aaaaaa", "bbbbbb"), "1 hour [^aaaaaa] + 1 hour [^bbbbbb] = 2 hours")
    ]
    assert splitter.finish() == [Sentence("Yes.", ("cccccc",))]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("One coffee break took two hours. [^aaaaaa]", "How long was it?"),
        ("Two teas. [^aaaaaa]", "How many teas?"),
        ("Six. [^aaaaaa]", "How many teas?"),
    ],
)
def test_number_words_at_the_start_are_numbers_and_not_names(text: str, question: str) -> None:
    result = checked(text, line("a", "I had four coffees."), question=question)

    assert result is SentenceFault.FOREIGN_NUMBER


@pytest.mark.parametrize(
    ("text", "question", "said"),
    [
        ("Six.", "How many teas did I drink?", "I drank 6 teas."),
        ("Four mummies.", "How many mummies are there?", "The museum has four mummies."),
        ("One week passed.", "How long did it take?", "It took one week."),
        ("Festivals are what you visit.", "Which festivals do I like?", "I visit one festival each year."),
        ("Finally, you visited Riga.", "Where did I go last?", "I visited Riga."),
        ("Usually you swim on Mondays.", "When do I do sports?", "I swim on Mondays."),
        ("Derzeit ist deine Stadt Bern.", "Wo wohne ich?", "Meine Stadt ist Bern."),
        ("Driving takes 20 minutes.", "How long is the commute?", "The drive takes 20 minutes."),
    ],
)
def test_first_word_that_is_no_name_needs_no_source(text: str, question: str, said: str) -> None:
    assert isinstance(checked(f"{text} [^aaaaaa]", line("a", said), question=question), AnswerSentence)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("You painted for 3 minutes.", "I painted for 3 hours."),
        ("You paid €40.", "I paid $40."),
        ("You have 12 cats.", "Ada has cats (since 2026-12-12)."),
        ("You have 2 cats.", "I want to have cats."),
        ("You have 16 cats.", "I have cats."),
        ("You got up at 7:30.", "I got up at 7:00 after 30 minutes."),
        ("You moved on March 15th.", "I moved on March 16th."),
        ("You moved 5 days ago.", "I moved 5 days ago."),
    ],
)
def test_number_with_another_unit_or_date_is_foreign(text: str, said: str) -> None:
    assert checked(f"{text} [^aaaaaa]", line("a", said), question="What about me?") is SentenceFault.FOREIGN_NUMBER


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("You painted for 180 minutes.", "I painted for 3 hours."),
        ("You painted for two hours.", "I painted for 2 hours."),
        ("You earned 3,000 dollars.", "I earned $3k."),
        ("You got up at 7:30 am.", "I got up at 7:30."),
        ("You moved on 16 March 2026.", "I moved on March 16th."),
        ("You moved 35 days ago.", "I moved 5 days ago."),
        ("You read 20th century novels.", "I read novels of the 20th century."),
        ("You drive an X300.", "I drive an X300."),
        ("You saw 3 films.", "Ich habe drei Filme gesehen, und ich saw die films gern."),
    ],
)
def test_number_in_another_form_is_stated(text: str, said: str) -> None:
    result = checked(f"{text} [^aaaaaa]", line("a", said), question="What about me?")

    assert isinstance(result, AnswerSentence), result


def test_dates_of_a_fact_count_before_the_day_on_which_it_was_said() -> None:
    fact = Fact(
        id="f1",
        text="Ada painted the boat.",
        kind=FactKind.DETAIL,
        origin=Origin("user"),
        event_from=MONDAY - timedelta(days=10),
    )
    match = Match(
        ref=Ref(RefKind.FACT, "f1", 1), text=fact.text, origin=fact.origin, said_at=MONDAY, score=1.0, tokens=9,
        label="aaaaaa", fact=fact,
    )  # fmt: skip

    right = checked("Ada painted the boat 40 days ago. [^aaaaaa]", match)

    assert isinstance(right, AnswerSentence)
    assert right.working == "2026-03-06 to 2026-04-15 = 40 days ago"
    assert checked("Ada painted the boat 30 days ago. [^aaaaaa]", match) is SentenceFault.FOREIGN_NUMBER


@pytest.mark.parametrize("name", ["Lisbon", "Ada", "Zürich", "Chess"])
def test_first_word_that_no_source_has_is_foreign(name: str) -> None:
    result = checked(f"{name} is what you like. [^aaaaaa]", line("a", "I like tea, what you like is tea."))

    assert result is SentenceFault.FOREIGN_NAME


@pytest.mark.parametrize("text", ["from " * 20_000, "one hundred " * 10_000, "7:00 " * 20_000, "1,000." * 20_000])
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    _, _, _, plain = read_dates(text[:100_000], MONDAY)

    assert len(amounts_in(split_clock_times(plain)[1])) < 100_000
