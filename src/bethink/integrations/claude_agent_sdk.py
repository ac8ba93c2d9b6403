"""The Claude Agent SDK: a `SessionStore` that mirrors transcripts into a space, where they are learnt from.

    options = ClaudeAgentOptions(session_store=BethinkSessionStore(memory.space("mira")))

It imports nothing of the SDK but its fold of summaries, and that at first use.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from typing import Any

from bethink import Message, Record, Role, Session, Space, moment
from bethink.agents.transcripts.claude_code import spoken
from bethink.errors import Conflict, Invalid

_ENTRY, _SUMMARY = "claude_agent_sdk", "claude_agent_sdk_summary"
_AGENT = "claude-agent-sdk"
_PAGE = 1_000
_SUB = "//"


class BethinkSessionStore:
    """The transcripts of the SDK in one space: a conversation for each session, and for each sub-agent of it.

    Entries come back as they were given, but for secrets, which are cut out before they are stored. Only what the user
    typed is the user's word; what a sub-agent was told came from the agent that started it.
    """

    def __init__(self, space: Space) -> None:
        self._space = space

    async def append(self, key: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
        """Store lines of a transcript in one transaction. A line whose `uuid` is known is stored once."""
        if not entries:
            return
        name = _name(key)
        session = await self._space.session(name, agent=_AGENT)
        told = [_message(name, entry, subagent=_SUB in name) for entry in entries]
        try:
            await session.append(told)
        except Conflict:  # a line was written again with other words: the first ones stand
            for message in told:
                with suppress(Conflict):
                    await session.append([message])

    async def load(self, key: Mapping[str, Any]) -> list[Any] | None:
        """Return the lines of a transcript, in order; None if there is no such transcript."""
        found: list[Any] = []
        for session in await self._sessions(_name(key)):
            found += [_entry(record) for record in await _read(session)]
        return found or None

    async def list_sessions(self, project_key: str) -> list[Any]:
        """Return the sessions of a project, with when each was last added to."""
        return [{"session_id": name, "mtime": at} for name, at, _ in await self._listed(project_key)]

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """Return the SDK's summaries of the sessions of a project. Only lines since the last time are read."""
        fold: Any = import_module("claude_agent_sdk").fold_session_summary
        found: list[Any] = []
        for name, at, metadata in await self._listed(project_key):
            key: Any = {"project_key": project_key, "session_id": name}
            sessions = await self._sessions(_name(key))
            # The note is the fold of the first lines of the log, so it is right even if two processes write it.
            known: Mapping[str, Any] = metadata.get(_SUMMARY, {}) if len(sessions) == 1 else {}
            summary: Any = {"session_id": name, "mtime": at, "data": known["data"]} if known else None
            records = [each for session in sessions for each in await _read(session, after=known.get("until", 0))]
            if records:
                summary = fold(summary, key, [_entry(record) for record in records])
                if len(sessions) == 1 and sessions[0].info.ended_at is None:
                    noted = {_SUMMARY: {"data": summary["data"], "until": records[-1].number}}
                    await self._space.session(_name(key), agent=_AGENT, metadata=noted)
            if summary is not None:
                found.append({**summary, "mtime": at})
        return found

    async def delete(self, key: Mapping[str, Any]) -> None:
        """Forget a transcript, with those of its sub-agents if it is a session's: erased, with what was learnt."""
        name = _name(key)
        below = [] if _SUB in name else [f"{name}{_SUB}{each}" for each in await self.list_subkeys(key)]
        for each in (name, *below):
            await self._space.forget(conversation=each, agent=_AGENT, missing_ok=True)

    async def list_subkeys(self, key: Mapping[str, Any]) -> list[str]:
        """Return the paths of the transcripts of sub-agents."""
        prefix = f"{_conversation(key)}{_SUB}"
        return sorted({name.removeprefix(prefix) for name, _, _ in await self._conversations(prefix)})

    async def _listed(self, project_key: str) -> list[tuple[str, int, Mapping[str, Any]]]:
        prefix = f"{_AGENT}/{_escaped(project_key)}/"
        found: dict[str, tuple[str, int, Mapping[str, Any]]] = {}
        for name, at, metadata in await self._conversations(prefix):
            if _SUB not in name:
                session_id = _plain(name.removeprefix(prefix))
                found.setdefault(session_id, (session_id, at, metadata))  # the newest comes first
        return list(found.values())

    async def _conversations(self, prefix: str) -> list[tuple[str, int, Mapping[str, Any]]]:
        """Return each session below a name that has lines: its conversation, its time in ms, and its metadata."""
        found: list[tuple[str, int, Mapping[str, Any]]] = []
        before = ""
        while page := await self._space.sessions(
            conversation_prefix=prefix, agent=_AGENT, limit=_PAGE, before=before
        ):  # fmt: skip
            before = page[-1].session.id
            found += [
                (entry.conversation, int(entry.last_at.timestamp() * 1_000), entry.session.metadata)
                for entry in page
                if entry.last_at is not None
            ]
        return found

    async def _sessions(self, name: str) -> list[Session]:
        """Return the sessions of a conversation, the oldest first."""
        listed = await self._space.sessions(conversation=name, agent=_AGENT, limit=_PAGE)
        return [await self._space.get_session(entry.session.id) for entry in reversed(listed)]


async def _read(session: Session, *, after: int = 0) -> list[Record]:
    found: list[Record] = []
    while page := await session.read(after=found[-1].number if found else after, limit=_PAGE):
        found += page
    return found


def _message(name: str, entry: Mapping[str, Any], *, subagent: bool) -> Message:
    said = spoken(entry, subagent=subagent)
    role, text = (Role.SYSTEM, "") if said is None else (Role(said[0]), said[1])
    uuid, at = entry.get("uuid"), entry.get("timestamp")
    # A line belongs to its transcript: a fork of a session has the same lines.
    key = _digest((name, uuid)) if isinstance(uuid, str) else None
    said_at = None
    if isinstance(at, str):
        with suppress(Invalid):
            said_at = moment(at)
    return Message(role=role, content=text, metadata={_ENTRY: entry}, idempotency_key=key, said_at=said_at)


def _entry(record: Record) -> Any:
    return record.message.metadata[_ENTRY]


def _name(key: Mapping[str, Any]) -> str:
    sub = key.get("subpath")
    return f"{_conversation(key)}{_SUB}{sub}" if sub else _conversation(key)


def _conversation(key: Mapping[str, Any]) -> str:
    return f"{_AGENT}/{_escaped(key['project_key'])}/{_escaped(key['session_id'])}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _plain(text: str) -> str:
    return text.replace("%2F", "/").replace("%25", "%")


def _digest(parts: Iterable[str]) -> str:
    return blake2b(json.dumps(list(parts)).encode(), digest_size=20).hexdigest()
