"""answer-language: the language of the answers."""

import re

from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.events import ANSWER
from bethink.features.guard.languages import guess_language, prose_of
from bethink.features.guard.sentences import merge
from bethink.features.guard.sentences.mentions import find_mentions, has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_LANGUAGES = {word: str(code) for word, code in merge("LANGUAGES").items()}
_NAME = re.compile(rf"\b({'|'.join(_LANGUAGES)})\b", re.IGNORECASE)
_EXCLUDED = re.compile(r"\b(?:not|never|no|nicht|nie|kein|nunca)\s+(?:in |auf |en )?$", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:commits?|commit-\w+|comments?|kommentar\w*|comentarios?|code|código|docs|documentation|readme|"
    r"variables?|names?|"
    r"docstrings?|doku\w*|bezeichner|nombres|mensajes|files?)\b",
    re.IGNORECASE,
)
_NAMES_OF_CODES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
}


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "reply in Dutch"."""
    text = sentence.text
    names = list(_NAME.finditer(text))
    if not names or not has("answer", text) or _OTHERS.search(text) or find_mentions(text):
        return None
    requested = [match for match in names if not _EXCLUDED.search(text[: match.start()])]
    if not requested:
        return None
    return make_check("answer-language", sentence, value=_LANGUAGES[requested[0][1].lower()])


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the prose of an answer, without code and quotes."""
    if moment.event.kind != ANSWER:
        return NOT_CONCERNED
    prose = prose_of(moment.event.text).strip()
    if not re.search(r"[^\W\d_]{2}", prose):
        return NOT_CONCERNED
    language = guess_language(prose)
    if not language:
        return GuardVerdict(result=UNKNOWN, matched=prose[:60])
    if language == check.value:
        return GuardVerdict(result=OBEYED, matched=prose[:60])
    return GuardVerdict(result=BREACHED, matched=prose[:60], instead=f"answer in {_NAMES_OF_CODES[check.value]}")


SHAPE = Shape(name="answer-language", order=10, parse=parse, judge=judge)
