"""The Claude Agent SDK: a `SessionStore` that mirrors transcripts into a space, so that Bethink learns from them.

    options = ClaudeAgentOptions(session_store=BethinkSessionStore(memory.space("mira")))

From the SDK it imports only the function that folds summaries, at first use.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from importlib import import_module
from typing import Any

from bethink import Message, Session, Space
from bethink.agents.transcripts.claude_code import role_and_text
from bethink.errors import ConflictError
from bethink.types import Record, Role

_ENTRY, _SUMMARY = "claude_agent_sdk", "claude_agent_sdk_summary"
_AGENT = "claude-agent-sdk"
_PAGE = 1_000
_SUB = "//"


class BethinkSessionStore:
    """The transcripts of the SDK in one space: a conversation for each session, and for each sub-agent of it.

    Entries are returned unchanged, except that secrets are removed before storage. Only text that the user typed counts
    as the user's statements; prompts of a sub-agent come from the agent that started it.
    """

    def __init__(self, space: Space) -> None:
        self._space = space

    async def append(self, key: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
        """Store lines of a transcript in one transaction. Lines with the same `uuid` are stored once."""
        if not entries:
            return
        name = _name(key)
        session = await self._space.session(name, agent=_AGENT)
        messages = [_message(name, entry, subagent=_SUB in name) for entry in entries]
        try:
            await session.append(messages)
        except ConflictError:  # a line was sent again with different text: the first version stays
            for message in messages:
                with suppress(ConflictError):
                    await session.append([message])

    async def load(self, key: Mapping[str, Any]) -> list[Any] | None:
        """Return the lines of a transcript, in order, or None if it does not exist."""
        lines: list[Any] = []
        for session in await self._sessions(_name(key)):
            lines += [_entry(record) for record in await _read_all(session)]
        return lines or None

    async def list_sessions(self, project_key: str) -> list[Any]:
        """Return the sessions of a project with the time of their last line."""
        return [{"session_id": name, "mtime": at} for name, at, _ in await self._latest_sessions(project_key)]

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """Return the SDK's summaries of the sessions of a project. Only lines since the last call are read."""
        fold: Any = import_module("claude_agent_sdk").fold_session_summary
        summaries: list[Any] = []
        for name, at, metadata in await self._latest_sessions(project_key):
            key: Any = {"project_key": project_key, "session_id": name}
            sessions = await self._sessions(_name(key))
            # The stored summary covers the first lines of the log, so it is correct even if two processes write it.
            stored: Mapping[str, Any] = metadata.get(_SUMMARY, {}) if len(sessions) == 1 else {}
            summary: Any = {"session_id": name, "mtime": at, "data": stored["data"]} if stored else None
            records = [line for session in sessions for line in await _read_all(session, after=stored.get("until", 0))]
            if records:
                summary = fold(summary, key, [_entry(record) for record in records])
                if len(sessions) == 1 and sessions[0].info.ended_at is None:
                    new_metadata = {_SUMMARY: {"data": summary["data"], "until": records[-1].number}}
                    await self._space.session(_name(key), agent=_AGENT, metadata=new_metadata)
            if summary is not None:
                summaries.append({**summary, "mtime": at})
        return summaries

    async def delete(self, key: Mapping[str, Any]) -> None:
        """Permanently delete a transcript, those of its sub-agents, and derived data."""
        name = _name(key)
        below = [] if _SUB in name else [f"{name}{_SUB}{path}" for path in await self.list_subkeys(key)]
        for path in (name, *below):
            await self._space.forget(conversation=path, agent=_AGENT, missing_ok=True)

    async def list_subkeys(self, key: Mapping[str, Any]) -> list[str]:
        """Return the paths of the transcripts of sub-agents."""
        prefix = f"{_conversation(key)}{_SUB}"
        return sorted({name.removeprefix(prefix) for name, _, _ in await self._conversations(prefix)})

    async def _latest_sessions(self, project_key: str) -> list[tuple[str, int, Mapping[str, Any]]]:
        prefix = f"{_AGENT}/{_escape(project_key)}/"
        latest: dict[str, tuple[str, int, Mapping[str, Any]]] = {}
        for name, at, metadata in await self._conversations(prefix):
            if _SUB not in name:
                session_id = _unescape(name.removeprefix(prefix))
                latest.setdefault(session_id, (session_id, at, metadata))  # the newest comes first
        return list(latest.values())

    async def _conversations(self, prefix: str) -> list[tuple[str, int, Mapping[str, Any]]]:
        """Return the non-empty sessions below a name: conversation, time in ms, and metadata."""
        sessions: list[tuple[str, int, Mapping[str, Any]]] = []
        before = ""
        while page := await self._space.sessions.list(
            conversation_prefix=prefix, agent=_AGENT, limit=_PAGE, after=before
        ):  # fmt: skip
            before = page[-1].session.id
            sessions += [
                (entry.conversation, int(entry.last_at.timestamp() * 1_000), entry.session.metadata)
                for entry in page
                if entry.last_at is not None
            ]
        return sessions

    async def _sessions(self, name: str) -> list[Session]:
        """Return the sessions of a conversation, the oldest first."""
        listed = await self._space.sessions.list(conversation=name, agent=_AGENT, limit=_PAGE)
        return [await self._space.sessions.get(entry.session.id) for entry in reversed(listed)]


async def _read_all(session: Session, *, after: int = 0) -> list[Record]:
    records: list[Record] = []
    while page := await session.messages(after=records[-1].number if records else after, limit=_PAGE):
        records += page
    return records


def _message(name: str, entry: Mapping[str, Any], *, subagent: bool) -> Message:
    line = role_and_text(entry, subagent=subagent)
    role, text = (Role.SYSTEM, "") if line is None else (Role(line[0]), line[1])
    uuid, at = entry.get("uuid"), entry.get("timestamp")
    # A line belongs to its transcript: a fork of a session has the same lines.
    key = _digest((name, uuid)) if isinstance(uuid, str) else None
    said_at = None
    if isinstance(at, str):
        with suppress(ValueError):
            said_at = datetime.fromisoformat(at)
    return Message(role=role, content=text, metadata={_ENTRY: entry}, idempotency_key=key, said_at=said_at)


def _entry(record: Record) -> Any:
    return record.message.metadata[_ENTRY]


def _name(key: Mapping[str, Any]) -> str:
    sub = key.get("subpath")
    return f"{_conversation(key)}{_SUB}{sub}" if sub else _conversation(key)


def _conversation(key: Mapping[str, Any]) -> str:
    return f"{_AGENT}/{_escape(key['project_key'])}/{_escape(key['session_id'])}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _unescape(text: str) -> str:
    return text.replace("%2F", "/").replace("%25", "%")


def _digest(parts: Iterable[str]) -> str:
    return blake2b(json.dumps(list(parts)).encode(), digest_size=20).hexdigest()
