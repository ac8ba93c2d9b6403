"""Recognizes a request for a text, such as "write a haiku about rain": it answers no question."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen
from bethink.base.language.letters import words_in

_DIGIT = re.compile(r"\d")
_MAX_PHRASE_WORDS = 3


@frozen
class _Phrases:
    """The entries of requests.txt, which explains each of them."""

    begins: frozenset[tuple[str, ...]]
    ends: frozenset[tuple[str, ...]]
    starts: tuple[str, ...]
    finals: tuple[str, ...]
    own: frozenset[str]
    leads: frozenset[str]
    own_parts: tuple[str, ...]


def is_request(sentence: str) -> bool:
    """Return whether a sentence only asks an assistant for a text. False if it may also state something.

    Names of its own do not make it a statement, but words such as "my" and numbers do.
    """
    phrases = _phrases()
    text = sentence.strip().rstrip(".!。\uff01").lower()
    if _DIGIT.search(text) or any(part in text for part in phrases.own_parts):
        return False
    if text.startswith(phrases.starts) or text.endswith(phrases.finals):
        return True
    words = words_in(text)
    if not phrases.own.isdisjoint(words):
        return False
    while len(words) > 1 and words[0] in phrases.leads:
        del words[0]
    sizes = range(1, _MAX_PHRASE_WORDS + 1)
    begins = any(tuple(words[:size]) in phrases.begins for size in sizes)
    ends = tuple(words[-_MAX_PHRASE_WORDS:]) in phrases.ends or tuple(words[-2:]) in phrases.ends
    return (begins or ends) and len(words) > 1


@cache
def _phrases() -> _Phrases:
    lists = _read()
    return _Phrases(
        begins=frozenset(tuple(words_in(phrase)) for phrase in lists["begins"]),
        ends=frozenset(tuple(words_in(phrase)) for phrase in lists["ends"]),
        starts=tuple(lists["starts"]),
        finals=tuple(lists["finals"]),
        own=frozenset(word for line in lists["own"] for word in words_in(line)),
        leads=frozenset(word for line in lists["leads"] for word in words_in(line)),
        own_parts=tuple(lists["own_parts"]),
    )


def _read() -> Mapping[str, Sequence[str]]:
    lists: dict[str, list[str]] = {}
    text = (resources.files("bethink.base.language") / "requests.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, phrases = line.partition(": ")
            lists.setdefault(name, []).extend(phrase.strip() for phrase in phrases.split("|"))
    return lists
