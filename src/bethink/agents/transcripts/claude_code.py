"""Reads transcripts of Claude Code: `projects/<folder>/<session>.jsonl`, sub-agents' in `<session>/subagents/`."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.lines import (
    RawLine,
    TranscriptLine,
    id_at,
    objects,
    raw_lines,
    shorten,
    summarize_call,
    text_at,
    time_of,
    value_at,
)

AGENT = "claude-code"
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_REMINDER = re.compile(r"<(system-reminder|ide_[a-z_]+)>.*?</\1>", re.DOTALL)
_GENERATED_PREFIXES = (
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<command-message>",
    "<user-prompt-submit-hook>",
    "<teammate-message",
    "Caveat: The messages below",
    "[Request interrupted by user",
)
"""Prefixes of user messages that were written by the program."""


def find(home: Path | None = None) -> list[Path]:
    """Return the transcripts on this machine, oldest first: in CLAUDE_CONFIG_DIR, or `.claude` in the home folder."""
    configured = os.environ.get("CLAUDE_CONFIG_DIR") if home is None else None
    folder = Path(configured) if configured else (home or Path.home()) / ".claude"
    paths = [path for path in folder.glob("projects/**/*.jsonl") if path.is_file()]
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path))


def read_lines(path: Path, *, start: int = 0) -> Iterator[TranscriptLine]:
    """Yield the messages of the user, the agent and its tools in a transcript, from an offset on.

    Unknown kinds of lines, and user messages written by the program, are skipped.
    """
    transcript = _Transcript(path)
    for raw in raw_lines(path, start=start):
        lines = list(transcript.lines(raw, start))
        for index, line in enumerate(lines, 1):
            yield TranscriptLine(**line, offset=raw.end if index == len(lines) else raw.start)


def role_and_text(tree: Mapping[str, Any], *, subagent: bool = False) -> tuple[str, str] | None:
    """Return the role and text of a line, or None if it is not from a person or a model."""
    if tree.get("type") == "assistant":
        part = _assistant_part(tree)
    elif tree.get("type") == "user":
        is_subagent = subagent or tree.get("isSidechain") is True or id_at(tree, "agentId") is not None
        part = _Transcript(Path())._user_part(tree, "subagent" if is_subagent else None)  # noqa: SLF001 - same module
    else:
        part = None
    return None if part is None else (part["role"], part["content"])


@dataclass(slots=True)
class _Transcript:
    path: Path
    calls: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    looked_back: bool = False

    def lines(self, raw: RawLine, start: int) -> Iterator[dict[str, Any]]:
        tree = raw.tree
        uuid, session = id_at(tree, "uuid"), id_at(tree, "sessionId")
        if uuid is None or session is None or tree.get("type") not in ("user", "assistant"):
            return
        self._note_calls(tree)
        subagent = self._subagent(tree)
        spoken_part = self._user_part(tree, subagent) if tree.get("type") == "user" else _assistant_part(tree)
        about = {
            "agent": AGENT,
            "session": session,
            "said_at": time_of(tree),
            "cwd": text_at(tree, "cwd"),
            "git_branch": text_at(tree, "gitBranch"),
            "subagent": subagent,
        }
        parts = [spoken_part] if spoken_part is not None else []
        parts += [
            self._result(item, start) for item in objects(value_at(tree, "message", "content")) if _is_result(item)
        ]
        for index, part in enumerate(parts):
            yield {**about, **part, "key": f"{uuid}:{index}" if index else uuid}

    def _subagent(self, tree: Mapping[str, Any]) -> str | None:
        agent_id = id_at(tree, "agentId")
        if agent_id is not None:
            return agent_id
        return self.path.stem.removeprefix("agent-") if tree.get("isSidechain") is True else None

    def _user_part(self, tree: Mapping[str, Any], subagent: str | None) -> dict[str, Any] | None:
        is_generated = tree.get("isMeta") or tree.get("isCompactSummary") or tree.get("promptSource") == "system"
        if is_generated or value_at(tree, "origin", "kind") not in (None, "human"):
            return None
        text = _user_text(_text(tree))
        # The prompt of a sub-agent comes from the agent that started it.
        return {"role": "user" if subagent is None else "assistant", "content": text} if text else None

    def _note_calls(self, tree: Mapping[str, Any]) -> None:
        for part in objects(value_at(tree, "message", "content")):
            if part.get("type") == "tool_use":
                name = id_at(part, "name") or "unnamed"
                self.calls[str(part.get("id"))] = (name, summarize_call(part.get("input")))

    def _result(self, part: Mapping[str, Any], start: int) -> dict[str, Any]:
        call = str(part.get("tool_use_id"))
        if call not in self.calls and start and not self.looked_back:
            # The call may be before the offset. The result must not depend on the offset.
            self.looked_back = True
            for raw in raw_lines(self.path):
                if raw.start >= start:
                    break
                self._note_calls(raw.tree)
        name, arguments = self.calls.get(call, ("unnamed", ""))
        content = part.get("content")
        output = content if isinstance(content, str) else _join_texts(objects(content))
        text = "\n".join(piece for piece in (arguments, shorten(output.strip())) if piece)
        return {"role": "tool", "name": name, "content": text, "is_error": part.get("is_error") is True}


def _assistant_part(tree: Mapping[str, Any]) -> dict[str, Any] | None:
    if tree.get("isApiErrorMessage") is True or text_at(tree, "message", "model") == "<synthetic>":
        return None
    text = _text(tree).strip()
    return {"role": "assistant", "content": text} if text else None


def _is_result(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "tool_result"


def _text(tree: Mapping[str, Any]) -> str:
    content = value_at(tree, "message", "content")
    return content if isinstance(content, str) else _join_texts(objects(content))


def _join_texts(parts: list[Mapping[str, Any]]) -> str:
    return "\n".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


def _user_text(text: str) -> str:
    """Return the user's own text. For a command: its name and arguments, or nothing without arguments."""
    text = _REMINDER.sub("", text).strip()
    command, args = _COMMAND.search(text), _ARGS.search(text)
    if command is not None and text.startswith("<command-"):
        words = args[1].strip() if args else ""
        return f"{command[1].strip()} {words}" if words else ""
    return "" if text.startswith(_GENERATED_PREFIXES) else text
