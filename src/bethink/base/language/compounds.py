"""Splits compounds of German, such as "Zahnarzttermin", without a list of words."""

from functools import lru_cache

from bethink.base.language.stems import stems_in
from bethink.base.language.stop import stop_words

_MIN_WORD, _MAX_WORD = 9, 40
_MIN_PART = 5
_SHORTEST_OTHER = 3
"""The other part may be shorter, such as "Rad"."""


@lru_cache(maxsize=4_096)
def compound_stems(word: str) -> tuple[str, ...]:
    """Return the stems of the beginnings and endings of a long German word; those that are not words occur in no text.

    The stemmer removes the letters that join two parts.
    """
    if not _MIN_WORD <= len(word) <= _MAX_WORD or not word.isalpha():
        return ()
    cuts = range(_SHORTEST_OTHER, len(word) - _SHORTEST_OTHER + 1)
    parts = [part for cut in cuts for part in (word[:cut], word[cut:]) if len(part) >= _MIN_PART]
    stems = stems_in("german")
    ignored = {stems[ignored_word] for ignored_word in stop_words("de")}
    unique = dict.fromkeys(stems[part] for part in parts)
    return tuple(stem for stem in unique if stem not in ignored and stem != stems[word])
