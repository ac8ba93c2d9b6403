"""forbid-branch: branches that must not be committed or pushed to."""

import re

from bethink.features.guard.acts import find_acts, performs
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.commands import has_flag, positionals, subcommand
from bethink.features.guard.events import COMMAND
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.shell import ShellCommand

_NAMES = r"main|master|develop|development|dev|trunk|release|production|prod|staging|stable|next"
_BRANCH = re.compile(
    rf"\b(?:to|on|onto|into|auf|nach|in|en|a|al|sobre|or|and|oder|und|y|o|the|den|der|la|rama|branch|zu)\s+[`\"']?"
    rf"({_NAMES}|release/\*?|hotfix/\*?)[`\"']?(?![\w/-]|\.\w)",
    re.IGNORECASE,
)
_UNKNOWN_BRANCH = "?"


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "no commits on the release branch"."""
    text = sentence.text
    branches = tuple(dict.fromkeys(match[1].lower() for match in _BRANCH.finditer(text)))
    if not branches or not (has("negation", text) or has("is_out", text)):
        return None
    acts = [name for name, _ in find_acts(text) if name in ("commit", "push")]
    if not acts or has("before", text):
        return None
    return make_check("forbid-branch", sentence, branches=branches, act=acts[0])


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge commits and pushes by the branch at that point of the command."""
    if moment.event.kind != COMMAND:
        return NOT_CONCERNED
    branch = moment.branch or _UNKNOWN_BRANCH
    result = NOT_CONCERNED
    for command in moment.event.script.commands:
        if command.program not in ("git", "gk"):
            continue
        elsewhere = _is_elsewhere(command)
        if not elsewhere and _changes_branch(command):
            branch = branch_after(command, branch)
        if not performs(check.act, command):
            continue
        targets = _push_targets(command, branch) if check.act == "push" else [branch]
        verdict = _verdict(
            check, command, targets, elsewhere=elsewhere and (check.act == "commit" or targets == [branch])
        )
        if verdict.result == BREACHED:
            return verdict
        result = verdict if result.result != UNKNOWN else result
    return result


def _verdict(check: GuardCheck, command: ShellCommand, targets: list[str], *, elsewhere: bool) -> GuardVerdict:
    matched = str(command)
    if not targets:
        return NOT_CONCERNED
    if elsewhere or command.is_remote:
        return GuardVerdict(result=UNKNOWN, matched=matched)
    if any(_is_banned(check, target) for target in targets):
        return GuardVerdict(
            result=BREACHED, matched=f"{matched} (branch {', '.join(targets)})", instead="a branch of its own"
        )
    is_unknown = any(target in (_UNKNOWN_BRANCH, "") for target in targets)
    return GuardVerdict(result=UNKNOWN if is_unknown else OBEYED, matched=matched)


def _is_banned(check: GuardCheck, branch: str) -> bool:
    return any(
        branch == name or (name.endswith(("/", "/*")) and branch.startswith(name.rstrip("*")))
        for name in check.branches
    )


def _is_elsewhere(command: ShellCommand) -> bool:
    """Return True if the command may work in another repository."""
    texts = command.texts
    flags = [
        text
        for text in texts[: len(texts)]
        if text in ("-C", "--git-dir", "--work-tree") or text.startswith("--git-dir=")
    ]
    is_here = command.folder is not None and not command.folder.startswith(("..", "/"))
    before = texts.index(flags[0]) if flags else -1
    return not is_here or (
        bool(flags) and before < max(2, len(texts)) and texts[0] in ("-C", "--git-dir", "--work-tree")
    )


def _changes_branch(command: ShellCommand) -> bool:
    return subcommand(command) in ("switch", "checkout", "branch", "worktree")


def branch_after(command: ShellCommand, branch: str) -> str:
    """Return the branch after `git switch`, `git checkout` or `git branch -m`."""
    words = positionals(command)
    first = words[0] if words else ""
    if first == "branch":
        return words[-1] if has_flag(command, ("-m", "-M", "--move")) and len(words) > 1 else branch
    if first == "worktree" or "--" in command.texts:
        return branch
    texts = command.texts
    for index, text in enumerate(texts[:-1]):
        if text in ("-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan") and index > 0:
            word = command.arguments[index + 1]
            return word.text if word.is_literal else _UNKNOWN_BRANCH
    target = words[1] if len(words) > 1 else ""
    if target == "-" or not command.is_literal:
        return _UNKNOWN_BRANCH
    is_file = first == "checkout" and (re.search(r"\.\w{1,5}$", target) is not None or len(words) > 2 or target == ".")
    return branch if is_file or not target else target.removeprefix("origin/")


def _push_targets(command: ShellCommand, branch: str) -> list[str]:
    """Return the branches that a push writes to; empty if it pushes tags only."""
    words = positionals(command)[1:]
    if has_flag(command, ("--all", "--mirror", "--branches")):
        return [_UNKNOWN_BRANCH]
    if not command.is_literal:
        words = [
            word.text if word.is_literal else _UNKNOWN_BRANCH
            for word in command.arguments
            if not word.text.startswith("-")
        ][1:]
    specs = words[1:]
    if not specs:
        return [] if has_flag(command, ("--tags",)) else [branch]
    targets: list[str] = []
    for spec in specs:
        source, separator, target = spec.removeprefix("+").partition(":")
        name = target if separator else source
        targets.append(branch if name in ("HEAD", "@") else name.removeprefix("refs/heads/"))
    return [target for target in targets if not target.startswith("refs/tags/")]


SHAPE = Shape(name="forbid-branch", order=45, parse=parse, judge=judge)
