"""Values near the stems that announce secrets: the parts of a text that the model judges."""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from pathlib import Path
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
_LINKS, _LINKS_AFTER, _STOPS = (
    frozenset(line.split()[1:])
    for line in Path(__file__).with_name("words.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)
"""Words before a password, words between one and its name, and words that no password of words begins with."""
_PLAIN = re.compile(r"[^\W\d_]+")
_SIGNS = ":→—–"
_TOWARD = frozenset(("to", "auf", "naar", "på", "til", "na", "на"))
"""Links that also have other uses. They must follow the name."""
_MAX_WORDS, _MAX_DISTANCE, _MAX_GAP, _MAX_NAMES = 8, 9, 5, 8
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
    link: str = ""
    """The word between the name and the value, if the value is made of plain words."""


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
    plain = [value for value in _plain_values(window) if value.end - value.start >= _MIN_LENGTH]
    yield from plain
    judged = {value.word for value in plain if not value.is_phrase}
    for number, (start, stop) in enumerate(words):
        slot = 2 * number + 1
        while before < count and places[before] < slot:
            before += 1
        while until < count and places[until] <= slot:
            until += 1
        index = strong[before]
        near = number - (places[index] - 1 >> 1) if index >= 0 else _FAR
        word = text[start:stop]
        if number in judged or (near > 3 and word.isalpha() and text[start - 1] not in QUOTES):
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
        begins = previous == " " and text[start - 2] in ".!?…"  # a sentence
        return near <= 3 and following not in "([.'’" and not is_plain and not begins
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


def _plain_values(window: Window) -> Iterator[Value]:
    """Find words that may be a password: after a link such as "is", or before a link and the name of a password."""
    text, lowered, words = window.text, window.lowered, window.words
    owners = [
        place - 1 >> 1
        for mark, place in zip(window.marks, window.places, strict=True)
        if STEMS[mark[0]].group == PASSWORD
    ]
    if len(owners) > max(_MAX_NAMES, len(words) // 4):
        return  # no sentence has so many names of passwords
    following = deque(owners)
    owner = -_FAR
    for number in range(max(1, owners[0]) if owners else len(words), len(words)):
        while following and following[0] < number:
            owner = following.popleft()
        if number - owner > _MAX_DISTANCE or (following and following[0] == number):
            continue
        if link := _link_before(window, number, number - owner):
            yield from _words_from(window, number, link, is_far=link not in _SIGNS or number - owner > 3)
        elif text[words[number - 1][1] - 1] in _ENDS + "!":
            owner = -_FAR  # another sentence
    for owner in owners:
        for number in range(max(1, owner - 3), owner):
            link = lowered[words[number][0] : words[number][1]]
            if link in _LINKS_AFTER:
                yield from _words_before(window, number, link)
                break


def _link_before(window: Window, number: int, distance: int) -> str:
    """Return the word or sign that links a word to the name of a password before it, or an empty text."""
    start, end = window.words[number - 1]
    gap = window.text[end : window.words[number][0]]
    if len(gap) > _MAX_GAP or "\n" in gap or window.text[end - 1] in _ENDS + "!":
        return ""
    link = window.lowered[start:end]
    if link in _LINKS and distance > 1 and (link not in _TOWARD or distance < 3):
        return link
    return next((sign for sign in _SIGNS if sign in gap), "")


def _words_from(window: Window, number: int, link: str, *, is_far: bool) -> Iterator[Value]:
    """Return the plain words at a number as one value, and the first by itself unless it is judged as others are."""
    run = 0
    end = start = window.words[number][0]
    for begin, stop in window.words[number : number + _MAX_WORDS]:
        word = window.text[begin:stop].rstrip(_ENDS)
        name = word.lower()
        if (run and window.text[end:begin] != " ") or name in _STOPS or not (run or name not in _LINKS):
            break
        if not _PLAIN.fullmatch(word) or window.text[stop] in "'’([@":
            break
        run += 1
        end = begin + len(word)
        if run == 1 and is_far:
            yield _plain_value(window, (start, end), number, link)
        if len(word) < stop - begin:
            break
    if run > 1:
        yield _plain_value(window, (start, end), number, link, is_phrase=True)


def _words_before(window: Window, number: int, link: str) -> Iterator[Value]:
    """Return the plain word before a link, and the plain words up to there as one value."""
    run = 0
    end = window.words[number - 1][1]
    start = window.words[number][0]
    for first in range(number - 1, max(-1, number - 1 - _MAX_WORDS), -1):
        begin, stop = window.words[first]
        word = window.text[begin:stop]
        if (run and window.text[stop:start] != " ") or word.lower() in _STOPS or not _PLAIN.fullmatch(word):
            break
        run += 1
        start = begin
        if run == 1:
            yield _plain_value(window, (start, end), first, f"<{link}")
    if run > 2:
        yield _plain_value(window, (start, end), number - run, f"<{link}", is_phrase=True)


def _plain_value(window: Window, span: tuple[int, int], number: int, link: str, *, is_phrase: bool = False) -> Value:
    before = bisect_left(window.places, 2 * number + 1)
    return Value(*span, number, before, bisect_left(window.places, 2 * number + 2), is_phrase, link)
