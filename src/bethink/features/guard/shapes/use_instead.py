"""use-instead: one program in place of another ("bun instead of npm")."""

import re

from bethink.features.guard.acts import find_acts
from bethink.features.guard.alternatives import judge_alternatives
from bethink.features.guard.check import CommandPattern, GuardCheck
from bethink.features.guard.sentences.mentions import NamedWord, has, pattern_of
from bethink.features.guard.sentences.programs import EXCLUSIVE
from bethink.features.guard.shape import RuleSentence, Shape, make_check
from bethink.features.guard.tables import word_set

_WORD = r"`?([a-z][\w.-]*[a-z0-9])`?"
_FOR = re.compile(
    rf"(?:^|[\s,:])(?:use|prefer|call|replace \S+ (?:by|with)|ersetze \S+ durch|reemplaza \S+ por|nimm|benutz\w*|"
    rf"verwend\w*|usa|utiliza)\s+{_WORD}(?=\s|[.,;:!]|$)",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    rf"(?:instead of|rather than|(?:never|not|don't|do not|nicht|nie|niemals|no|nunca)(?: use| call| run| mit| "
    rf"uses| con)?|statt|"
    rf"anstatt|anstelle von|en lugar de|en vez de)(?: plain| raw| normal)?\s+{_WORD}(?=\s*(?:[.,;:!]|$))",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    rf"(?:instead of|rather than|anstatt|anstelle von|statt|en lugar de|en vez de)(?: plain| raw| normal)? "
    rf"{_WORD}(?=\s*(?:[.,;:!]|$))",
    re.IGNORECASE,
)
_NOT_PROGRAMS = word_set(
    "it that this the a an any all them those these ever again anything everything nothing tabs spaces types code "
    "me us "
    "never niemals nie nunca siempre immer always only nur bitte please solo here there files classes functions "
    "tests comments emojis german english spanish something either both one"
)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for a sentence that names a program to use, and perhaps one to avoid."""
    programs = [m for m in sentence.of_kind("program", "code") if m.kind == "program" or m.is_code]
    good = [m.pattern for m in programs if m.polarity > 0]
    bad = [m.pattern for m in programs if m.polarity < 0]
    if "|" in sentence.text:
        return None
    if not programs:
        return _unknown_pair(sentence)
    if not good and not bad:
        return None
    good = good or _unknown_program(_FOR, sentence.text, bad)
    good = [pattern for pattern in good if pattern not in bad]
    bad = bad or _unknown_program(_AGAINST, sentence.text, good)
    if not good:
        return None
    if not bad:
        return _only_good(sentence, programs, good)
    same = good[0].program == bad[0].program and bool(bad[0].words)
    return make_check("required-flag" if same else "use-instead", sentence, good=tuple(good), bad=tuple(bad))


def _unknown_program(pattern: "re.Pattern[str]", text: str, others: list[CommandPattern]) -> list[CommandPattern]:
    """Return a program that no table knows, in the position of one: "use NAME, never pip"."""
    names = {str(other) for other in others} | {other.program for other in others}
    words = [match[1] for match in pattern.finditer(text)]
    return (
        [pattern_of(word) for word in words if word.lower() not in _NOT_PROGRAMS and word not in names][:1]
        if others
        else []
    )


def _unknown_pair(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for two programs that no table knows: "use NAME instead of OTHER"."""
    good = next((match[1] for match in _FOR.finditer(sentence.text) if match[1].lower() not in _NOT_PROGRAMS), "")
    bad = next((match[1] for match in _INSTEAD.finditer(sentence.text) if match[1].lower() not in _NOT_PROGRAMS), "")
    if not good or not bad or good == bad or sentence.of_kind("path", "flag"):
        return None
    return make_check("use-instead", sentence, good=(pattern_of(good),), bad=(pattern_of(bad),))


def _only_good(sentence: RuleSentence, programs: list[NamedWord], good: list[CommandPattern]) -> GuardCheck | None:
    """Return a check for "format with NAME": known alternatives of the same purpose count as avoided."""
    lead = sentence.text[: programs[0].start]
    is_wish = re.search(
        r"\b(?:use|using|with|mit|con|nimm|benutz\w*|verwend\w*|usa|utiliza|through|via|over|commits? with|is|ist|"
        r"es)\s+$",
        lead + " ",
        re.IGNORECASE,
    )
    if (
        not lead.strip()
        or is_wish is None
        or has("negation", _clause(sentence.text, programs[0].start))
        or sentence.of_kind("flag")
    ):
        return None
    acts = {name for name, _ in find_acts(lead)}
    group = next((group for group in EXCLUSIVE if good[0].program in group), ())
    bad = tuple(CommandPattern(program=name) for name in group if name != good[0].program)
    if good[0].program == "black":
        bad = (*bad, CommandPattern(program="ruff", words=("format",)))
    is_about_use = bool(acts) or re.search(r"\b(?:use|usa|nimm|benutz\w*|verwend\w*)\b", lead, re.IGNORECASE)
    return make_check("use-instead", sentence, good=tuple(good), bad=bad) if is_about_use else None


def _clause(text: str, position: int) -> str:
    """Return the clause around a position."""
    start = max(text.rfind(sign, 0, position) for sign in ",.;:!") + 1
    end = re.search(r"[,.;:!](?:\s|$)", text[position:])
    return text[start : position + end.start() if end is not None else len(text)]


SHAPE = Shape(name="use-instead", order=85, parse=parse, judge=judge_alternatives)
