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
    at,
    called_with,
    id_at,
    objects,
    raw_lines,
    shortened,
    text_at,
    time_of,
)

AGENT = "claude-code"
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_REMINDER = re.compile(r"<(system-reminder|ide_[a-z_]+)>.*?</\1>", re.DOTALL)
_NOT_SAID = (
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<command-message>",
    "<user-prompt-submit-hook>",
    "<teammate-message",
    "Caveat: The messages below",
    "[Request interrupted by user",
)
"""How a text begins that stands in the user's place, but was written by the program."""


def find(home: Path | None = None) -> list[Path]:
    """Return the transcripts on this machine, oldest first: below CLAUDE_CONFIG_DIR, or `.claude` in the home."""
    named = os.environ.get("CLAUDE_CONFIG_DIR") if home is None else None
    folder = Path(named) if named else (home or Path.home()) / ".claude"
    found = [path for path in folder.glob("projects/**/*.jsonl") if path.is_file()]
    return sorted(found, key=lambda path: (path.stat().st_mtime, path))


def read(path: Path, *, start: int = 0) -> Iterator[TranscriptLine]:
    """Yield what the user, the agent and its tools said in a transcript, from an offset on.

    Only known kinds of lines are read; all others, and those the program wrote in the user's place, are passed over.
    """
    transcript = _Transcript(path)
    for raw in raw_lines(path, start=start):
        lines = list(transcript.lines(raw, start))
        for place, line in enumerate(lines, 1):
            yield TranscriptLine(**line, offset=raw.end if place == len(lines) else raw.start)


def spoken(tree: Mapping[str, Any], *, subagent: bool = False) -> tuple[str, str] | None:
    """Return the role and the words of one line; None for what neither a person nor a model said."""
    if tree.get("type") == "assistant":
        said = _answered(tree)
    elif tree.get("type") == "user":
        aside = subagent or tree.get("isSidechain") is True or id_at(tree, "agentId") is not None
        said = _Transcript(Path())._said(tree, "subagent" if aside else None)  # noqa: SLF001 - it is ours
    else:
        said = None
    return None if said is None else (said["role"], said["content"])


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
        said = self._said(tree, subagent) if tree.get("type") == "user" else _answered(tree)
        about = {
            "agent": AGENT,
            "session": session,
            "said_at": time_of(tree),
            "cwd": text_at(tree, "cwd"),
            "git_branch": text_at(tree, "gitBranch"),
            "subagent": subagent,
        }
        parts = [said] if said is not None else []
        parts += [self._result(each, start) for each in objects(at(tree, "message", "content")) if _is_result(each)]
        for place, part in enumerate(parts):
            yield {**about, **part, "key": f"{uuid}:{place}" if place else uuid}

    def _subagent(self, tree: Mapping[str, Any]) -> str | None:
        named = id_at(tree, "agentId")
        if named is not None:
            return named
        return self.path.stem.removeprefix("agent-") if tree.get("isSidechain") is True else None

    def _said(self, tree: Mapping[str, Any], subagent: str | None) -> dict[str, Any] | None:
        written = tree.get("isMeta") or tree.get("isCompactSummary") or tree.get("promptSource") == "system"
        if written or at(tree, "origin", "kind") not in (None, "human"):
            return None
        text = _typed(_text(tree))
        # What a sub-agent is told comes from the agent that started it.
        return {"role": "user" if subagent is None else "assistant", "content": text} if text else None

    def _note_calls(self, tree: Mapping[str, Any]) -> None:
        for part in objects(at(tree, "message", "content")):
            if part.get("type") == "tool_use":
                name = id_at(part, "name") or "unnamed"
                self.calls[str(part.get("id"))] = (name, called_with(part.get("input")))

    def _result(self, part: Mapping[str, Any], start: int) -> dict[str, Any]:
        call = str(part.get("tool_use_id"))
        if call not in self.calls and start and not self.looked_back:
            # A line reads the same from whichever offset: its call may stand before it.
            self.looked_back = True
            for raw in raw_lines(self.path):
                if raw.start >= start:
                    break
                self._note_calls(raw.tree)
        name, given = self.calls.get(call, ("unnamed", ""))
        content = part.get("content")
        output = content if isinstance(content, str) else _joined(objects(content))
        told = "\n".join(each for each in (given, shortened(output.strip())) if each)
        return {"role": "tool", "name": name, "content": told, "is_error": part.get("is_error") is True}


def _answered(tree: Mapping[str, Any]) -> dict[str, Any] | None:
    if tree.get("isApiErrorMessage") is True or text_at(tree, "message", "model") == "<synthetic>":
        return None
    text = _text(tree).strip()
    return {"role": "assistant", "content": text} if text else None


def _is_result(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "tool_result"


def _text(tree: Mapping[str, Any]) -> str:
    content = at(tree, "message", "content")
    return content if isinstance(content, str) else _joined(objects(content))


def _joined(parts: list[Mapping[str, Any]]) -> str:
    return "\n".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


def _typed(text: str) -> str:
    """Return what the user typed; of a command its name and words, if it has words."""
    text = _REMINDER.sub("", text).strip()
    command, args = _COMMAND.search(text), _ARGS.search(text)
    if command is not None and text.startswith("<command-"):
        words = args[1].strip() if args else ""
        return f"{command[1].strip()} {words}" if words else ""
    return "" if text.startswith(_NOT_SAID) else text
