"""Hook payloads, read by allow-list: unknown events and fields are ignored."""

import json
from collections.abc import Mapping
from typing import Any, cast

from bethink.agents.folder import hook_module
from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.model.records import checked_name

AGENTS = ("claude-code", "codex")
START, PROMPT, STOP, SUBAGENT_STOP = "SessionStart", "UserPromptSubmit", "Stop", "SubagentStop"
BEFORE_COMPACTION, AFTER_COMPACTION, END = "PreCompact", "PostCompact", "SessionEnd"
EVENTS = (START, PROMPT, STOP, SUBAGENT_STOP, BEFORE_COMPACTION, AFTER_COMPACTION, END)
"""The events that hooks are installed for."""
TRANSCRIPTS = (".jsonl", ".jsonl.zst")
"""File name suffixes of transcripts."""
_MAX_TEXT = 60_000
"""Maximum characters stored from a payload when there is no transcript."""


@frozen
class HookEvent:
    """One event of an agent's session. The texts are used only without a transcript."""

    agent: str
    event: str
    session: str
    cwd: str = ""
    transcript: str | None = None
    subagent_transcript: str | None = None
    turn: str = ""
    prompt: str = ""
    answer: str = ""
    copied: bool = False
    """True if a copy of an earlier answer was shown at the start."""

    def note(self) -> dict[str, str]:
        """Return the note for the spool: paths and ids, without message text."""
        fields = {
            "agent": self.agent,
            "event": self.event,
            "session_id": self.session,
            "cwd": self.cwd,
            "transcript_path": self.transcript,
            "agent_transcript_path": self.subagent_transcript,
        }
        return {name: value for name, value in fields.items() if value}


def read_payload(agent: str, event: str, body: bytes) -> HookEvent | None:
    """Parse a hook's payload. Returns None without a session."""
    try:
        payload: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return event_from(agent, event, cast("Mapping[str, Any]", payload)) if isinstance(payload, dict) else None


def event_from(agent: str, event: str, fields: Mapping[str, Any]) -> HookEvent | None:
    """Return the event of a payload or spool note, or None without a session."""

    def text(name: str, max_length: int = _MAX_TEXT) -> str:
        value = fields.get(name)
        return value.encode("utf-8", "replace").decode()[:max_length] if isinstance(value, str) else ""

    def transcript(name: str) -> str | None:
        path = text(name, limits[name])
        return path if path.endswith(TRANSCRIPTS) and "\0" not in path else None

    limits = hook_module().POINTERS
    session = text("session_id", limits["session_id"] + 1)  # a longer one is invalid
    try:
        checked_name(session, "a session")
    except InvalidRequestError:
        return None
    if agent not in AGENTS or event not in EVENTS:
        return None
    return HookEvent(
        agent=agent,
        event=event,
        session=session,
        cwd=text("cwd", limits["cwd"]),
        transcript=transcript("transcript_path"),
        subagent_transcript=transcript("agent_transcript_path"),
        turn=text("turn_id", 100) or text("prompt_id", 100),
        prompt=text("prompt"),
        answer=text("last_assistant_message"),
        copied=bool(text("copied")),
    )
