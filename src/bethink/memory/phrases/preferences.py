"""Compares two preferences that a person stated: whether the later one takes the place of the earlier one."""

from collections.abc import Sequence

from bethink.memory.phrases.spans import is_unspaced, words
from bethink.memory.phrases.vocabulary import corrections
from bethink.model.words import key_words, stem

_MIN_SHARED, _MAX_EXCHANGED = 4, 2
"""Numbers of characters of a sentence in a script without spaces."""


def replaces(later: str, earlier: str) -> bool:
    """Return whether a preference replaces an earlier one about the same matter.

    It says that something changes, and has the words of the earlier one with at most one exchanged: "Please answer in
    Spanish from now on." and "From now on, please answer in English." Anything else may hold next to it.
    """
    if is_unspaced(later):
        return _exchanges_signs(later.strip(".\u3002"), earlier.strip(".\u3002"))
    patterns = corrections()
    if not (patterns.change.search(later) or patterns.weak.match(later)):
        return False
    new_words, old_words = _words(later), _words(earlier)
    new, old = set(map(_key, new_words)), set(map(_key, old_words))
    added, dropped = new - old, old - new
    if not old or not dropped:
        return bool(old)
    if not (len(added) == len(dropped) == 1 and new & old):
        return False
    return _position(new_words, added.pop()) == _position(old_words, dropped.pop())


def _words(sentence: str) -> list[str]:
    """Return the words of a preference, without those that say that something changes."""
    patterns = corrections()
    return words(patterns.change.sub(" ", patterns.weak.sub(" ", sentence)))


def _key(word: str) -> str:
    """Return the stem of a significant word; empty for any other."""
    return stem(word.lower()) if key_words(word) else ""


def _position(sentence: Sequence[str], key: str) -> tuple[str, bool]:
    """Return the word before one with this stem, and whether it is written as a name: "in", True for "in English"."""
    at = next(at for at, word in enumerate(sentence) if _key(word) == key)
    return sentence[at - 1].lower() if at else "", sentence[at][:1].isupper() and at > 0


def _exchanges_signs(later: str, earlier: str) -> bool:
    start = _shared_start(later, earlier)
    end = _shared_start(later[start:][::-1], earlier[start:][::-1])
    exchanged = max(len(later), len(earlier)) - start - end
    return 0 < exchanged <= _MAX_EXCHANGED and start + end >= _MIN_SHARED


def _shared_start(first: str, second: str) -> int:
    """Return the number of characters with which both texts begin."""
    pairs = zip(first, second, strict=False)
    return next((at for at, (sign, other_sign) in enumerate(pairs) if sign != other_sign), min(len(first), len(second)))
