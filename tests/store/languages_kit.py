"""Sentences in twelve languages, made of names, things and places, and questions about them."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

NAMES = ("Anna", "Bruno", "Carla", "David", "Elif", "Farid", "Greta", "Hugo")


class Spoken(NamedTuple):
    """A language: what someone does with a thing, how that is asked, and the things."""

    said: str
    asked: str
    things: tuple[str, ...]


LANGUAGES = {
    "en": Spoken("{} keeps the {} in the old kitchen.", "Where does {} keep the {}?", (
        "violins", "bicycle", "letters", "cherries", "blankets", "teapot", "running shoes")),
    "de": Spoken("{} bewahrt die {} in der alten Küche auf.", "Wo hat {} die {} aufbewahrt?", (
        "Geigen", "Fahrräder", "Briefe", "Kirschen", "Wolldecken", "Teekanne", "Laufschuhe")),
    "fr": Spoken("{} garde les {} dans la vieille cuisine.", "Où est-ce que {} gardait les {} ?", (
        "violons", "vélos", "lettres", "cerises", "couvertures", "théières", "chaussures")),
    "es": Spoken("{} guarda los {} en la cocina vieja.", "¿Dónde guardaba {} los {}?", (
        "violines", "bicicletas", "cartas", "cerezas", "mantas", "teteras", "zapatos")),
    "pt": Spoken("{} guarda os {} na cozinha velha.", "Onde é que {} guardou os {}?", (
        "violinos", "bicicletas", "cartões", "cerejas", "cobertores", "bules", "sapatos")),
    "it": Spoken("{} tiene le {} nella vecchia cucina.", "Dove teneva {} le {}?", (
        "chitarre", "biciclette", "lettere", "ciliegie", "coperte", "teiere", "scarpe")),
    "nl": Spoken("{} bewaart de {} in de oude keuken.", "Waar heeft {} de {} bewaard?", (
        "violen", "fietsen", "brieven", "kersen", "dekens", "theepotten", "schoenen")),
    "ru": Spoken("{} хранит {} на старой кухне.", "Где {} хранила {}?", (
        "скрипки", "велосипеды", "письма", "вишни", "одеяла", "чайники", "ботинки")),
    "tr": Spoken("{} eski mutfakta {} saklıyor.", "{} nerede {} sakladı?", (
        "kemanları", "bisikletleri", "mektupları", "kirazları", "battaniyeleri", "çaydanlığı", "ayakkabıları")),
    "ar": Spoken("{} تحتفظ ب{} في المطبخ القديم.", "أين تحتفظ {} ب{}؟", (
        "الكمان", "الدراجة", "الرسائل", "الكرز", "البطانية", "الإبريق", "الحذاء")),
    "zh": Spoken("{}把{}放在旧厨房里。", "{}的{}放在哪里？", (
        "小提琴", "自行车", "信件", "樱桃", "毯子", "茶壶", "跑鞋")),
    "ja": Spoken("{}は{}を古い台所に置いています。", "{}の{}はどこですか？", (
        "バイオリン", "自転車", "手紙", "さくらんぼ", "毛布", "急須", "運動靴")),
}  # fmt: skip


def statements(language: str) -> list[str]:
    """Return what was said in a language."""
    spoken = LANGUAGES[language]
    return [spoken.said.format(name, thing) for name, thing in product(NAMES, spoken.things)]


def questions(language: str) -> Iterator[tuple[str, str]]:
    """Give questions in a language, each with the statement that answers it."""
    spoken = LANGUAGES[language]
    pairs = list(product(NAMES, spoken.things))
    for name, thing in pairs:
        yield spoken.asked.format(name, thing), spoken.said.format(name, thing)
    for name, thing in pairs[:28]:  # words alone, in another order and case
        yield f"{thing.upper()} {name}", spoken.said.format(name, thing)
