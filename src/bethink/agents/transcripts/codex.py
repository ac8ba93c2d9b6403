"""Reads rollouts of Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, also archived and compressed ones."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bethink.agents.transcripts.lines import (
    RawLine,
    TranscriptLine,
    as_object,
    id_at,
    mapping,
    objects,
    raw_lines,
    shorten,
    summarize_call,
    text_at,
    time_of,
    value_at,
)

AGENT = "codex"
_ROLES = {"user": "user", "assistant": "assistant"}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_TEXTS = ("input_text", "output_text", "text")
_GENERATED_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<hook_prompt",
    "# AGENTS.md instructions",
    "Warning: ",
)
"""Prefixes of user messages that were written by the program."""
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_FILE_NAME = re.compile(rf"({_ID})(?:_([^.]+))?\.jsonl(?:\.zst)?$")
_MAX_ANCESTORS = 64
"""Maximum number of earlier files that a history is followed through."""


def find(home: Path | None = None) -> list[Path]:
    """Return the rollouts on this machine, oldest first: in CODEX_HOME, or `.codex` in the home folder."""
    configured = os.environ.get("CODEX_HOME") if home is None else None
    folder = Path(configured) if configured else (home or Path.home()) / ".codex"
    paths: dict[str, Path] = {}
    for below in ("sessions", "archived_sessions"):
        for path in sorted(folder.glob(f"{below}/**/rollout-*.jsonl*")):
            if path.name.endswith((".jsonl", ".jsonl.zst")) and path.is_file():
                paths.setdefault(path.name.removesuffix(".zst"), path)  # of two copies, the uncompressed one
    return sorted(paths.values(), key=lambda path: (path.name, path))


def read_lines(path: Path, *, start: int = 0) -> Iterator[TranscriptLine]:
    """Yield the messages of the user, the agent and its tools in a rollout, from an offset on.

    If the rollout continues another file, the lines of that file come first, with their own keys and session, and
    offset 0. Unknown kinds of lines, and user messages written by the program, are skipped.

    Raises:
        ConfigurationError: if it is compressed and no package to read it is installed.
    """
    head = _head(path)
    if start == 0:
        for line in _inherited_lines(path, head, _MAX_ANCESTORS):
            yield TranscriptLine(**line, offset=0)
    rollout = _Rollout(path, head)
    for raw in raw_lines(path, start=start):
        line = rollout.line(raw, start)
        if line is not None:
            yield TranscriptLine(**line, offset=raw.end)


def _head(path: Path) -> Mapping[str, Any]:
    for raw in raw_lines(path):
        if raw.tree.get("type") == "session_meta":
            return mapping(raw.tree.get("payload"))
        if "payload" not in raw.tree and text_at(raw.tree, "id"):  # before 0.40 the first line was the bare record
            return raw.tree
        break
    return {}


def _inherited_lines(path: Path, head: Mapping[str, Any], max_depth: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of the file that this one continues, up to the branch point."""
    base = head.get("history_base")
    parent = _rollout_file(path, text_at(head, "history_base", "thread_id")) if isinstance(base, Mapping) else None
    if parent is None or not max_depth:
        return
    parent_head = _head(parent)
    yield from _inherited_lines(parent, parent_head, max_depth - 1)
    rollout = _Rollout(parent, parent_head)
    ends, ordinals = (
        value_at(head, "history_base", "end_byte_offset"),
        value_at(head, "history_base", "end_ordinal_exclusive"),
    )
    for raw in raw_lines(parent):
        ordinal = raw.tree.get("ordinal")
        if isinstance(ordinals, int) and isinstance(ordinal, int):
            if ordinal >= ordinals:
                return
        elif isinstance(ends, int) and raw.end > ends:
            return
        line = rollout.line(raw, 0)
        if line is not None:
            yield line


def _rollout_file(path: Path, rollout_id: str | None) -> Path | None:
    """Find the file of a rollout in the folders of the rollout that refers to it."""
    if rollout_id is None:
        return None
    tops = [top.parent for top in path.parents if top.name in ("sessions", "archived_sessions")]
    for folder in tops[:1] or [path.parent]:
        for other in sorted(folder.glob("**/rollout-*.jsonl*")):
            match = _FILE_NAME.search(other.name)
            if match and rollout_id in ((match[2] or match[1]), other.name) and other != path:
                return other
    return None


