"""Words of any language: splits text, folds letters and stems words in the same way for both databases."""

from bethink.base.language.analyze import count_terms, parts_of, question_languages, search_forms, terms_of
from bethink.base.language.compounds import compound_stems
from bethink.base.language.detect import detect
from bethink.base.language.letters import MARKS, QUESTION_MARKS, is_unspaced
from bethink.base.language.preferences import PREFERENCE_TERM, preferences_in
from bethink.base.language.questions import is_question
from bethink.base.language.requests import is_request
from bethink.base.language.stop import STOP_LANGUAGES, all_stop_words, first_person, stop_words
from bethink.base.language.topics import question_topics, topics_of

__all__ = [
    "MARKS",
    "PREFERENCE_TERM",
    "QUESTION_MARKS",
    "STOP_LANGUAGES",
    "all_stop_words",
    "compound_stems",
    "count_terms",
    "detect",
    "first_person",
    "is_question",
    "is_request",
    "is_unspaced",
    "parts_of",
    "preferences_in",
    "question_languages",
    "question_topics",
    "search_forms",
    "stop_words",
    "terms_of",
    "topics_of",
]
