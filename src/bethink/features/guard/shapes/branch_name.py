"""branch-name: how new branches are named ("branches start with feat/ or fix/")."""

import re

from bethink.features.guard.check import BREACHED, OBEYED, GuardCheck, GuardVerdict
from bethink.features.guard.commands import has_flag, positionals, subcommand
from bethink.features.guard.events import COMMAND
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.shell import ShellCommand

_BRANCHES = re.compile(r"\bbranch(?:es)?\b|\bbranch-?namen?\b|\bzweige?n?\b|\bramas?\b", re.IGNORECASE)
_NAMING = re.compile(
    r"\b(?:start|starts|begin|begins|prefix\w*|named?|names|called|heißen|beginn\w*|präfix|benenn\w*|fangen|empie\w+|"
    r"comien\w+|prefijo|nombra\w*|llama\w*)\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"[`\"']?\b([a-z][\w-]*/)(?:[\w*<>.…-]*)[`\"']?", re.IGNORECASE)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for a rule about the prefix of branch names."""
    text = sentence.text
    if not _BRANCHES.search(text) or not _NAMING.search(text) or has("negation", text):
        return None
    prefixes = tuple(dict.fromkeys(match[1] for match in _PREFIX.finditer(text)))
    return make_check("branch-name", sentence, branches=prefixes) if prefixes else None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the names of the branches that a command creates."""
    if moment.event.kind != COMMAND:
        return NOT_CONCERNED
    result = NOT_CONCERNED
    for command in moment.event.script.commands:
        name = new_branch(command)
        if not name:
            continue
        if not name.startswith(check.branches):
            return GuardVerdict(result=BREACHED, matched=name, instead=f"{check.branches[0]}{name.rsplit('/', 1)[-1]}")
        result = GuardVerdict(result=OBEYED, matched=name)
    return result


def new_branch(command: ShellCommand) -> str:
    """Return the name of the branch that a git command creates; empty if none, or if a variable decides."""
    if command.program != "git":
        return ""
    first = subcommand(command)
    words = positionals(command)
    if first == "branch":
        is_other = has_flag(
            command, ("--delete", "-D", "--list", "-l", "-a", "-r", "-v", "-vv", "--show-current", "--contains")
        )
        renames = has_flag(command, ("-m", "-M", "--move"))
        position = len(words) - 1 if renames else 1
        return "" if is_other or len(words) < 2 or not command.is_literal else words[position]
    if first not in ("switch", "checkout", "worktree"):
        return ""
    texts = command.texts
    for index, text in enumerate(texts[:-1]):
        if text in ("-b", "-B", "-c", "-C", "--create", "--orphan") and index > 0:
            word = command.arguments[index + 1]
            return word.text if word.is_literal else ""
    return ""


SHAPE = Shape(name="branch-name", order=43, parse=parse, judge=judge)
