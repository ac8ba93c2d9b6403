"""required-flag: a flag, a value, or a subcommand that a program must be called with."""

import re

from bethink.features.guard.alternatives import judge_alternatives
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, CommandPattern, GuardCheck, GuardVerdict
from bethink.features.guard.commands import flag_value, flags_of, has_flag, is_help, matches_any, positionals
from bethink.features.guard.events import COMMAND
from bethink.features.guard.sentences.mentions import NamedWord, has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.shell import ShellCommand
from bethink.features.guard.tables import word_set

_PLAN = "a saved plan file"
_NO_VALUES = word_set(
    "to on in when for with please and or bei für ausführen aufrufen al en para siempre always to, bitte mit con "
    "por every "
    "each flag option set at if from is as here everywhere laufen starten verwenden benutzen nutzen sein por por"
)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "go test always with -race" or "helm only with --namespace dev"."""
    programs = sentence.of_kind("program")
    if not programs:
        return None
    first = programs[0].pattern
    if first.program in ("terraform", "tofu") and has("plan_file", sentence.text) and has("always", sentence.text):
        pattern = first if first.words else CommandPattern(program=first.program, words=("apply",))
        return make_check("required-flag", sentence, good=(pattern,), value=_PLAN)
    flags = [m for m in sentence.of_kind("flag") if m.polarity >= 0 or _is_needed(sentence.text, m)]
    if flags:
        return _with_flag(sentence, first, flags[0])
    if first.flags and programs[0].polarity > 0 and has("always", sentence.text) and len(programs) == 1:
        pattern = CommandPattern(program=first.program, words=first.words)
        return make_check("required-flag", sentence, good=(pattern,), flags=first.flags[:1])
    return None


def _is_needed(text: str, flag: NamedWord) -> bool:
    """Return True for "never without --dry-run"."""
    return re.search(r"\b(?:without|ohne|sin)\s+(?:the |a |el |la )?$", text[: flag.start], re.IGNORECASE) is not None


def _with_flag(sentence: RuleSentence, first: CommandPattern, flag: NamedWord) -> GuardCheck | None:
    if not (has("always", sentence.text) or has("positive", sentence.text) or _is_needed(sentence.text, flag)):
        return None
    name, separator, value = flag.text.partition("=")
    if " " in name:
        name, _, value = name.partition(" ")
    elif not separator:
        following = re.match(r"`?\s+`?([\w./:-]+)", sentence.text[flag.end :])
        word = following[1].rstrip(".,;:") if following is not None else ""
        value = "" if word.lower() in _NO_VALUES or word.startswith("-") or not name.startswith("--") else word
    pattern = CommandPattern(program=first.program, words=first.words)
    return make_check("required-flag", sentence, good=(pattern,), flags=(name,), value=value)


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge each call of the program; a call without the flag breaches."""
    if check.bad:
        return judge_alternatives(check, moment)
    if moment.event.kind != COMMAND:
        return NOT_CONCERNED
    result = NOT_CONCERNED
    for command in moment.event.script.commands:
        if is_help(command) or matches_any(check.good, command) is None:
            continue
        verdict = _judge_command(check, command)
        if verdict.result == BREACHED:
            return verdict
        result = verdict
    return result


def _judge_command(check: GuardCheck, command: ShellCommand) -> GuardVerdict:
    matched = str(command)
    if command.is_remote:
        return GuardVerdict(result=UNKNOWN, matched=matched)
    if check.value == _PLAN:
        behind = positionals(command)[len(check.good[0].words) :]
        is_kept = any(word for word in behind)
        instead = f"{check.good[0]} PLAN_FILE"
    else:
        name = check.flags[0]
        is_kept = has_flag(command, (name,)) or _has_long_form(name, command)
        is_kept = is_kept and (not check.value or flag_value(command, name) == check.value)
        instead = " ".join(part for part in (str(check.good[0]), name, check.value) if part)
    if is_kept:
        return GuardVerdict(result=OBEYED, matched=matched)
    if not command.is_literal and not check.value:
        return GuardVerdict(result=UNKNOWN, matched=matched)
    return GuardVerdict(result=BREACHED, matched=matched, instead=instead)


def _has_long_form(name: str, command: ShellCommand) -> bool:
    """Return True if a single-letter flag stands in a cluster such as `-xq`, or a long flag has one dash."""
    return name in flags_of(command) or f"-{name}" in flags_of(command)


SHAPE = Shape(name="required-flag", order=80, parse=parse, judge=judge)
