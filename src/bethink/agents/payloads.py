"""What a hook says, read by allow-list: events and fields that are unknown are passed over, and none is refused."""

import json
from collections.abc import Mapping
from typing import Any, cast

from bethink.agents.folder import hook_module
from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.records import checked_name

AGENTS = ("claude-code", "codex")
START, PROMPT, STOP, SUBAGENT_STOP = "SessionStart", "UserPromptSubmit", "Stop", "SubagentStop"
BEFORE_COMPACTION, AFTER_COMPACTION, END = "PreCompact", "PostCompact", "SessionEnd"
EVENTS = (START, PROMPT, STOP, SUBAGENT_STOP, BEFORE_COMPACTION, AFTER_COMPACTION, END)
"""The events that hooks are installed for."""
TRANSCRIPTS = (".jsonl", ".jsonl.zst")
"""How the name of a transcript ends."""
_LONGEST = 60_000
"""Characters of a payload's text that are stored where there is no transcript."""


@frozen
class HookEvent:
    """One event of an agent's session. The texts matter only to a session without a transcript."""

    agent: str
    event: str
    session: str
    cwd: str = ""
    transcript: str | None = None
    subagent_transcript: str | None = None
    turn: str = ""
    prompt: str = ""
    answer: str = ""

    def note(self) -> dict[str, str]:
        """Return what may be written to the spool: where to read, and nothing of what was said."""
        given = {
            "agent": self.agent,
            "event": self.event,
            "session_id": self.session,
            "cwd": self.cwd,
            "transcript_path": self.transcript,
            "agent_transcript_path": self.subagent_transcript,
        }
        return {name: value for name, value in given.items() if value}


def read_payload(agent: str, event: str, body: bytes) -> HookEvent | None:
    """Return what a hook's payload says; None for one that names no session."""
    try:
        given: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return event_from(agent, event, cast("Mapping[str, Any]", given)) if isinstance(given, dict) else None


def event_from(agent: str, event: str, given: Mapping[str, Any]) -> HookEvent | None:
    """Return the event that a payload or a note of the spool describes; None if it names no session."""

    def text(name: str, longest: int = _LONGEST) -> str:
        value = given.get(name)
        return value.encode("utf-8", "replace").decode()[:longest] if isinstance(value, str) else ""

    def transcript(name: str) -> str | None:
        path = text(name, limits[name])
        return path if path.endswith(TRANSCRIPTS) and "\0" not in path else None

    limits = hook_module().POINTERS
    session = text("session_id", limits["session_id"] + 1)  # one that is too long is none
    try:
        checked_name(session, "a session")
    except Invalid:
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
    )
