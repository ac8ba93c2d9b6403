"""answer-format: signs, phrases and lengths of answers."""

import re

from bethink.features.guard.check import BREACHED, OBEYED, GuardCheck, GuardVerdict
from bethink.features.guard.events import ANSWER
from bethink.features.guard.languages import without_code
from bethink.features.guard.sentences.mentions import find, has, quoted_phrases
from bethink.features.guard.sentences.numbers import limit_of
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_EMOJI = (
    "[\U0001f000-\U0001faff\u2600-\u26ff\u2705\u274c\u274e\u2728\u2757\u2753-\u2755\u2795-\u2797\u2b50\u2b55\u231a\u231b"
    "\u23e9-\u23f3\u23f8-\u23fa\u2708-\u270d\u270f\u2714\u2716\u2764\u2763\u27a1\u2b05-\u2b07]"
)
_SIGNS = {
    "emoji": _EMOJI,
    "em_dash": "—",
    "bullets": r"(?m)^[ \t]*[-*•+][ \t]+\S",
    "headings": r"(?m)^#{1,6}[ \t]+\S",
    "tables": r"(?m)^[ \t]*\|.*\|[ \t]*$",
    "exclamation": r"(?<!\w)[^\s!]*[^\s!=]!(?!=|\[|\w)",
}
_CONTEXT = re.compile(
    r"\b(?:commits?|commit-\w+|code|código|files?|dateien|archivos|comments?|kommentare\w*|comentarios?|readme|docs)\b",
    re.IGNORECASE,
)
_ABBREVIATIONS = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|z\.\s?b|d\.\s?h|bzw|usw|ca|nr|no|p\.\s?ej|dr|mr|ms|approx|incl|u\.\s?a|cf)\.(?=\W)",
    re.IGNORECASE,
)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "no emojis", "at most three sentences" or "never say X"."""
    text = sentence.text
    if _CONTEXT.search(text):
        return None
    is_ban = has("negation", text)
    for value in _SIGNS:
        if is_ban and has(value, text) and (value not in ("bullets", "headings", "tables") or has("answer", text)):
            return make_check("answer-format", sentence, value=value)
    for unit in ("sentences", "words", "lines"):
        limit = limit_of(text, unit)
        if limit is not None and (has("answer", text) or unit == "sentences"):
            return make_check("answer-format", sentence, value="length", limit=limit, unit=unit)
    phrases = quoted_phrases(text)
    is_about_words = find("say", text) is not None or has("answer", text)
    if is_ban and phrases and is_about_words and not sentence.of_kind("program", "path", "flag"):
        return make_check("answer-format", sentence, value="phrase", phrases=phrases)
    return None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge an answer without its code."""
    if moment.event.kind != ANSWER or not moment.event.text.strip():
        return NOT_CONCERNED
    text = without_code(moment.event.text)
    if check.value == "length":
        count = _count(text, check.unit)
        matched = f"{count} {check.unit}"
        is_over = check.limit is not None and count > check.limit
        return GuardVerdict(result=BREACHED if is_over else OBEYED, matched=matched, instead=f"at most {check.limit}")
    if check.value == "phrase":
        plain = _plain(text)
        phrase = next((p for p in check.phrases if re.search(rf"(?<!\w){re.escape(_plain(p))}(?!\w)", plain)), "")
        return GuardVerdict(result=BREACHED if phrase else OBEYED, matched=phrase)
    match = re.search(_SIGNS[check.value], text)
    return GuardVerdict(result=OBEYED) if match is None else GuardVerdict(result=BREACHED, matched=match[0].strip())


def _count(text: str, unit: str) -> int:
    if unit == "words":
        return len(re.findall(r"\w[\w'\u2019.-]*", text))
    if unit == "lines":
        return len([line for line in text.splitlines() if line.strip()])
    plain = _ABBREVIATIONS.sub(" ", text + "\n")
    return len(re.findall(r"[^\s.!?][^.!?\n]*(?:[.!?]+(?!\s|$)[^.!?\n]*)*[.!?]+(?=[\s\"')\]]|$)", plain))


def _plain(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").replace("\u2018", "'").lower().strip(" .!").split())


SHAPE = Shape(name="answer-format", order=20, parse=parse, judge=judge)
