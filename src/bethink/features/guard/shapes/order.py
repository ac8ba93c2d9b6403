"""order: one act must come before another ("build before each push")."""

import re

from bethink.features.guard.acts import ACTS, find_acts, performs
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.events import CHANGE, COMMAND, AgentEvent
from bethink.features.guard.languages import is_code
from bethink.features.guard.sentences.mentions import find, has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.shell import ShellCommand

_LATER = ("commit", "push", "deploy", "publish", "merge", "pull request", "tag", "force-push", "migration")
_OPAQUE_CHECKS = re.compile(
    r"(?:^|[\s/:_-])(?:all|ci|check|checks|verify|validate|precommit|pre-commit|qa)(?:$|[\s.:_-])"
)
_EDIT = "edit"
_READ = "read"


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "A before B", "B only when A" and "look at a file before changing it"."""
    text = sentence.text
    before = find("before", text)
    if before is not None:
        return _from_before(sentence, before)
    only = find("only_when", text)
    if only is None:
        return None
    condition, main = _split_condition(text, only)
    needs, act = _required_act(sentence, condition), _later(main)
    if not needs or not act or needs == act:
        return None
    return make_check("order", sentence, act=act, needs=needs, needs_success=has("passing", text))


def _from_before(sentence: RuleSentence, before: "re.Match[str]") -> GuardCheck | None:
    text = sentence.text
    behind, main = _split(text, before)
    if has("ask", main):
        return None
    if has("read", main) and has("file", text) and has("change", behind) and not _later(behind):
        return make_check("order", sentence, act=_EDIT, needs=_READ)
    act = _later(behind) or _named_command(sentence, behind)
    needs = _required_act(sentence, main)
    if not act or not needs or needs == act:
        return None
    return make_check("order", sentence, act=act, needs=needs, needs_success=has("passing", main))


def _named_command(sentence: RuleSentence, part: str) -> str:
    """Return a command with a subcommand that a part names, such as `terraform apply`."""
    mention = next((m for m in sentence.of_kind("program") if m.text in part and " " in m.text), None)
    return "" if mention is None else f"command:{mention.pattern}"


def _split_condition(text: str, cue: "re.Match[str]") -> tuple[str, str]:
    """Return the condition behind a cue, and the rest of the text."""
    end = re.search(r"[,;:.]\s", text[cue.end() :])
    stop = cue.end() + end.start() if end is not None else len(text)
    condition = text[cue.end() : stop]
    if cue.start() == 0 and end is None and _later(condition):
        # "Ohne grüne Tests wird nicht committet": the condition ends with its act.
        position = next((position for name, position in find_acts(condition) if name not in _LATER), 0)
        return condition[:position], condition[position:]
    return condition, text[: cue.end()] + " " + text[stop:]


def _split(text: str, cue: "re.Match[str]") -> tuple[str, str]:
    """Return the clause behind a cue, and the rest of the text."""
    end = re.search(r"[,;:.]\s", text[cue.end() :])
    stop = cue.end() + end.start() if end is not None else len(text)
    clause = text[cue.end() : stop]
    if cue.start() == 0 and end is None:
        # German: "Vor jedem Deploy ein Build", with no comma between the clauses.
        position = next((position for name, position in find_acts(clause) if name in _LATER), len(clause))
        return clause[:position], text[: cue.end()] + clause[position:]
    return clause, text[: cue.end()] + " " + text[stop:]


def _later(text: str) -> str:
    return next((name for name, _ in find_acts(text) if name in _LATER), "")


def _required_act(sentence: RuleSentence, part: str) -> str:
    """Return the act that must come first: a named command, or a kind of act."""
    for mention in sentence.of_kind("program"):
        if mention.text in part and (" " in mention.text or mention.is_code):
            return f"command:{mention.pattern}"
    acts = [
        name for name, _ in find_acts(part) if name not in ("commit", "push", "delete", "dependency", "pull request")
    ]
    if acts:
        return acts[0]
    programs = [m for m in sentence.of_kind("program") if m.text in part]
    return f"command:{programs[0].pattern}" if programs else ""


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the later act by what came before it in the session and in the same command."""
    if check.act == _EDIT:
        return _judge_edit(moment)
    if moment.event.kind != COMMAND:
        return NOT_CONCERNED
    commands = moment.event.script.commands
    for index, command in enumerate(commands):
        if not performs(check.act, command) or command.is_remote:
            continue
        earlier = [i for i in range(index) if performs(check.needs, commands[i])]
        if earlier:
            return _judge_same(check, commands[earlier[-1] : index + 1])
        if _may_hide(check, commands[:index]):
            return GuardVerdict(result=UNKNOWN, matched=str(command))
        return _judge_session(check, moment, command)
    return NOT_CONCERNED


