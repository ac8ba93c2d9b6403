"""Hook inputs of coding agents in one form: commands, file changes, prompts and answers."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.features.guard.files import ChangedFile, command_changes, edit_changes, relative_path
from bethink.features.guard.shell import Script, read_shell
from bethink.features.guard.tables import word_set

COMMAND, CHANGE, TOOL, PROMPT, ANSWER, OTHER = "command", "change", "tool", "prompt", "answer", "other"
MAX_TEXT = 100_000
_EDIT_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"})
_SHELL_TOOLS = frozenset({"Bash", "shell", "exec_command", "local_shell"})
_READERS = word_set("cat head tail less more bat sed awk rg grep nl view wc")
_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|failing|errors?)\b|^FAIL(?:ED|URES)?\b|exit(?:ed with)? code:? [1-9]|npm ERR!|"
    r"^not ok\b|Traceback \(most recent|^error(?:\[|:)|AssertionError|\bFAILED\b|--- FAIL",
    re.MULTILINE,
)
_PASSED = re.compile(
    r"\bpass(?:ed|es|ing)?\b|\bok\b|\bsuccess\w*|\b0 (?:failed|failures|errors)\b|\bdone\b|✓", re.IGNORECASE
)


@frozen
class AgentEvent:
    """One hook input. Paths are relative to the working folder, or absolute outside of it."""

    kind: str
    is_after: bool = False
    """True for a tool call that has ended."""
    tool: str = ""
    script: Script = Script()
    changes: tuple[ChangedFile, ...] = ()
    reads: tuple[str, ...] = ()
    text: str = ""
    """The prompt or the answer."""
    values: tuple[tuple[str, str], ...] = ()
    """Text fields of the tool's input."""
    succeeded: bool | None = None
    cwd: str = ""


def read_event(hook_input: Mapping[str, Any]) -> AgentEvent:
    """Return a hook input as an event. Malformed input gives an event of the kind `other`."""
    name = str(hook_input.get("hook_event_name", ""))
    cwd = _string(hook_input.get("cwd"))
    if name == "UserPromptSubmit":
        return AgentEvent(kind=PROMPT, text=_string(hook_input.get("prompt")), cwd=cwd)
    if name in ("Stop", "SubagentStop"):
        return AgentEvent(kind=ANSWER, text=_string(hook_input.get("last_assistant_message")), cwd=cwd)
    if name not in ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"):
        return AgentEvent(kind=OTHER, cwd=cwd)
    tool = _string(hook_input.get("tool_name"))
    raw = hook_input.get("tool_input")
    values: Mapping[str, Any] = cast("Mapping[str, Any]", raw) if isinstance(raw, dict) else {}
    succeeded = _success(name, hook_input)
    is_after = name.startswith("PostToolUse")
    if tool in _SHELL_TOOLS:
        return _command_event(_command_text(values.get("command")), cwd, succeeded=succeeded, is_after=is_after)
    texts = tuple((key, value[:MAX_TEXT]) for key, value in values.items() if isinstance(value, str))
    if tool in _EDIT_TOOLS:
        changes = tuple(_relative(change, cwd) for change in edit_changes(tool, dict(texts)))
        if tool == "MultiEdit":
            changes = tuple(_relative(change, cwd) for change in edit_changes(tool, values))
        return AgentEvent(kind=CHANGE, tool=tool, changes=changes, succeeded=succeeded, is_after=is_after, cwd=cwd)
    path = dict(texts).get("file_path") or ""
    reads = (relative_path(path, cwd),) if tool in ("Read", "NotebookRead", "View") and path else ()
    return AgentEvent(kind=TOOL, tool=tool, reads=reads, values=texts, succeeded=succeeded, is_after=is_after, cwd=cwd)


def _command_event(text: str, cwd: str, *, succeeded: bool | None, is_after: bool) -> AgentEvent:
    script, changes, reads = _read_command(text, cwd)
    return AgentEvent(
        kind=COMMAND,
        tool="Bash",
        script=script,
        changes=changes,
        reads=reads,
        succeeded=succeeded,
        is_after=is_after,
        cwd=cwd,
    )


@lru_cache(maxsize=512)
def _read_command(text: str, cwd: str) -> tuple[Script, tuple[ChangedFile, ...], tuple[str, ...]]:
    script = read_shell(text)
    changes: list[ChangedFile] = []
    reads: list[str] = []
    for command in script.commands:
        for change in command_changes(command):
            changes.append(_relative(change, cwd, command.folder))
        if command.program in _READERS:
            reads.extend(relative_path(word, cwd, command.folder) for word in command.texts if not word.startswith("-"))
    return script, tuple(changes), tuple(reads)


def _command_text(value: object) -> str:
    """Return the shell text; Codex may send a list such as `["bash", "-lc", TEXT]`."""
    if isinstance(value, list):
        words = [str(word) for word in cast("list[object]", value)]
        return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return value if isinstance(value, str) else ""


def _relative(change: ChangedFile, cwd: str, folder: str | None = "") -> ChangedFile:
    return ChangedFile(
        path=relative_path(change.path, cwd, folder),
        kind=change.kind,
        added=change.added,
        removed=change.removed,
        is_complete=change.is_complete,
    )


def _success(name: str, hook_input: Mapping[str, Any]) -> bool | None:
    """Return whether a call worked. Codex gives only its output, so a silent call stays open."""
    if name == "PostToolUseFailure":
        return False
    response = hook_input.get("tool_response")
    if name != "PostToolUse":
        return None
    if isinstance(response, dict):
        fields = cast("Mapping[str, Any]", response)
        output = _string(fields.get("stdout")) + _string(fields.get("stderr"))
        return _FAILED.search(output[:MAX_TEXT]) is None
    output = _string(response)[:MAX_TEXT]
    if _FAILED.search(output):
        return False
    return True if _PASSED.search(output) else None


def _string(value: object) -> str:
    return value[:MAX_TEXT] if isinstance(value, str) else ""
