"""Features of a value for the model: its shape, the words around it, and the stems near it."""

import re
from itertools import groupby
from math import log
from typing import NamedTuple

from bethink.providers.redaction.stems import STEMS
from bethink.providers.redaction.windows import QUOTES, Value, Window

FEATURES = (
    *("shape", "length", "letters", "signs", "letters+length", "value", "start3", "start5", "end3", "form"),
    *("quotes", "quotes+form", "gap", "gap+form"),
    *("word1", "word1+gap", "word1+form", "word1 start", "word1 end+gap", "word2", "word2+word1", "word2 start+gap"),
    *("next", "next3", "next+form", "after", "after start"),
    *("line", "line+form", "line+quotes", "line+form+gap+next", "question", "in name", "in name+form"),
    *("stem", "stem+distance", "stem+form", "distance", "group+distance+line", "group+form", "group+distance+form"),
    *("group+gap+line", "name", "name end+gap", "name end+form"),
    *("strong+distance", "strong+form", "later stem+distance", "later group+form", "later group+after", "phrase"),
    *("link", "link+next", "last word", "last4", "first word", "distance+link"),
)
"""Features of which each value has one."""
_NOT_PLAIN = ("",) * 6
_NO_OWNER = ("none", *[""] * 10)
_REACH = 200
_CODE = re.compile(r"[={}();<>]|://")
_MAX_DISTANCE = 9
_BUCKETS = [str(min(int(log(length + 1) * 4), 20)) for length in range(400)]
_SHAPED = 40  # characters of a value whose shape counts


class LineOfText(NamedTuple):
    """The line around a value, or the part of it that is near."""

    start: int
    end: int
    style: str
    is_question: bool


