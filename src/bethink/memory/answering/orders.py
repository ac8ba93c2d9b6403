"""Detect memories that read like orders to the answering model, which are withheld from it.

An order proves nothing. The patterns cannot cover every wording, but a model that follows another order still has to
prove each sentence.
"""

import re
import unicodedata

_RULES = (
    r"(?:rules?|instructions?|prompts?|guidelines?|directives?|everything"
    r"|anweisung\w*|regeln?|vorgaben?|consignes?|règles?|instrucciones|reglas|istruzioni|regole|instruções|regras"
    r"|\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446\w*|\u043f\u0440\u0430\u0432\u0438\u043b\w*)"
)
_IGNORE = (
    r"(?:ignore|disregard|forget|override|bypass|ignorier\w*|vergiss|missachte\w*|ignorez|oublie[zs]?|ignor[ai]|olvida"
    r"|esque[çc]a|dimentica|\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439\w*|\u0437\u0430\u0431\u0443\u0434\u044c\w*)"
)
_SAY = r"(?:answer|say|reply|respond|claim|state|output|write|tell|pretend)"
_ORDERS = (
    # Ignore all previous instructions; forget your rules; disregard the above.
    rf"\b{_IGNORE}\b[^.!?\n]{{0,60}}\b{_RULES}\b",
    rf"\b{_IGNORE}\b[^.!?\n]{{0,20}}\b(?:above|previous(?:ly)?|prior)\b",
    # When asked about X, answer Y; the only correct answer is Y; you must reply with Y.
    r"\b(?:when(?:ever)?|if) (?:you are |you're |anyone |anybody |someone |the user |a user |they )?ask(?:s|ed)?\b"
    rf"[^\n]{{0,120}}, (?:you |just |always |then |please |must |should ){{0,3}}{_SAY}\b",
    r"\b(?:only|right|correct|proper|official) (?:answer|response|reply)\b[^.!?\n]{0,60}(?:\b(?:is|must|should)\b|:)",
    r"\b(?:you|(?:the )?(?:assistant|model|ai)) (?:must|shall|should|have to|has to|are to)"
    rf" (?:now |always |only |instead ){{0,2}}{_SAY}\b",
    r"(?:^|[.!?:;\n] ?|\b(?:and|then|now|instead|please|always|just) )(?:answer|reply|respond|output)"
    r"(?: (?:with|only|that|always|instead|exactly)\b| ?:)",
    # Text that pretends to be the system.
    r"\b(?:new|updated|real|actual|hidden|secret) (?:system )?(?:instructions?|prompt) ?[:=]",
    r"\b(?:system|developer) (?:prompt|message|override|note) ?[:=]",
    r"\byou are now (?:an?|the|in)\b|\bfrom now on,? you\b",
    r"\bantworte (?:immer |nur |stattdessen |jetzt )*(?:mit|dass|auf)\b|\bréponds? (?:toujours|uniquement|que)\b"
    r"|\bresponde (?:siempre|solo|que)\b|\u043e\u0442\u0432\u0435\u0447\u0430\u0439"
    r"|\u5ffd\u7565.{0,12}(?:\u6307\u4ee4|\u89c4\u5219|\u898f\u5247|\u6307\u793a)|\u7121\u8996\u3057\u3066",
)
_ORDER = re.compile("|".join(f"(?:{pattern})" for pattern in _ORDERS), re.IGNORECASE)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SPACES = re.compile(r"[ \t\u00a0*_`~]+")


def is_order(text: str) -> bool:
    """Return whether a text tells the model that reads it what to answer, or to ignore its rules."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _ORDER.search(_SPACES.sub(" ", plain)) is not None
