"""end-duty: acts that must follow a change before the agent stops, and claims that need evidence."""

import re

from bethink.features.guard.acts import find_acts, performs
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.events import ANSWER, COMMAND, AgentEvent
from bethink.features.guard.files import is_below
from bethink.features.guard.languages import is_code, is_in_language, named_languages, without_code
from bethink.features.guard.sentences.mentions import find, has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_DUTIES = ("tests", "lint", "format", "type check", "build", "commit", "push", "deploy", "migration")
_CLAIM = "claim"
_CLAIMS = {
    "tests": re.compile(
        r"\b(?:all |the )?(?:\d+ )?(?:unit )?tests? (?:now |all |still |suite )*(?:pass(?:es|ed)?|are (?:all "
        r")?(?:green|passing)|succeed)"
        r"\b|\btests? suite (?:is green|passes|passed)\b|\b(?:alle )?tests? (?:sind|laufen|ist) (?:jetzt |nun |"
        r"alle |wieder )*"
        r"(?:grün|durch|erfolgreich)\b|\btests? bestehen\b|\b(?:todas )?las pruebas (?:ahora )?(?:pasan|están en "
        r"verde)\b|"
        r"\bpasan (?:todas )?las pruebas\b|\bpassing all tests\b|\bpruebas pasan\b|\btests? pasan\b|\bgreen tests\b",
        re.IGNORECASE,
    ),
    "build": re.compile(r"\b(?:the )?build (?:now )?(?:works|passes|succeeds|is green|succeeded|passed)\b|\bder "
        r"build (?:läuft|ist grün)",
                        re.IGNORECASE),
    "lint": re.compile(r"\b(?:lint(?:er|ing)?|ruff|eslint) (?:is clean|passes|passed|is green|has no "
        r"errors)\b", re.IGNORECASE),
}  # fmt: skip
_NO_CLAIM = re.compile(
    r"\b(?:not|n't|never|if|once|should|nicht|wenn|falls|sobald|no|si|cuando|until|whether|ob|noch nicht|expect)\b",
    re.IGNORECASE,
)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "run ruff after you change Python" and "never say tests pass unless you ran them"."""
    text = sentence.text
    acts = [name for name, _ in find_acts(text)]
    if has("negation", text) and has("claim", text) and has("only_when", text) and set(acts) & set(_CLAIMS):
        needs = next(name for name in acts if name in _CLAIMS)
        return make_check("end-duty", sentence, act=_CLAIM, needs=needs)
    is_after_change = has("after", text) and has("change", text)
    is_before_end = has("finish", text) and (
        has("before", text) or re.search(r"\b(?:at|am|zum|al|by running)\b", text, re.IGNORECASE)
    )
    if not is_after_change and not is_before_end:
        return None
    return _duty(sentence, acts)


def _duty(sentence: RuleSentence, acts: list[str]) -> GuardCheck | None:
    text = sentence.text
    paths = sentence.of_kind("path")
    kinds = named_languages(text)
    files = [m.text for m in paths if not m.text.endswith("/") and "." in m.text]
    folders = [m.text for m in paths if m.text not in files]
    programs = [m for m in sentence.of_kind("program") if m.text not in kinds and m.polarity >= 0]
    duties = [name for name in acts if (name in _DUTIES and name not in ("commit", "push")) or name == "tests"]
    if len(paths) > 1 and (files or folders):
        needed = files[-1:] or folders[-1:]
        sources = [m.text for m in paths if m.text not in needed]
        return make_check("end-duty", sentence, paths=tuple(sources), needed_paths=tuple(needed), kinds=kinds)
    if programs:
        return make_check(
            "end-duty", sentence, needs=f"command:{programs[-1].pattern}", paths=tuple(folders), kinds=kinds
        )
    if duties:
        return make_check("end-duty", sentence, needs=duties[0], paths=tuple(folders), kinds=kinds)
    if files and (kinds or has("code", text)) and find("change", text) is not None:
        return make_check("end-duty", sentence, needed_paths=tuple(files[:1]), kinds=kinds)
    return None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge an answer by the changes and the acts of the session before it."""
    if moment.event.kind != ANSWER:
        return NOT_CONCERNED
    if check.act == _CLAIM:
        return _judge_claim(check, moment)
    changed, done, hidden = "", False, False
    for event in moment.session.events:
        relevant = _relevant_change(check, event)
        if relevant:
            changed, done, hidden = relevant, done and bool(check.needed_paths), False
        if _does_duty(check, event):
            done = True
        elif event.kind == COMMAND and (event.script.opaque or not event.script.is_complete):
            hidden = True
    if not changed:
        return NOT_CONCERNED
    if done:
        return GuardVerdict(result=OBEYED, matched=changed)
    label = check.needs.removeprefix("command:") or ", ".join(check.needed_paths)
    return GuardVerdict(result=UNKNOWN if hidden else BREACHED, matched=changed, instead=label)


def _relevant_change(check: GuardCheck, event: AgentEvent) -> str:
    if event.succeeded is False:
        return ""
    for change in event.changes:
        if any(is_below(change.path, path) for path in check.needed_paths):
            continue
        if check.paths:
            is_relevant = any(is_below(change.path, path) for path in check.paths)
        else:
            is_relevant = is_in_language(change.path, check.kinds) if check.kinds else is_code(change.path)
        if is_relevant:
            return change.path
    return ""


def _does_duty(check: GuardCheck, event: AgentEvent) -> bool:
    if check.needed_paths:
        return any(is_below(change.path, path) for change in event.changes for path in check.needed_paths)
    return event.kind == COMMAND and any(performs(check.needs, command) for command in event.script.commands)


def _judge_claim(check: GuardCheck, moment: Moment) -> GuardVerdict:
    claim = _find_claim(check.needs, without_code(moment.event.text))
    if not claim:
        return NOT_CONCERNED
    state: bool | None = False
    hidden = False
    for event in moment.session.events:
        if event.kind == COMMAND and any(performs(check.needs, command) for command in event.script.commands):
            state, hidden = event.succeeded, False
        elif event.kind == COMMAND and event.script.opaque:
            hidden = True
    if state:
        return GuardVerdict(result=OBEYED, matched=claim)
    return GuardVerdict(
        result=UNKNOWN if hidden or state is None else BREACHED, matched=claim, instead=f"run the {check.needs} first"
    )


def _find_claim(needs: str, text: str) -> str:
    for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
        match = _CLAIMS[needs].search(sentence)
        if match is not None and not _NO_CLAIM.search(sentence):
            return match[0]
    return ""


SHAPE = Shape(name="end-duty", order=38, parse=parse, judge=judge)
