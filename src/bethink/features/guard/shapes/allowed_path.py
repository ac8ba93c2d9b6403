"""allowed-path: changes only in one folder ("only change files under packages/api/")."""

import re

from bethink.features.guard.check import BREACHED, OBEYED, GuardCheck, GuardVerdict
from bethink.features.guard.events import CHANGE, COMMAND
from bethink.features.guard.files import is_below
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_ONLY = re.compile(
    r"\b(?:only|just) (?:ever )?(?:change|edit|touch|modify|work|write|make changes)\b|\bstay (?:inside|within|in)\b|"
    r"\b(?:limit|restrict|confine) (?:yourself|your changes|changes|edits) to\b|\b(?:changes?|edits?) only (?:in|"
    r"under|to)\b|"
    r"\b(?:ändere|bearbeite|arbeite) (?:bitte )?nur\b|\bänderungen nur\b|\bbleib in\b|\bnur (?:dateien )?(?:in|"
    r"unter)\b.*"
    r"\b(?:ändern|bearbeiten)\b|\b(?:solo|sólo) (?:edita|cambia|modifica|toca|trabaja)\b|\b(?:edita|cambia|"
    r"modifica) (?:solo|sólo)\b",
    re.IGNORECASE,
)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for a sentence that limits changes to folders or files."""
    if not _ONLY.search(sentence.text) or has("negation", sentence.text):
        return None
    paths = tuple(m.text for m in sentence.of_kind("path"))
    return make_check("allowed-path", sentence, paths=paths) if paths else None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the files that an event changes by their folder."""
    if moment.event.kind not in (CHANGE, COMMAND):
        return NOT_CONCERNED
    result = NOT_CONCERNED
    for change in moment.event.changes:
        is_outside = change.path.startswith(("/", "~"))
        if any(is_below(change.path, path) for path in check.paths):
            result = GuardVerdict(result=OBEYED, matched=change.path)
        elif not is_outside or moment.event.kind == CHANGE:
            return GuardVerdict(result=BREACHED, matched=change.path, instead=f"only {', '.join(check.paths)}")
    return result


SHAPE = Shape(name="allowed-path", order=50, parse=parse, judge=judge)
