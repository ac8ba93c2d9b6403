"""ask-first: acts that need the user's approval."""

import posixpath
import re

from bethink.features.guard.acts import find_acts, performs
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.commands import positionals
from bethink.features.guard.events import ANSWER, CHANGE, COMMAND, PROMPT, AgentEvent
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.tables import word_set

_YES = re.compile(
    r"^\W*(?:yes|yep|yeah|yup|ok|okay|sure|go|do it|please do|fine|approved?|confirmed|correct|right|ja|jo|klar|"
    r"mach|gerne|"
    r"genau|einverstanden|passt|sí|si|vale|claro|dale|hazlo|adelante|de acuerdo|sounds good|absolutely|y\b|lgtm|"
    r"ship it|"
    r"perfect|perfekt|alright|agreed|in ordnung|bitte|👍)\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^\W*(?:no|nope|nein|nicht|not|don't|do not|wait|stop|lieber nicht|warte|espera|later|noch nicht|todavía no|"
    r"never|hold)\b|"
    r"\b(?:don't|do not|not yet|nicht|rather not|keep it|leave it)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:clean ?up|tidy|get rid|ship|release|finish|wrap up|aufräum\w*|räum|limpia\w*|drop|purge|set up|install|"
    r"roll out|"
    r"replace|go ahead|do everything|whatever|as you like)\b",
    re.IGNORECASE,
)
_ADD = re.compile(r"\b(?:add|install|use|hinzu\w*|füge|installier\w*|nimm|añade|instala|agrega|usa)\b", re.IGNORECASE)
_NAMES = re.compile(r"[\w@./-]*[\w@/-]\.[A-Za-z]\w{0,4}\b|[\w.-]+/[\w./-]*")
_MANIFESTS = word_set("package.json pyproject.toml Cargo.toml go.mod requirements.txt Gemfile composer.json Pipfile")
_DEPENDENCY_LINE = re.compile(
    r"dependencies\s*=\s*\[\s*[\"']|^\s*[\"'](?!name|version|description|main|scripts|type|license|author|private|"
    r"test|build|lint|"
    r"start|dev|keywords|files|bin|exports|engines|repository|homepage|bugs|module|"
    r"types)(@?[\w./-]+)[\"']\s*:\s*[\"'][~^\d*<>=v]|"
    r"^\s*[\"'][\w.-]+(?:\[[\w,]+\])?\s*(?:[~=<>!]=|>|<)?[^\"']*[\"'],?\s*$|^[\w.-]+\s*(?:==|>=|~=)|"
    r"^\s*gem\s+[\"']|^\s*require\s|"
    r"^[\w-]+\s*=\s*(?:[\"'][\^~\d]|\{\s*version)",
    re.MULTILINE,
)
_ORDER = (
    *("force-push", "delete", "dependency", "deploy", "publish", "merge", "rebase", "push", "commit", "migration"),
    *("tag", "pull request", "amend", "stash"),
)
"""Acts that a rule may reserve for approval, the more specific first."""


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "ask me before each deploy" and "merges only with my consent"."""
    text = sentence.text
    if not has("ask", text):
        return None
    if not (
        has("before", text)
        or has("only_when", text)
        or has("after", text)
        or has("always", text)
        or has("negation", text)
        or re.search(r"\b(?:erst|first|primero)\b", text, re.IGNORECASE)
    ):
        return None
    acts = [name for name, _ in find_acts(text) if name in _ORDER]
    programs = sentence.of_kind("program")
    if programs and (not acts or " " in programs[0].text):
        return make_check("ask-first", sentence, act=f"command:{programs[0].pattern}")
    return make_check("ask-first", sentence, act=min(acts, key=_ORDER.index)) if acts else None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the act by the last question, its answer, and what the user asked for."""
    targets = _targets(check, moment.event)
    if targets is None:
        return NOT_CONCERNED
    matched = f"{check.act.removeprefix('command:')} {' '.join(targets)}".strip()
    events = [event for event in moment.session.events if event.kind in (PROMPT, ANSWER)]
    prompts = [index for index, event in enumerate(events) if event.kind == PROMPT]
    if not prompts:
        return GuardVerdict(result=BREACHED, matched=matched, instead="ask the user first")
    last = prompts[-1]
    question = events[last - 1].text if last and events[last - 1].kind == ANSWER else ""
    result = _approval(check, targets, question, events[last].text)
    if result == BREACHED and any(_approval(check, targets, "", events[i].text) != BREACHED for i in prompts[:-1]):
        result = UNKNOWN
    return GuardVerdict(result=result, matched=matched, instead="ask the user first")


