"""Letters: which belong to one word, how their case and accents are ignored, and which scripts have no spaces."""

import re
import unicodedata

# A mark belongs to the letter before it, but Python counts only letters and digits as part of a word.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957"
    "\u0962-\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u09e2-\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a71"
    "\u0a75\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0ae2-\u0ae3\u0b01-\u0b03\u0b3c\u0b3e-\u0b57\u0b62-\u0b63\u0b82"
    "\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c62-\u0c63\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6\u0ce2-\u0ce3"
    "\u0d00-\u0d03\u0d3b-\u0d3c\u0d3e-\u0d4d\u0d57\u0d62-\u0d63\u0d81-\u0d83\u0dca\u0dcf-\u0ddf"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u3099-\u309a"
)
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
"""Letters of ASCII in lower case and digits as they are, and a space for anything else."""
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
# Han, Kana, Hangul, Thai, Lao, Burmese, Khmer: words are not separated, or carry their particles.
_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUNS = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")
# Accents and vowel points that people leave out, and letters that a decomposition leaves as they are.
_OMITTED_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u0652\u0670]")
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i", "ß": "ss", "ħ": "h"}
    | {"\u0623": "\u0627", "\u0625": "\u0627", "\u0622": "\u0627", "\u0649": "\u064a"}  # forms of alef and yeh
)


QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""Question marks of all scripts."""


def words_in(text: str) -> list[str]:
    """Return the words of a text in order, in lower case and with their accents; addresses are split at every sign."""
    if text.isascii():  # most texts are, and this runs for every stored text
        return text.encode().translate(_ASCII).decode().split()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = _WORD.findall(folded)
    if _IS_UNSPACED.search(folded) is None:
        return words
    return [run for word in words for run in _RUNS.findall(word)]


def without_accents(word: str) -> str:
    """Return a word as someone types it who leaves out accents."""
    if word.isascii():
        return word
    plain = word.translate(_PLAIN)
    return unicodedata.normalize("NFC", _OMITTED_MARKS.sub("", unicodedata.normalize("NFD", plain)))


def is_unspaced(word: str) -> bool:
    """Return whether a word is a run of a script that does not separate words."""
    return not word.isascii() and _IS_UNSPACED.match(word) is not None


def han_in(word: str) -> list[str]:
    """Return the Han characters of a word."""
    return _HAN.findall(word)


def is_latin(word: str) -> bool:
    """Return whether a word in lower case is written in Latin script."""
    return word.isascii() or _LATIN.match(word) is not None
