"""required-content: text that new files must contain ("every file starts with a license header")."""

import re

from bethink.features.guard.check import BREACHED, OBEYED, GuardCheck, GuardVerdict
from bethink.features.guard.events import CHANGE, COMMAND
from bethink.features.guard.languages import is_in_language, named_languages
from bethink.features.guard.sentences.mentions import has, quoted_phrases
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_FILES = re.compile(r"\b(?:every|each|all|new|any)\b[^.]*\bfiles?\b|\bjede[rs]?\b[^.]*datei\w*|\balle\w*\b[^.]*dateien|"
                    r"\bneue\w*\b[^.]*dateien?|\b(?:cada|todos los|nuevos?)\b[^.]*(?:archivos?|"
                    r"ficheros?)", re.IGNORECASE)  # fmt: skip
_CONTAIN = re.compile(
    r"\b(?:starts?|begins?|contains?|includes?|needs?|has|have|gets?|carry|carries|must|header|beginn\w*|"
    r"enthalt\w*|enthält|"
    r"brauch\w*|bekomm\w*|empie\w+|llev\w+|conten\w+|contien\w+|tener|necesit\w+)\b",
    re.IGNORECASE,
)
_LICENSE = re.compile(r"\blicen[sc]e[- ](?:header|comment|notice)|\bSPDX\b|\bcopyright\b|lizenz-?(?:kopf|header|"
    r"hinweis)|"
                      r"cabecera de licencia|encabezado de licencia", re.IGNORECASE)  # fmt: skip
_SPAN = re.compile(r"`([^`\n]{2,120})`")
_FIRST_LINES = 10


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for a text that all new files of a language must have."""
    text = sentence.text
    if not _FILES.search(text) or not _CONTAIN.search(text) or has("negation", text):
        return None
    phrases = tuple(match[1] for match in _SPAN.finditer(text)) or quoted_phrases(text)
    if _LICENSE.search(text) and not phrases:
        return make_check("required-content", sentence, value="license", kinds=named_languages(text))
    if not phrases or sentence.of_kind("path"):
        return None
    return make_check("required-content", sentence, phrases=phrases[:1], kinds=named_languages(text))


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge new source files whose complete text is visible."""
    if moment.event.kind not in (CHANGE, COMMAND):
        return NOT_CONCERNED
    result = NOT_CONCERNED
    for change in moment.event.changes:
        if change.kind != "add" or not change.is_complete or not is_in_language(change.path, check.kinds):
            continue
        if not _has_text(check, change.added):
            return GuardVerdict(
                result=BREACHED, matched=change.path, instead=check.phrases[0] if check.phrases else "a license header"
            )
        result = GuardVerdict(result=OBEYED, matched=change.path)
    return result


def _has_text(check: GuardCheck, lines: tuple[str, ...]) -> bool:
    if check.value == "license":
        return re.search(r"licen[sc]e|spdx|copyright", "\n".join(lines[:_FIRST_LINES]), re.IGNORECASE) is not None
    return any(check.phrases[0] in line for line in lines)


SHAPE = Shape(name="required-content", order=58, parse=parse, judge=judge)
