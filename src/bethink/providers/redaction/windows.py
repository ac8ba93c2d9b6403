"""Values near the stems that announce secrets: the parts of a text that the model judges."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from bethink.providers.redaction.stems import FLAG, KEY, PASSWORD, STEMS, STRONG, Mark

_BEFORE, _AFTER = 60, 110
"""Characters before and after a stem in which a value can stand."""
_BREAKS = (
    r"\s\"'`<>,;=(){}\[\]|:\\、。，；：！（）「」『』【】“”„«»‘’"  # CJK letters end a value as a space does
    r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
)
_ENTITY = r"(?:quot|apos|amp|lt|gt|#x?[0-9a-f]{2,3});"
_WORD = re.compile(rf"(?:[^{_BREAKS}&]++|&(?![\w.-]{{1,60}}=|{_ENTITY}))++")
_DIGIT = re.compile(r"[0-9]")
_NUMBER = re.compile(r"[0-9\"“„«「`]")
_ODD = re.compile(r"[0-9\"“„«「`:=_#@$%&*+~/\\]|(?<=\w)[-!.](?=\w)| ['—–-]")
"""Characters that a window without a password stem must contain. Most prose windows do not."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z_.]*\Z")
_PHRASE = re.compile(
    r"[\"“„«「'‘`]([^\s\"“”„«»「」'’`=;(){}]{1,40}(?: [^\s\"“”„«»「」'’`=;(){}]{1,40}){1,7})[\"”“»」'’`]"
)
_SENTENCE = re.compile(
    r"\b(?:the|is|are|your|my|must|have|has|to|be|with|for|at|and|or|not|no|too|missing|days?|die|der|das|nicht|le|les|est"
    r"|de|la|el|es|il|non|o|a|é|è)\b|passw|pass_|token|key|secret|code|login|user|auth|парол|hasł|contrase|senha|密|パス"
    r"|[%{}<>]|\.|bearer|basic"
)
"""Words of quoted text that is not a passphrase."""
QUOTES = "\"'`“”„«»‘’「」『』"
_ENDS = ".?…*"
_MIN_LENGTH, _MAX_LENGTH = 3, 256
_FAR = 99


class Window(NamedTuple):
    """A part of a text around stems: its words and stems. The text begins and ends with a line break."""

    text: str
    lowered: str
    start: int
    end: int
    words: list[tuple[int, int]]
    marks: list[Mark]
    places: list[int]
    """Where each stem is: `2 * n + 1` in word number n, `2 * n` in the gap before it."""
    strong: list[int]
    """For each number of preceding stems the index of the last strong one, or -1."""


class Value(NamedTuple):
    """A part of a window that may be a secret: its word, and how many stems begin before and up to its end."""

    start: int
    end: int
    word: int
    before: int
    until: int
    is_phrase: bool = False


def find_windows(text: str, lowered: str, marks: list[Mark]) -> Iterator[Window]:
    """Cut out the text around stems. Windows that overlap are one."""
    size = len(text)
    position, count = 0, len(marks)
    while position < count:
        first = position
        low = max(1, marks[position][1] - _BEFORE)
        high = marks[position][2] + _AFTER
        while position + 1 < count and marks[position + 1][1] - _BEFORE <= high:
            position += 1
            high = marks[position][2] + _AFTER
        position += 1
        high = min(size, high)
        inside = marks[first:position]
        groups = {STEMS[mark[0]].group for mark in inside}
        if PASSWORD in groups or (_ODD if KEY in groups or FLAG in groups else _NUMBER).search(text, low, high):
            window = _window(text, lowered, (low, high), inside)
            if window.words:
                yield window


def _window(text: str, lowered: str, span: tuple[int, int], marks: list[Mark]) -> Window:
    low, high = span
    words = [match.span() for match in _WORD.finditer(text, low, high)]
    if words and low > 1 and words[0][0] == low:
        del words[0]  # its beginning is outside
    if words and words[-1][1] == high and (complete := _WORD.match(text, words[-1][0])):
        words[-1] = complete.span()
    places: list[int] = []
    strong = [-1]
    word, count = 0, len(words)
    for index, (number, start, end) in enumerate(marks):
        while word < count and words[word][1] <= start:
            word += 1
        places.append(2 * word + (word < count and words[word][0] < end))
        strong.append(index if STEMS[number].group in STRONG else strong[-1])
    return Window(text, lowered, low, high, words, marks, places, strong)


def find_values(window: Window) -> Iterator[Value]:
    """Return the words of a window that may be secrets, then quoted phrases."""
    text, _, _, _, words, marks, places, strong = window
    before = until = 0
    count = len(marks)
    for number, (start, stop) in enumerate(words):
        slot = 2 * number + 1
        while before < count and places[before] < slot:
            before += 1
        while until < count and places[until] <= slot:
            until += 1
        index = strong[before]
        near = number - (places[index] - 1 >> 1) if index >= 0 else _FAR
        word = text[start:stop]
        if near > 3 and word.isalpha() and text[start - 1] not in QUOTES:
            continue  # the quickest test, which most words of prose fail
        if word[-1] in _ENDS and len(stripped := word.rstrip(_ENDS)) >= _MIN_LENGTH:
            word = stripped
        if _MIN_LENGTH <= len(word) <= _MAX_LENGTH:
            value = Value(start, start + len(word), number, before, until)
            if _is_near(window, value) if _DIGIT.search(word) else _may_be_word(window, value, word, near):
                yield value
    if strong[-1] >= 0:
        yield from _phrases(window)


def _since(window: Window, value: Value) -> int:
    """Return the number of words since the last stem."""
    return value.word - (window.places[value.before - 1] - 1 >> 1) if value.before else _FAR


def _till(window: Window, value: Value) -> int:
    """Return the number of words to the next stem."""
    return (window.places[value.until] >> 1) - value.word if value.until < len(window.places) else _FAR


def _is_near(window: Window, value: Value) -> bool:
    """Return whether a value with a digit is near enough to a stem."""
    return _since(window, value) <= 8 or _till(window, value) <= 6


def _may_be_word(window: Window, value: Value, word: str, near: int) -> bool:
    """Return whether a word without digits may be a secret: it must be close to a stem, in quotes or oddly written."""
    text, start, end = window.text, value.start, value.end
    previous, following = text[start - 1], text[end]
    is_quoted = previous in QUOTES and following in QUOTES
    if near > 6 and not (is_quoted and _since(window, value) < 3) and (word.isalpha() or _till(window, value) > 6):
        return False
    if is_quoted:
        return text[end + 1 : end + 2] != ":" or not _NAME.match(word)  # not the name of a setting
    if value.until > value.before and near > 2:  # part of a name
        return False
    if word.isalpha():
        is_plain = word.islower() and previous == " " and following == " " and text[start - 2] not in ":=-—–"
        return near <= 3 and following not in "([." and not is_plain
    return following not in "([" and not (_NAME.match(word) and (near > 2 or previous in ".([{"))


def _phrases(window: Window) -> Iterator[Value]:
    """Find several words in quotes soon after a strong stem."""
    for phrase in _PHRASE.finditer(window.text, window.start, window.end):
        start, end = phrase.span(1)
        number = bisect_left(window.words, (start, 0))
        if number == len(window.words):
            break
        before = bisect_left(window.places, 2 * number + 1)
        until = bisect_left(window.places, 2 * number + 2)
        index = window.strong[before]
        if index < 0 or number - (window.places[index] - 1 >> 1) > 6 or _SENTENCE.search(window.lowered, start, end):
            continue
        yield Value(start, end, number, before, until, is_phrase=True)
