"""Amounts in a text: a number with its unit, such as "70 hours", "$200" or "five short stories", and times of day.

Measures are known in six languages and can be converted; every other unit is a noun, compared by its stems. Number
words are read in English, digits in every language. Dates must be blanked out before.
"""

import re
from fractions import Fraction

from bethink.base.frozen import frozen
from bethink.model.words import key_stems, words_of

_MEASURES = {
    ("second", 1): "second seconds sec secs sekunde sekunden seconde secondes segundo segundos secondi",
    ("second", 60): "minute minutes min mins minuten minuto minutos minuti",
    ("second", 3_600): "hour hours hr hrs stunde stunden heure heures hora horas ora ore uur",
    ("second", 86_400): "day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen",
    ("second", 604_800): "week weeks woche wochen semaine semaines semana semanas settimana settimane weken",
    ("month", 1): "month months monat monate monaten mois mes meses mese mesi maand maanden",
    ("month", 12): "year years yr yrs jahr jahre jahren ans année années año años ano anos anno anni jaar",
    ("dollar", 1): "$ dollar dollars usd bucks",
    ("euro", 1): "€ euro euros eur",
    ("pound", 1): "£ gbp quid",
    ("percent", 1): "% percent prozent pourcent porciento",
    ("meter", 1): "m meter meters metre metres mètres metros metri",
    ("meter", 1_000): "km kilometer kilometers kilometre kilometres kilomètres kilómetros chilometri kms",
    ("mile", 1): "mile miles",
    ("foot", 1): "foot feet ft",
    ("gram", 1): "g gram grams gramm grammes gramos",
    ("gram", 1_000): "kg kilo kilos kilogram kilograms kilogramm",
    ("calorie", 1): "calorie calories kcal kalorien",
}
_UNITS = {word: unit for unit, words in _MEASURES.items() for word in words.split()}
_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "dozen": 12}
_ALL_WORDS = sorted([*NUMBER_WORDS, *_SCALES], key=len, reverse=True)
_WORD = rf"(?:{'|'.join(_ALL_WORDS)})"
_NUMBER = re.compile(
    rf"(?P<sign>[$€£]\s?)?(?:(?<![\w.,:/])(?P<digits>\d{{1,3}}(?:[,.]\d{{3}})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?![:/]?\d)"
    rf"|\b(?P<words>(?:half an? )?{_WORD}(?:(?:[\s-]|\sand\s){_WORD})*)\b)(?P<short>k\b|\s?%)?",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_FOLLOWING = re.compile(r"[\s-]*([^\W\d_]+|[$€£%])")
_GROUPED = re.compile(r"\d{1,3}(?:[,.]\d{3})+")
_CLOCK = re.compile(
    r"(?<![\w.,:/$€£])(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d)(?!\d))?\s?(?P<half>[ap])(?:m\b|\.m\b\.?)"
    r"|(?<![\w.,:/$€£])(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)(?![:\d])",
    re.IGNORECASE,
)
_DIRECTION = re.compile(r"\s+(earlier|before|sooner|ahead|prior|later|after|afterwards)\b", re.IGNORECASE)
_EARLIER = ("earlier", "before", "sooner", "ahead", "prior")
_TOTAL_BEFORE = re.compile(r"\btotal\w*(?:\s\w+){0,2}\s*(?:[:=]\s*)?[$€£]?$|\baltogether\s*$", re.IGNORECASE)
_TOTAL_AFTER = re.compile(r"^(?:\s\w+){0,3}\s(?:in total|altogether|in all|overall|so far|combined)\b", re.IGNORECASE)
_FORMER = re.compile(
    r"\b(?:from|than|instead of|rather than|not|used to|previous\w*|former\w*|original\w*|old|usual\w*)"
    r"(?:\s\w+){0,2}\s*[$€£]?$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:an?|another)((?:\s+[^\W\d_]+){1,2})", re.IGNORECASE)
_BEFORE_NOUNS = ("of", "the", "my", "your")
_NO_NOUNS = frozenset(
    """now today combined together total altogether against around per each about over after before during while because
    until since back only just already yet also again left remaining""".split()  # noqa: SIM905 - a list of words
)
_REACH = 32
_MAX_NOUNS = 4
_MAX_DIGITS = 15

Unit = tuple[str, int]


@frozen
class Amount:
    """A number in a text and its unit: a measure, or the stems of a noun, or neither."""

    value: Fraction
    text: str
    start: int
    end: int
    measure: Unit | None = None
    nouns: frozenset[str] = frozenset()
    is_total: bool = False
    """Whether the text calls it a total."""
    is_former: bool = False
    """Whether the text compares with it, as in "instead of 20"."""
    is_article: bool = False
    """Whether it is an "a" before a noun."""
    direction: int = 0
    """-1 for "15 minutes earlier", 1 for "15 minutes later"."""

    @property
    def base(self) -> Fraction:
        """The value in the base unit of its measure."""
        return self.value * (self.measure[1] if self.measure else 1)

    def is_like(self, other: "Amount") -> bool:
        """Return whether two amounts can be added: the same measure, or no measure."""
        return (self.measure and self.measure[0]) == (other.measure and other.measure[0])

    def equals(self, other: "Amount") -> bool:
        """Return whether another amount says the same. A number without any unit can have every unit."""
        if self.is_like(other):
            return self.base == other.base
        is_bare = not (other.measure or other.nouns) or not (self.measure or self.nouns)
        return is_bare and self.value == other.value

    def shares_noun(self, other: "Amount") -> bool:
        """Return whether both count the same noun."""
        return not self.nouns.isdisjoint(other.nouns)


@frozen
class ClockTime:
    """A time of day in a text, in minutes. Without am or pm, `is_half` is False for times up to 12:59."""

    minutes: int
    text: str
    start: int
    is_exact: bool
    """Whether the text says am or pm, or a time after noon."""
    is_former: bool = False

    def equals(self, other: "ClockTime") -> bool:
        """Return whether two times are the same, also if one of them does not say am or pm."""
        if self.is_exact and other.is_exact:
            return self.minutes == other.minutes
        return self.minutes % 720 == other.minutes % 720


def split_clock_times(text: str) -> tuple[list[ClockTime], str]:
    """Return the times of day in a text, and the text with them blanked out."""
    times = [_clock_time(text, match) for match in _CLOCK.finditer(text)]
    return times, _CLOCK.sub(lambda match: " " * len(match[0]), text)


def _clock_time(text: str, match: re.Match[str]) -> ClockTime:
    half = (match["half"] or "").lower()
    hour = int(match["hour"] or match["hour24"])
    minute = int(match["minute"] or match["minute24"] or 0)
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return ClockTime(
        minutes=60 * hour + minute,
        text=match[0].strip(),
        start=match.start(),
        is_exact=bool(half) or hour > 12,
        is_former=_FORMER.search(text, max(0, match.start() - _REACH), match.start()) is not None,
    )


def amounts_in(text: str) -> list[Amount]:
    """Return the amounts in a text without dates and times of day."""
    amounts: list[Amount] = []
    for match in _NUMBER.finditer(text):
        amount = _amount(text, match)
        if amount is not None:
            amounts.append(amount)
    return amounts


def articles_in(text: str, nouns: frozenset[str]) -> list[Amount]:
    """Return an amount of one for each "a" or "another" before one of these nouns, as in "I wrote a short piece"."""
    amounts: list[Amount] = []
    for match in _ARTICLE.finditer(text):
        noun = next((word for word in match[1].split() if not key_stems(word).isdisjoint(nouns)), None)
        if noun is not None:
            amounts.append(
                Amount(
                    value=Fraction(1),
                    text=f"1 {noun}",
                    start=match.start(),
                    end=match.end(),
                    nouns=key_stems(noun),
                    is_article=True,
                )
            )
    return amounts


def _amount(text: str, match: re.Match[str]) -> Amount | None:
    value = _value(match)
    if value is None or _ORDINAL.match(text, match.end()):
        return None
    measure, nouns, end = _unit(text, match)
    if value == 1 and match["words"] and measure is None:
        return None  # "one" is a pronoun more often than a number
    direction = _DIRECTION.match(text, end)
    before = text[max(0, match.start() - _REACH) : match.start()]
    return Amount(
        value=value,
        text=text[match.start() : end].strip(),
        start=match.start(),
        end=end,
        measure=measure,
        nouns=nouns,
        is_total=bool(_TOTAL_BEFORE.search(before) or _TOTAL_AFTER.search(text[end : end + _REACH])),
        is_former=_FORMER.search(before) is not None,
        direction=0 if direction is None else -1 if direction[1].lower() in _EARLIER else 1,
    )


def _value(match: re.Match[str]) -> Fraction | None:
    if match["words"]:
        return _spoken(match["words"])
    digits = match["digits"]
    if len(digits) > _MAX_DIGITS:
        return None
    integer, _, part = digits.rpartition(".")
    if integer and len(part) != 3:
        plain = f"{integer.replace(',', '')}.{part}"
    else:
        plain = re.sub(r"[,.]", "", digits) if _GROUPED.fullmatch(digits) else digits.replace(",", ".")
    value = Fraction(plain)
    return value * 1_000 if (match["short"] or "").strip().lower() == "k" else value


def _spoken(words: str) -> Fraction:
    total = current = Fraction(0)
    if words.lower().startswith("half a"):
        return Fraction(_SCALES.get(words.rsplit(maxsplit=1)[-1].lower(), 1), 2)
    for word in re.findall(r"[^\W\d_]+", words.lower()):
        scale = _SCALES.get(word)
        if scale is None:
            current += NUMBER_WORDS.get(word, 0)
        elif scale in (12, 100):
            current = (current or 1) * scale
        else:
            total, current = total + (current or 1) * scale, Fraction(0)
    return total + current


def _unit(text: str, match: re.Match[str]) -> tuple[Unit | None, frozenset[str], int]:
    """Return the measure, the stems of the noun, and where the amount ends."""
    if match["sign"]:
        return _UNITS[match["sign"].strip()], frozenset(), match.end()
    if (match["short"] or "").strip() == "%":
        return _UNITS["%"], frozenset(), match.end()
    position, nouns, end = match.end(), set[str](), match.end()
    for number in range(_MAX_NOUNS):
        following = _FOLLOWING.match(text, position)
        if following is None:
            break
        word = following[1].casefold()
        if number < 2 and word in _UNITS and not (len(word) <= 2 and number):
            return _UNITS[word], frozenset(), following.end()
        stems = frozenset[str]() if word in _NO_NOUNS else key_stems(word)
        if not stems and (nouns or word not in _BEFORE_NOUNS):
            break
        nouns |= stems
        position = following.end()
        end = position if stems else end
    return None, frozenset(nouns), end


def nouns_of_question(question: str) -> tuple[Unit | None, frozenset[str]]:
    """Return what a question counts: the measure or noun after "how many" or "how much"."""
    match = re.search(r"\bhow (?:many|much)((?:\s+[^\W\d_]+){1,3})", question, re.IGNORECASE)
    words = words_of(match[1]) if match else []
    measure = next((_UNITS[word] for word in words[:2] if word in _UNITS), None)
    return measure, frozenset() if measure else key_stems(" ".join(words))
