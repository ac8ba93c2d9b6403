"""Words of any language: splits text, folds letters and stems words in the same way for both databases."""

from bethink.base.language.analyse import asked_forms, asked_languages, counted, parts_of, terms_of
from bethink.base.language.detect import detect
from bethink.base.language.letters import MARKS, QUESTION_MARKS, is_unspaced
from bethink.base.language.questions import asks
from bethink.base.language.stop import STOP_LANGUAGES, all_stop_words, stop_words
from bethink.base.language.topics import asked_topics, topics_of

__all__ = [
    "MARKS",
    "QUESTION_MARKS",
    "STOP_LANGUAGES",
    "all_stop_words",
    "asked_forms",
    "asked_languages",
    "asked_topics",
    "asks",
    "counted",
    "detect",
    "is_unspaced",
    "parts_of",
    "stop_words",
    "terms_of",
    "topics_of",
]
