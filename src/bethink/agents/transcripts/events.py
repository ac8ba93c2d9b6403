"""Reads transcripts as the hook inputs that the programs would have sent: prompts, tool calls, results and answers."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import as_object, id_at, mapping, objects, raw_lines, text_at, value_at

PROMPT, BEFORE, AFTER, FAILED, STOP = "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"
_SHELL_NAMES = frozenset({"shell", "exec_command", "local_shell", "container.exec", "unified_exec"})


class TranscriptEvent(NamedTuple):
    """A hook input with what the transcript says about it."""

    agent: str
    session: str
    at: str
    """Time in ISO 8601."""
    branch: str
    hook_input: Mapping[str, Any]


def read_events(agent: str, path: Path) -> Iterator[TranscriptEvent]:
    """Yield the events of a transcript, in order. Sub-agents are skipped, because nobody told them anything."""
    reader = _ClaudeEvents(path) if agent == claude_code.AGENT else _CodexEvents(path)
    for raw in raw_lines(path):
        yield from reader.parse(raw.tree)
    yield from reader.end_turn()


class _Events:
    """The state of one transcript: where it is, and what the answer so far is."""

    agent = ""

    def __init__(self, path: Path) -> None:
        self._calls: dict[str, dict[str, Any]] = {}
        self._answer = ""
        self._session = path.stem
        self._at = self._cwd = self._branch = ""

    def parse(self, tree: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
        """Yield the events of a line."""
        raise NotImplementedError

    def end_turn(self) -> Iterator[TranscriptEvent]:
        """Yield the end of the turn, if there was an answer."""
        if self._answer:
            yield self._event({"hook_event_name": STOP, "last_assistant_message": self._answer})
            self._answer = ""

    def _prompt(self, text: str) -> Iterator[TranscriptEvent]:
        yield from self.end_turn()
        yield self._event({"hook_event_name": PROMPT, "prompt": text})

    def _call(self, call: str, name: str, arguments: Mapping[str, Any]) -> TranscriptEvent:
        self._calls[call] = about = {"tool_name": name, "tool_input": arguments, "tool_use_id": call}
        return self._event({"hook_event_name": BEFORE, **about})

    def _result(self, call: str, output: str, *, failed: bool) -> Iterator[TranscriptEvent]:
        about = self._calls.pop(call, None)
        if about is not None:
            name, field = (FAILED, "error") if failed else (AFTER, "tool_response")
            yield self._event({"hook_event_name": name, **about, field: output})

    def _event(self, hook_input: dict[str, Any]) -> TranscriptEvent:
        return TranscriptEvent(
            self.agent,
            self._session,
            self._at,
            self._branch,
            {**hook_input, "cwd": self._cwd, "session_id": self._session},
        )


class _ClaudeEvents(_Events):
    agent = claude_code.AGENT

    def parse(self, tree: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
        if tree.get("type") not in ("user", "assistant") or tree.get("isSidechain") is True or id_at(tree, "agentId"):
            return
        self._session = id_at(tree, "sessionId") or self._session
        self._at = text_at(tree, "timestamp") or self._at
        self._cwd, self._branch = text_at(tree, "cwd") or self._cwd, text_at(tree, "gitBranch") or self._branch
        spoken = claude_code.role_and_text(tree)
        if spoken is not None and spoken[0] == "assistant":
            self._answer = spoken[1]
        for part in objects(value_at(tree, "message", "content")):
            if part.get("type") == "tool_use":
                yield self._call(str(part.get("id")), str(part.get("name")), mapping(part.get("input")))
            elif part.get("type") == "tool_result":
                yield from self._result(
                    str(part.get("tool_use_id")), _output(part.get("content")), failed=part.get("is_error") is True
                )
        if spoken is not None and spoken[0] == "user":
            yield from self._prompt(spoken[1])


class _CodexEvents(_Events):
    agent = codex.AGENT

    def parse(self, tree: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
        item = mapping(tree.get("payload", tree))
        self._at = text_at(tree, "timestamp") or self._at
        if tree.get("type") in ("session_meta", "turn_context"):
            self._session = id_at(item, "id") or self._session
            self._cwd = text_at(item, "cwd") or self._cwd
            self._branch = text_at(item, "git", "branch") or self._branch
        kind = item.get("type")
        if kind == "message":
            text = codex.user_text(item.get("content"))
            if item.get("role") == "user" and text:
                yield from self._prompt(text)
            elif item.get("role") == "assistant":
                self._answer = text or self._answer
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            yield self._call(str(item.get("call_id")), *_codex_call(item))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output, failed = codex.output_of(item.get("output"))
            yield from self._result(str(item.get("call_id")), output, failed=failed)


def _codex_call(item: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the tool and its input as the hooks of Codex name them."""
    name = id_at(item, "name") or "shell"
    raw = item.get("arguments", item.get("input", item.get("action")))
    arguments = (as_object(raw) or {}) if isinstance(raw, str) and name != "apply_patch" else mapping(raw)
    if name in _SHELL_NAMES:
        command: Any = arguments.get("command", arguments.get("cmd", ""))
        return "Bash", {"command": command}
    if name == "apply_patch":
        return name, {"command": raw if isinstance(raw, str) else json.dumps(raw)}
    return name, arguments


def _output(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in objects(content) if part.get("type") == "text")
