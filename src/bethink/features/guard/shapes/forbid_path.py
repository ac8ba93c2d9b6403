"""forbid-path: files and folders that must not be changed."""

import re

from bethink.features.guard.check import BREACHED, GuardCheck, GuardVerdict
from bethink.features.guard.events import CHANGE, COMMAND
from bethink.features.guard.files import is_below
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_KINDS = {
    r"lock[- ]?files?|lockdateien|archivos lock|ficheros de bloqueo": (
        "uv.lock", "poetry.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "Gemfile.lock",
        "composer.lock", "go.sum", "bun.lock", "bun.lockb", "Pipfile.lock",
    ),
    r"(?:ci|github) (?:workflows?|actions)|workflow files": (".github/workflows/",),
}  # fmt: skip
_EXCEPT = re.compile(
    r"\b(?:except|but not|other than|apart from|außer|ausgenommen|excepto|salvo)\s+(?:for |in )?[`\"']?$", re.IGNORECASE
)
_READS = re.compile(r"\b(?:read(?!-)|open|look at|lies|lese|lee|leas)\b", re.IGNORECASE)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "do not change vendor/" and similar bans."""
    text = sentence.text
    is_ban = has("negation", text) and has("forbid_change", text)
    if not is_ban and not has("hands_off", text):
        return None
    excluded = [m.text for m in sentence.of_kind("path") if _EXCEPT.search(text[: m.start])]
    paths = [m.text for m in sentence.of_kind("path") if (m.polarity <= 0 or not is_ban) and m.text not in excluded]
    for words, names in _KINDS.items():
        if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE) and not paths:
            paths.extend(names)
    if not paths or (_READS.search(text) and not has("forbid_change", text)):
        return None
    return make_check("forbid-path", sentence, paths=tuple(dict.fromkeys(paths)), excluded=tuple(excluded))


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the files that an edit, a patch or a command changes."""
    if moment.event.kind not in (CHANGE, COMMAND):
        return NOT_CONCERNED
    for change in moment.event.changes:
        if any(is_below(change.path, pattern) for pattern in check.excluded):
            continue
        if any(is_below(change.path, pattern) for pattern in check.paths):
            return GuardVerdict(result=BREACHED, matched=change.path)
    return NOT_CONCERNED


SHAPE = Shape(name="forbid-path", order=60, parse=parse, judge=judge)