def _judge_same(check: GuardCheck, commands: "tuple[ShellCommand, ...]") -> GuardVerdict:
    """Judge `tests && commit`; with `;` the commit also follows a failure."""
    is_chained = all(command.separator == "&&" or command.wrappers for command in commands[1:])
    if check.needs_success and not is_chained:
        return GuardVerdict(result=BREACHED, matched=str(commands[-1]), instead=f"{_label(check)} && …")
    return GuardVerdict(result=OBEYED, matched=str(commands[0]))


def _judge_session(check: GuardCheck, moment: Moment, command: "ShellCommand") -> GuardVerdict:
    state, is_hidden = "", False
    for event in moment.session.events:
        if (
            event.kind in (CHANGE, COMMAND)
            and state
            and check.needs in _CHECKS
            and any(is_code(c.path) for c in event.changes)
        ):
            state = "changed"
        ran = next((item for item in event.script.commands if performs(check.needs, item)), None)
        if ran is not None and event.kind == COMMAND:
            state = {True: "passed", False: "failed", None: "silent"}[event.succeeded]
            is_hidden = False
        elif event.kind == COMMAND and _may_hide(check, event.script.commands):
            is_hidden = True
    matched, instead = str(command), f"run {_label(check)} first"
    if is_hidden or (state == "silent" and check.needs_success):
        return GuardVerdict(result=UNKNOWN, matched=matched)
    if state in ("passed", "silent") or (state == "failed" and not check.needs_success):
        return GuardVerdict(result=OBEYED, matched=matched)
    return GuardVerdict(result=BREACHED, matched=matched, instead=instead)


_CHECKS = frozenset({"tests", "lint", "type check", "build"})


def _label(check: GuardCheck) -> str:
    return check.needs.removeprefix("command:")


def _may_hide(check: GuardCheck, commands: "tuple[ShellCommand, ...]") -> bool:
    """Return True if a script or a task such as `make ci` may have run what is needed."""
    if check.needs not in ACTS:
        return False
    for command in commands:
        text = str(command)
        is_task = command.program in (
            "make",
            "just",
            "task",
            "npm",
            "pnpm",
            "yarn",
            "rake",
            "invoke",
            "mage",
            "tox",
            "nox",
        )
        if is_task and (_OPAQUE_CHECKS.search(text) or text in ("make", "just", "task", "rake")):
            return True
        if command.program.endswith(".sh") or (
            command.program in ("bash", "sh") and any(t.endswith(".sh") for t in command.texts)
        ):
            return True
        if command.program == "pre-commit":
            return True
    return False


def _judge_edit(moment: Moment) -> GuardVerdict:
    event = moment.event
    if event.kind not in (CHANGE, COMMAND) or event.tool == "Write":
        return NOT_CONCERNED
    edited = [change.path for change in event.changes if change.kind == "edit"]
    if not edited or (event.kind == COMMAND and not _is_patch(event)):
        return NOT_CONCERNED
    viewed = {path for item in moment.session.events for path in item.reads}
    viewed |= {
        change.path for item in moment.session.events for change in item.changes if change.kind in ("add", "edit")
    }
    unread = [path for path in edited if path not in viewed]
    if unread:
        return GuardVerdict(result=BREACHED, matched=unread[0], instead=f"read {unread[0]} first")
    return GuardVerdict(result=OBEYED, matched=edited[0])


def _is_patch(event: AgentEvent) -> bool:
    return any(command.program in ("apply_patch", "applypatch") for command in event.script.commands)


SHAPE = Shape(name="order", order=40, parse=parse, judge=judge)