def _approval(check: GuardCheck, targets: tuple[str, ...], question: str, prompt: str) -> str:
    """Return whether a prompt approves the act: as an answer to a question about it, or by asking for it."""
    if _NO.search(prompt):
        return BREACHED
    if _asks_for(check, targets, prompt):
        return OBEYED if _fits(targets, prompt) else UNKNOWN
    if _YES.match(prompt) and "?" in question:
        if not _is_about(check, targets, question):
            return UNKNOWN if not _NAMES.findall(question) else BREACHED
        return OBEYED if _fits(targets, question) else BREACHED
    if _YES.match(prompt) or _VAGUE.search(prompt):
        return UNKNOWN
    return BREACHED


def _asks_for(check: GuardCheck, targets: tuple[str, ...], prompt: str) -> bool:
    is_named = check.act in {name for name, _ in find_acts(prompt)}
    if check.act.startswith("command:"):
        is_named = check.act.removeprefix("command:").split()[-1] in prompt
    adds = check.act == "dependency" and _ADD.search(prompt) is not None
    return is_named or (adds and any(_base(target) in prompt.lower() for target in targets))


def _is_about(check: GuardCheck, targets: tuple[str, ...], question: str) -> bool:
    return _asks_for(check, targets, question) or any(
        _base(target) in question.lower() for target in targets if _base(target)
    )


def _fits(targets: tuple[str, ...], text: str) -> bool:
    """Return False if a text names files, and none of them is a target."""
    names = {_base(name) for name in _NAMES.findall(text)}
    bases = {_base(target) for target in targets if target}
    if not names or not bases:
        return True
    return bool(names & bases)


def _base(name: str) -> str:
    return posixpath.basename(re.split(r"[@=<>~\[]", name.rstrip("/").lower(), maxsplit=1)[0] or name.lower())


def _targets(check: GuardCheck, event: AgentEvent) -> tuple[str, ...] | None:
    """Return the targets of the act, or None if the event does not perform it."""
    if event.kind == CHANGE:
        return _changed_targets(check, event)
    if event.kind != COMMAND:
        return None
    for command in event.script.commands:
        if performs(check.act, command) and not command.is_remote:
            words = positionals(command)
            is_file_act = check.act == "delete" and command.program != "git"
            return tuple(words if is_file_act else words[1:])
    return None


def _changed_targets(check: GuardCheck, event: AgentEvent) -> tuple[str, ...] | None:
    if check.act == "delete":
        deleted = tuple(change.path for change in event.changes if change.kind == "delete")
        return deleted or None
    if check.act == "dependency":
        for change in event.changes:
            added = "\n".join(line for line in change.added if line not in change.removed)
            is_update = (match := _DEPENDENCY_LINE.search(added)) is not None and _is_update(match[0], change.removed)
            if is_update:
                continue
            if posixpath.basename(change.path) in _MANIFESTS and match is not None:
                return (next((group for group in match.groups() if group), ""),)
    return None


def _is_update(line: str, removed: tuple[str, ...]) -> bool:
    """Return True if the package of a line was there before: only its version changes."""
    name = re.search(r"@?[A-Za-z][\w./-]*", line)
    return (
        name is not None and any(name[0] in other for other in removed) and not line.lstrip().startswith("dependencies")
    )


SHAPE = Shape(name="ask-first", order=30, parse=parse, judge=judge)