@dataclass(slots=True)
class _Rollout:
    path: Path
    head: Mapping[str, Any]
    cwd: str | None = None
    calls: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    looked_back: bool = False

    def line(self, raw: RawLine, start: int) -> dict[str, Any] | None:
        tree = raw.tree
        item = mapping(tree.get("payload", tree))
        if tree.get("type") == "turn_context":
            self.cwd = text_at(tree, "payload", "cwd") or self.cwd
        if tree.get("type") not in ("response_item", "message", *_CALLS, *_OUTPUTS):
            return None
        self._note_call(item)
        part = self._result(item, start) if item.get("type") in _OUTPUTS else self._message_part(item)
        if part is None or not part["content"]:
            return None
        thread = self._thread
        return {
            **part,
            "agent": AGENT,
            "key": _key(thread, tree, part, item),
            "session": id_at(self.head, "session_id") or self._parent or thread,
            "said_at": time_of(tree) or time_of(self.head),
            "cwd": self.cwd or text_at(self.head, "cwd"),
            "git_branch": text_at(self.head, "git", "branch"),
            "subagent": thread if self._is_subagent else None,
        }

    @property
    def _thread(self) -> str:
        match = _FILE_NAME.search(self.path.name)
        return id_at(self.head, "id") or (match[1] if match else self.path.name.partition(".")[0])

    @property
    def _is_subagent(self) -> bool:
        return isinstance(value_at(self.head, "source", "subagent"), str | dict) or self.head.get("thread_source") in (
            "subagent",
            "sub_agent",
        )

    @property
    def _parent(self) -> str | None:
        return id_at(self.head, "source", "subagent", "thread_spawn", "parent_thread_id")

    def _message_part(self, item: Mapping[str, Any]) -> dict[str, Any] | None:
        role = _ROLES.get(str(item.get("role")))
        if item.get("type") != "message" or role is None:
            return None
        if role == "user":
            # The prompt of a sub-agent comes from the agent that started it.
            return {"role": "assistant" if self._is_subagent else "user", "content": user_text(item.get("content"))}
        return {"role": role, "content": "\n".join(filter(None, _texts(item.get("content"))))}

    def _note_call(self, item: Mapping[str, Any]) -> None:
        if item.get("type") in _CALLS:
            arguments = item.get("arguments", item.get("input", item.get("action")))
            self.calls[str(item.get("call_id"))] = (id_at(item, "name") or "shell", summarize_call(arguments))

    def _result(self, item: Mapping[str, Any], start: int) -> dict[str, Any]:
        call = str(item.get("call_id"))
        if call not in self.calls and start and not self.looked_back:
            # The call may be before the offset. The result must not depend on the offset.
            self.looked_back = True
            for raw in raw_lines(self.path):
                if raw.start >= start:
                    break
                self._note_call(mapping(raw.tree.get("payload", raw.tree)))
        name, arguments = self.calls.get(call, ("unnamed", ""))
        output, failed = output_of(item.get("output"))
        text = "\n".join(piece for piece in (arguments, shorten(output.strip())) if piece)
        return {"role": "tool", "name": name, "content": text, "is_error": failed}


def user_text(content: Any) -> str:
    """Return the user's own text of a message, without text written by the program."""
    return "\n".join(text for text in _texts(content) if text and not text.startswith(_GENERATED_PREFIXES))


def _texts(content: Any) -> list[str]:
    return [text.strip() for part in objects(content) if (text := _text(part))]


def _text(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    return text if part.get("type") in _TEXTS and isinstance(text, str) else ""


def output_of(output: Any) -> tuple[str, bool]:
    """Return the output of a tool, and whether it failed. Older versions stored both as one JSON text."""
    if isinstance(output, list):
        return "\n".join(filter(None, map(_text, objects(cast("Any", output))))), False
    tree = (as_object(output) or {}) if isinstance(output, str) else mapping(output)
    text = tree.get("output", tree.get("content"))
    if not isinstance(text, str):
        return (output if isinstance(output, str) else ""), False
    code = value_at(tree, "metadata", "exit_code")
    return text, tree.get("success") is False or (isinstance(code, int) and code != 0)


def _key(thread: str, tree: Mapping[str, Any], part: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """Return a key from the content of a line: offsets change when Codex rewrites a file, and server ids repeat."""
    parts = [
        thread,
        tree.get("timestamp"),
        part["role"],
        item.get("call_id"),
        item.get("output") or item.get("content"),
    ]
    return f"codex:{hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]}"