class Letters(dict[int, str]):
    """Maps a character to its class: `A`, `a`, `0`, `u` for other letters, or the sign itself."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter.isupper():
            sort = "A"
        elif letter.islower():
            sort = "a"
        elif letter.isdigit():
            sort = "0"
        else:
            sort = "u" if code > 127 else letter
        if code < 0x3000:  # so that the table stays small
            self[code] = sort
        return sort


_LETTERS = Letters()


def line_at(text: str, start: int, end: int) -> LineOfText:
    """Return the line around a value, at most 200 characters to each side."""
    begin = max(text.rfind("\n", max(0, start - _REACH), start) + 1, start - _REACH)
    stop = text.find("\n", end, end + _REACH)
    stop = stop if stop >= 0 else end + _REACH
    line = text[begin:stop]
    return LineOfText(begin, stop, "c" if _CODE.search(line) else "t", "?" in line)


def shape_of(value: str) -> str:
    """Return the shape of a value: `Wombat!Express7` is `Aa!Aa0`."""
    return "".join([letter for letter, _ in groupby(value[:_SHAPED].translate(_LETTERS))])


class Form(NamedTuple):
    """A value by itself: its shape in short, and its features."""

    short: str
    atoms: tuple[str, ...]


def form_of(value: str, lowered: str) -> Form:
    """Return the features of a value that do not depend on its surroundings."""
    shape = shape_of(value)
    signs = set(shape)
    letters = "".join([sort for sort in "Aa0u" if sort in signs])
    special = "".join(sorted(signs.difference("Aa0u")))
    length = len(value)
    bucket = _BUCKETS[min(length, 399)]
    is_random = length > 9 and len(shape) * 2 > min(length, _SHAPED)
    short = f"{letters}{special[:2]}R" if is_random else letters + special[:2]
    atoms = (shape[:14], bucket, letters, special, letters + bucket)
    return Form(short, (*atoms, lowered[:16], lowered[:3], lowered[:5], lowered[-3:], short))


def features_of(window: Window, value: Value, line: LineOfText) -> list[str]:
    """Return a value for each of `FEATURES`. An empty value counts nothing."""
    text, lowered, words = window.text, window.lowered, window.words
    start, end, number = value.start, value.end, value.word
    form, atoms = form_of(text[start:end], lowered[start:end])
    previous, tail, style = text[start - 1], text[end : end + 3], line.style
    first = tail[:1]
    quotes = (previous if previous in QUOTES else "") + (first if first in QUOTES else "")
    gap = word1 = word2 = "^"
    after = "$"
    if number:
        begin, stop = words[number - 1]
        gap = text[stop:start][:8] if start - stop < 12 else "long"
        word1 = lowered[begin:stop][:16]
        if number > 1:
            begin, stop = words[number - 2]
            word2 = lowered[begin:stop][:16]
    if number + 1 < len(words):
        begin, stop = words[number + 1]
        after = lowered[begin:stop][:16]
    return [
        *atoms,
        *(quotes, quotes + form, gap, gap + form),
        *(word1, f"{word1}|{gap}", f"{word1}|{form}", word1[:4], word1[-4:] + gap),
        *(word2, f"{word2} {word1}", word2[:4] + gap[:2]),
        *(first, tail, first + form, after, after[:4]),
        *(style, style + form, style + quotes, f"{form}{style}{gap[:2]}{first}", style if line.is_question else ""),
        *(("in", form) if value.until > value.before else ("", "")),
        *_owner_atoms(window, value, (form, gap, style)),
        *_strong_atoms(window, value, form),
        *_upcoming_atoms(window, value, form, after),
        str(text.count(" ", start, end) + 1) if value.is_phrase else "",
        *(_plain_atoms(window, value, first) if value.link else _NOT_PLAIN),
    ]


def _plain_atoms(window: Window, value: Value, first: str) -> tuple[str, ...]:
    """Return features of plain words: the link before them, their first and last word, and what follows."""
    inside = window.lowered[value.start : value.end].split(" ")
    link, count = value.link, min(len(inside), 4)
    distance = value.word - (window.places[value.before - 1] - 1 >> 1) if value.before else 0
    return (
        *(link, f"{count}{first}{link[0] == '<'}", inside[-1], f"{inside[-1][-4:]}{count > 1}"),
        *(inside[0], f"{min(distance, _MAX_DISTANCE)}{link}"),
    )


def _owner_atoms(window: Window, value: Value, context: tuple[str, str, str]) -> tuple[str, ...]:
    """Return features of the last stem before a value, and of the words between."""
    if not value.before:
        return _NO_OWNER
    form, gap, style = context
    lowered, words, number = window.lowered, window.words, value.word
    owner = window.places[value.before - 1] - 1 >> 1
    stem, group, _ = STEMS[window.marks[value.before - 1][0]]
    distance = str(min(number - owner, _MAX_DISTANCE))
    near = (
        *(stem, stem + distance, stem + form, distance, group + distance + style, group + form),
        *(group + distance + form, group + gap + style),
    )
    if owner < 0 or not 0 < number - owner < 5:
        return (*near, "", "", "")
    name = lowered[words[owner][0] : words[owner][1]][:16]
    return (*near, name, name[-7:] + gap, name[-10:] + form)


def _strong_atoms(window: Window, value: Value, form: str) -> tuple[str, str]:
    """Return features of the last strong stem before a value, if another stem follows it."""
    strong = window.strong[value.before]
    if strong < 0 or strong == value.before - 1:
        return "", ""
    distance = min(value.word - (window.places[strong] - 1 >> 1), _MAX_DISTANCE)
    group = STEMS[window.marks[strong][0]].group
    return str(distance) + group, f"{group}{form}{distance > 4}"


def _upcoming_atoms(window: Window, value: Value, form: str, after: str) -> tuple[str, str, str]:
    """Return features of the first stem after a value."""
    if value.until == len(window.marks):
        return "", "", ""
    distance = min((window.places[value.until] >> 1) - value.word, _MAX_DISTANCE)
    stem = STEMS[window.marks[value.until][0]]
    return stem.text + str(min(distance, 5)), f"{stem.group}{distance}{form}", after + stem.group
