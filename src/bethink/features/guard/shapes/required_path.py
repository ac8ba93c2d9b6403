"""required-path: new files of a kind belong in one folder."""

import posixpath
import re

from bethink.features.guard.check import BREACHED, OBEYED, GuardCheck, GuardVerdict
from bethink.features.guard.events import CHANGE, COMMAND
from bethink.features.guard.files import ChangedFile, is_below
from bethink.features.guard.sentences.mentions import find, has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_TEXTS = r"(?:\.(?:md|mdx|txt|rst|adoc))?$"
_KINDS = {
    "plan": (r"plans?|pläne?n?|plan|planes", rf"(?:^|[._-])plans?(?:[._-][\w.-]*)?{_TEXTS}|/plans/[^/]+\.md$"),
    "throwaway": (
        r"throwaway|temporary|temp|scratch|one-off|wegwerf\w*|temporär\w*|temporales|experimental|debug(?:ging)? "
        r"scripts?",
        r"(?:^|[/._-])(?:tmp|temp|scratch|quick|throwaway|debug|try|oneoff|experiment)(?:[._-][\w-]*)?\.(?:py|sh|"
        r"js|ts|rb|go)$",
    ),
    "test": (
        r"tests?|specs?|pruebas",
        r"(?:^|/)(?:test_[\w-]+\.py|[\w-]+_test\.(?:py|go|rb)|[\w.-]+\.(?:test|spec)\.[jt]sx?)$",
    ),
    "migration": (
        r"migrations?|migrationen|migraciones",
        r"(?:^|[/_-])migration[\w.-]*\.(?:sql|py|rb|js|ts)$|/\d{3,}_\w+\.sql$",
    ),
    "note": (r"notes?|notizen|notas", rf"(?:^|[/._-])notes?{_TEXTS}|notizen{_TEXTS}|notas{_TEXTS}"),
    "decision": (r"adrs?|decision records?|decisions?", rf"(?:^|[/._-])(?:adr|decision)[\w.-]*{_TEXTS}"),
    "report": (r"reports?|berichte?|informes?", r"(?:^|[/._-])(?:report|bericht|informe)[\w.-]*\.(?:md|txt|html|pdf)$"),
    "screenshot": (r"screenshots?|bildschirmfotos?|capturas?", r"screenshot[\w.-]*\.(?:png|jpe?g|webp)$"),
    "log": (r"logs?|logdateien", r"\.log$"),
    "sql": (r"sql(?: files?| scripts?|-dateien)?", r"\.sql$"),
    "documentation": (r"docs|documentation|dokumentation|documentación", r"\.(?:md|rst|adoc)$"),
}
"""Kinds of files: how people name them, and the file names that belong to them."""


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "plans go to docs/plans/"."""
    folders = [m for m in sentence.of_kind("path") if m.polarity >= 0 and "/" in m.text]
    cue = find("goes_to", sentence.text)
    if len(folders) != 1 or cue is None:
        return None
    subject = sentence.text[: folders[0].start]
    if has("negation", subject):
        return None
    kinds = [name for name, (words, _) in _KINDS.items() if re.search(rf"\b(?:{words})\b", subject, re.IGNORECASE)]
    return make_check("required-path", sentence, paths=(folders[0].text,), kinds=tuple(kinds[:1])) if kinds else None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge new files of the kind by their folder."""
    if moment.event.kind not in (CHANGE, COMMAND):
        return NOT_CONCERNED
    result = NOT_CONCERNED
    for change in moment.event.changes:
        if change.kind != "add":
            continue
        if is_below(change.path, check.paths[0].rstrip("/") + "/"):
            result = GuardVerdict(result=OBEYED, matched=change.path)
        elif _is_of_kind(check.kinds[0], change):
            return GuardVerdict(result=BREACHED, matched=change.path, instead=posixpath.join(check.paths[0], ""))
    return result


def _is_of_kind(kind: str, change: ChangedFile) -> bool:
    if kind == "documentation" and posixpath.basename(change.path).split(".")[0].isupper():
        return False
    is_temporary = change.path.startswith(("/tmp/", "/var/tmp/"))  # noqa: S108 - compared, never opened
    return not is_temporary and re.search(_KINDS[kind][1], change.path, re.IGNORECASE) is not None


SHAPE = Shape(name="required-path", order=55, parse=parse, judge=judge)
