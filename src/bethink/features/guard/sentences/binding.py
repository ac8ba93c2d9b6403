"""Decides whether a statement binds: a standing rule, a one-off, a withdrawal, or none."""

import re
from datetime import date, timedelta
from functools import cache

from bethink.features.guard.check import NONE, ONCE, STANDING, WITHDRAWS, UserStatement
from bethink.features.guard.sentences import VOCABULARIES

MAX_LENGTH = 2_000
"""Longer messages are documents and tasks, not rules."""
_POLITE = re.compile(r"^(?:can|could|would|will) you (?:please )?(?:always|never|not|stop|only)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:unless|without|ohne|sin|a menos que|es sei denn)\b.*", re.IGNORECASE | re.DOTALL)
"""Conditions: "unless you ran them in this session" is no end of a rule."""
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*\s*")
_QUOTE = re.compile(r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u201e\u00ab\u00bb\n]+[\"\u201c\u201d\u00bb]")
_INSTRUCTS = re.compile(
    r"\b(?:never|no|not|don't|do not|always|use|only|stop|avoid|without|nie|niemals|nicht|kein\w*|immer|nimm|nur|"
    r"ohne|nunca|siempre|"
    r"usa|jamás|sin)\b",
    re.IGNORECASE,
)
_WEEKDAYS = (
    r"monday|montag|lunes", r"tuesday|dienstag|martes", r"wednesday|mittwoch|miércoles", r"thursday|donnerstag|jueves",
    r"friday|freitag|viernes", r"saturday|samstag|sábado", r"sunday|sonntag|domingo",
)  # fmt: skip


@cache
def _cue(name: str) -> "re.Pattern[str]":
    pattern = "|".join(vocabulary.BINDING[name] for vocabulary in VOCABULARIES)
    # Names of people are told from other words by their capital letter.
    return re.compile(pattern, 0 if name == "report" else re.IGNORECASE)


def normalize(text: str) -> str:
    """Return a statement with plain quotes and single spaces, without words of emphasis in front."""
    plain = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u00a0", " ")
    plain = re.sub(r"[ \t]+", " ", plain).strip()
    return re.sub(r"^(?:important|note|reminder|wichtig|hinweis|importante|nota)[:!] ?", "", plain, flags=re.IGNORECASE)


def binding_of(statement: UserStatement) -> tuple[str, str]:
    """Return how a statement binds, and the part of its text that is no question."""
    if not statement.is_personal or len(statement.text) > MAX_LENGTH:
        return NONE, ""
    text = without_questions(normalize(statement.text))
    if not text or _cue("question").search(text):
        return NONE, ""
    if _cue("hypothetical").search(text) or _cue("quoted").search(text):
        return NONE, ""
    is_report = _cue("report").search(text) is not None and _cue("own_words").search(text) is None
    if _cue("withdraw").search(text) and not is_report:
        return WITHDRAWS, text
    if is_report or _is_no_rule(text):
        return NONE, ""
    return (ONCE if _cue("once").search(_CONDITION.sub("", text)) else STANDING), text


def _is_no_rule(text: str) -> bool:
    """Return True for a task, a description, a memory or an announcement."""
    if any(_cue(name).search(text) for name in ("describe", "past", "announce")):
        return True
    # A request to write or explain something is a task, even if the thing to write is a rule.
    task = _cue("task").match(text)
    return task is not None and not _cue("repeated").search(text.split('"', 1)[0].split(":", 1)[0])


def is_quotation(text: str) -> bool:
    """Return True if only quoted words give an instruction: `"Never use x" is outdated`."""
    quotes = [match[0] for match in _QUOTE.finditer(text) if len(match[0].split()) > 2]
    if not quotes:
        return False
    outside = _QUOTE.sub(" ", text)
    return any(_INSTRUCTS.search(quote) for quote in quotes) and not _INSTRUCTS.search(outside)


def is_temporary(text: str) -> bool:
    """Return True if a text is about one task or one session only."""
    return _cue("once").search(text) is not None


def without_questions(text: str) -> str:
    """Return a text without its questions; a polite request counts as an instruction."""
    sentences = [match[0] for match in _SENTENCE.finditer(text) if match[0].strip()]
    return "".join(item for item in sentences if not item.strip().endswith("?") or _POLITE.match(item.strip())).strip()


def end_of(statement: UserStatement) -> str:
    """Return the last day of "until Monday" or "until 2026-12-01" in ISO 8601; empty if there is none."""
    text = statement.text.lower()
    match = re.search(r"\b(?:until|bis|hasta)\b(.{0,30})", text)
    if match is None:
        return ""
    if (day := re.search(r"\d{4}-\d{2}-\d{2}", match[1])) is not None:
        return day[0]
    try:
        start = date.fromisoformat(statement.at[:10])
    except ValueError:
        return ""
    for number, names in enumerate(_WEEKDAYS):
        if re.search(rf"\b(?:{names})\b", match[1]):
            return (start + timedelta(days=(number - start.weekday() - 1) % 7 + 1)).isoformat()
    is_tomorrow = re.search(r"\b(?:tomorrow|morgen|mañana)\b", match[1]) is not None
    return (start + timedelta(days=1)).isoformat() if is_tomorrow else ""
