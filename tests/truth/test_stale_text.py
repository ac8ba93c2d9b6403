"""No stale text stands above the current one without a mark, in twelve languages, with and without a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest

from bethink import LearningRules, Memory, Space
from bethink.api.connect import connect
from bethink.model.kinds import FactKind
from bethink.model.recall import Match
from tests.truth.runs import SPACE, Clock, learn, open_memory, store
from tests.truth.scenario_kit import claim, talk
from tests.truth.script import Talk

# language: what a rent is, a correction of it, the question; when the dentist is, that it was moved, and when it is;
# a plan, that it was called off, and the question about it.
WORDS: dict[str, tuple[str, str, str, str, str, str, str, str, str]] = {
    "en": ("The rent is {} euros", "Correction: the rent is {} euros", "How much is the rent?",
           "The dentist is on {} May", "The dentist appointment is now on {} May", "When is the dentist?",
           "I will sing at the town festival", "The town festival was called off", "What about the town festival?"),
    "de": ("Die Miete beträgt {} Euro", "Korrektur: Die Miete beträgt {} Euro", "Wie hoch ist die Miete?",
           "Der Zahnarzt ist am {}. Mai", "Der Zahnarzttermin ist jetzt am {}. Mai", "Wann ist der Zahnarzt?",
           "Ich singe auf dem Stadtfest", "Das Stadtfest wurde abgesagt", "Was ist mit dem Stadtfest?"),
    "fr": ("Le loyer est de {} euros", "Correction : le loyer est de {} euros", "À combien est le loyer ?",
           "Le dentiste est le {} mai", "Le dentiste est maintenant le {} mai", "Quand est le dentiste ?",
           "Je chante à la kermesse", "La kermesse est annulée", "Et la kermesse ?"),
    "es": ("El alquiler es de {} euros", "Corrección: el alquiler es de {} euros", "¿Cuánto es el alquiler?",
           "El dentista es el {} de mayo", "El dentista es ahora el {} de mayo", "¿Cuándo es el dentista?",
           "Canto en la verbena", "La verbena se ha cancelado", "¿Qué hay de la verbena?"),
    "it": ("L'affitto è di {} euro", "Correzione: l'affitto è di {} euro", "Quanto è l'affitto?",
           "Il dentista è il {} maggio", "Il dentista ora è il {} maggio", "Quando è il dentista?",
           "Canto alla sagra", "La sagra è stata annullata", "E la sagra?"),
    "pt": ("O aluguel é de {} euros", "Correção: o aluguel é de {} euros", "Quanto é o aluguel?",
           "O dentista é no dia {} de maio", "O dentista agora é no dia {} de maio", "Quando é o dentista?",
           "Canto na quermesse", "A quermesse foi cancelada", "E a quermesse?"),
    "nl": ("De huur is {} euro", "Correctie: de huur is {} euro", "Hoe hoog is de huur?",
           "De tandarts is op {} mei", "De tandarts is nu op {} mei", "Wanneer is de tandarts?",
           "Ik zing op de kermis", "De kermis is afgelast", "Hoe zit het met de kermis?"),
    "pl": ("Czynsz wynosi {} złotych", "Korekta: czynsz wynosi {} złotych", "Ile wynosi czynsz?",
           "Dentysta jest {} maja", "Dentysta jest teraz {} maja", "Kiedy jest dentysta?",
           "Śpiewam na festynie", "Na festynie nic nie będzie, odwołano go", "Co z występem na festynie?"),
    "ru": ("Аренда стоит {} евро", "Исправление: аренда стоит {} евро", "Сколько стоит аренда?",
           "Стоматолог {} мая", "Стоматолог теперь {} мая", "Когда стоматолог?",
           "Я пою на ярмарке", "На ярмарке ничего не будет, её отменили", "Что на ярмарке?"),
    "tr": ("Kira {} avro", "Düzeltme: kira {} avro", "Kira ne kadar?",
           "Dişçi {} Mayıs'ta", "Dişçi şimdi {} Mayıs'ta", "Dişçi ne zaman?",
           "Panayırda şarkı söylüyorum", "Panayırda konser yok, iptal edildi", "Panayırda ne var?"),
    "zh": ("房租是{}欧元", "更正:房租是{}欧元", "房租是多少?",
           "牙医约在5月{}日", "牙医现在约在5月{}日", "牙医约在几号?",
           "我在庙会上唱歌", "庙会取消了", "庙会怎么样?"),
    "ja": ("家賃は{}ユーロです", "訂正:家賃は{}ユーロです", "家賃はいくらですか。",
           "歯医者は5月{}日です", "歯医者は今は5月{}日です", "歯医者はいつですか。",
           "盆踊りで歌います", "盆踊りは中止になりました", "盆踊りはどうなりましたか。"),
}  # fmt: skip
KINDS = ("corrected twice", "corrected twice later", "rescheduled", "rescheduled twice", "canceled", "held")


@dataclass(frozen=True)
class Case:
    """Talks, a question, the words of stale texts and those of the current one."""

    talks: Sequence[Talk]
    question: str
    stale: Sequence[str]
    current: str
    holds_first: bool = False


def _case(kind: str, language: str) -> Case:
    rent, correction, how_much, dentist, moved, when, plan, called_off, about_plan = WORDS[language]
    first, second, third = rent.format("1240"), correction.format("1420"), correction.format("1360")
    values = [rent.format(value) for value in ("1240", "1420", "1360")]
    if kind.startswith("corrected"):
        claims = {
            "a": claim(values[0], first, about="flat", slot="rent"),
            "b": claim(values[1], second, about="flat", slot="rent", corrects="a"),
            "c": claim(values[2], third, about="flat", slot="rent", corrects="b"),
        }
        if kind == "corrected twice":
            talks = [talk("2026-03-02", first, second, third, a=claims["a"], b=claims["b"], c=claims["c"])]
        else:
            talks = [
                talk("2026-03-02", first, a=claims["a"]),
                talk("2026-03-09", second, b=claims["b"]),
                talk("2026-03-16", third, c=claims["c"]),
            ]
        return Case(_named(talks), how_much, ("1240", "1420"), "1360")
    if kind.startswith("rescheduled"):
        days = ("11", "17", "23")[: 3 if kind.endswith("twice") else 2]
        texts = [dentist.format(days[0]), *(moved.format(day) for day in days[1:])]
        talks: list[Talk] = []
        for index, (text, day) in enumerate(zip(texts, days, strict=True)):
            item = claim(
                dentist.format(day), text, slot="dentist_appointment", replaces=f"c{index - 1}" if index else ()
            )  # fmt: skip
            talks.append(talk(f"2026-03-{10 + index}", text, suspicious=(), **{f"c{index}": item}))
        return Case(_named(talks), when, days[:-1], days[-1])
    if kind == "canceled":
        talks = [
            talk("2026-03-02", plan, a=claim(plan, plan, about="owner", slot="plan")),
            talk("2026-03-09", called_off, b=claim(called_off, called_off, about="owner", slot="plan", ends="a")),
        ]
        return Case(_named(talks), about_plan, (plan,), called_off)
    talks = [
        talk("2026-03-02", first, a=claim(values[0], first, about="flat", slot="rent")),
        talk("2026-03-09", second, b=claim(values[1], second, about="flat", slot="rent")),
    ]
    return Case(_named(talks), how_much, ("1240",), "1420", holds_first=True)


def _named(talks: Sequence[Talk]) -> list[Talk]:
    return [Talk(f"t{number}", item.lines, item.claims) for number, item in enumerate(talks, 1)]


def _stale_above(case: Case, matches: Sequence[Match]) -> list[str]:
    """Return the texts without a mark that are above the current one, or in place of it."""
    above: list[str] = []
    for match in matches:
        if case.current in match.text and match.status in (None, "current"):
            return above
        is_marked = match.replaced_by is not None or match.status not in (None, "current")
        if any(words in match.text for words in case.stale) and not is_marked:
            above.append(match.text)
    return above


async def _take(memory: Memory, clock: Clock, case: Case) -> Space:
    space = memory.space(SPACE)
    for index, item in enumerate(case.talks):
        if case.holds_first:
            kinds = () if index else (FactKind.DETAIL,)
            await space.admin.rules.set(LearningRules(review_kinds=kinds))
        clock.set(item.ends_at + timedelta(hours=1))
        await store(space, item)
        await learn(memory)
    return space


@pytest.mark.parametrize("kind", KINDS)
async def test_no_stale_text_is_above_the_current_one(target: str, kind: str) -> None:
    wrong: dict[str, list[str]] = {}
    for language in WORDS:
        case = _case(kind, language)
        clock = Clock(case.talks[0].begins_at)
        async with open_memory(target, case.talks, clock) as memory:
            space = await _take(memory, clock, case)
            matches = await space.recall(case.question, limit=10)
            stale = _stale_above(case, matches.items)
            if stale or case.current not in matches[0].text:
                wrong[language] = stale or [matches[0].text]
            await space.forget(everything=True)
    assert wrong == {}


@pytest.mark.parametrize("kind", ["corrected twice"])
async def test_no_stale_text_is_above_an_explicit_correction(target: str, kind: str) -> None:
    """Without a model, only what is explicit in a session counts."""
    wrong: dict[str, list[str]] = {}
    for language in WORDS:
        case = _case(kind, language)
        clock = Clock(case.talks[0].begins_at)
        async with connect(target, clock=clock, embedder="none", learn_in_background=False) as memory:
            space = await _take(memory, clock, case)
            stale = _stale_above(case, (await space.recall(case.question, limit=10)).items)
            if stale:
                wrong[language] = stale
            await space.forget(everything=True)
    assert wrong == {}


def test_there_are_more_than_fifty_cases() -> None:
    assert len(WORDS) == 12
    assert len(WORDS) * len(KINDS) >= 50
