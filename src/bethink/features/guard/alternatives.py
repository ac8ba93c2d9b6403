"""Judges commands that have an alternative: "bun instead of npm", "`go build`, not `go install`"."""

from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.commands import is_help, matches_any
from bethink.features.guard.events import COMMAND
from bethink.features.guard.shape import NOT_CONCERNED, Moment
from bethink.features.guard.shell import ShellCommand

_RUNNERS = frozenset({"make", "just", "task", "rake", "invoke", "gmake", "a variable", "source", "."})


def judge_alternatives(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge a command: avoided programs breach, unless they are part of the preferred one."""
    if moment.event.kind != COMMAND:
        return NOT_CONCERNED
    script = moment.event.script
    result = NOT_CONCERNED
    for command in script.commands:
        if is_help(command):
            continue
        if matches_any(check.good, command) is not None:
            result = GuardVerdict(result=OBEYED, matched=str(command)) if result.result != UNKNOWN else result
        elif matches_any(check.bad, command) is not None and not _is_filter(command):
            if command.is_remote or _is_part_of_good(check, command):
                result = GuardVerdict(result=UNKNOWN, matched=str(command))
            else:
                return GuardVerdict(
                    result=BREACHED, matched=str(command), instead=str(check.good[0]) if check.good else ""
                )
    if result is NOT_CONCERNED and (set(script.opaque) & _RUNNERS or not script.is_complete):
        return GuardVerdict(result=UNKNOWN, matched=", ".join(script.opaque))
    return result


def _is_part_of_good(check: GuardCheck, command: ShellCommand) -> bool:
    """Return True for `pip` inside `uv run pip`: whether it breaks the rule, the words do not say."""
    return any(good.program in command.wrappers for good in check.good)


def _is_filter(command: ShellCommand) -> bool:
    """Return True for `… | grep x`, which filters output: rules about searching do not mean it."""
    return command.program in ("grep", "egrep", "fgrep", "find") and bool(command.sources) and command.separator == "|"
