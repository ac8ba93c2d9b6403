"""Stores transcripts of coding agents: each line once, from the last offset on."""

from collections.abc import Callable, Iterator
from itertools import groupby, islice
from pathlib import Path

from bethink.agents.folder import AgentFolder, AgentSessionState
from bethink.agents.payloads import AFTER_COMPACTION, END, STOP, TRANSCRIPTS, HookEvent
from bethink.agents.scopes import ProjectScope, scope_of
from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import TranscriptLine
from bethink.api.connect import Memory
from bethink.api.session import Session
from bethink.base.logs import logger
from bethink.errors import BethinkError, ConfigurationError, ConflictError, CorruptDatabaseError, InvalidRequestError
from bethink.model.records import AgentKind, Message, conversation_key

_READERS = {claude_code.AGENT: claude_code.read_lines, codex.AGENT: codex.read_lines}
_BATCH = 100
_log = logger("agents")


class Capture:
    """Stores sessions of coding agents in their spaces. Use one instance at a time per state folder."""

    def __init__(self, memory: Memory, folder: AgentFolder, *, learns_freely: bool = False) -> None:
        self._memory = memory
        self._folder = folder
        self._learns_freely = learns_freely
        """True if learning is free, because there is no model. Every turn is then learned from immediately."""

    def scope(self, cwd: str) -> ProjectScope:
        """Return the spaces of a folder, by the options of `connect`."""
        return scope_of(cwd or "/", project_only=bool(self._folder.settings.get("project_only")))

    async def handle_event(self, event: HookEvent) -> AgentSessionState:
        """Store new lines of the event's session, and apply the event to the session.

        Raises:
            BethinkError: if memory cannot be reached. Nothing is lost, and the event can be handled again.
        """
        state = self._folder.session(event.agent, event.session)
        was_ended = state.ended
        state.ended = event.event == END
        state.transcript = event.transcript or state.transcript
        stored = await self._read_transcripts(state, *filter(None, (state.transcript, event.subagent_transcript)))
        if state.transcript is None:
            stored += await self._from_payload(state, event)
        if stored or not was_ended:
            await self._apply_event(state, event)
        self._folder.save(state)
        return state

    async def catch_up(self) -> None:
        """Store new lines of known transcripts, for example after a crash."""
        for state in self._folder.outdated_sessions():
            if state.transcript is not None:
                await self._read_transcripts(state, state.transcript)
                self._folder.save(state)

    async def import_unseen_sessions(self, event: HookEvent, *, since: float) -> None:
        """Store sessions in the event's folder that had no hook events, for example while hooks were off."""
        if event.transcript is None:
            return
        current = Path(event.transcript)
        try:
            siblings = [
                path for path in current.parent.iterdir() if path != current and path.name.endswith(TRANSCRIPTS)
            ]
            recent = [path for path in siblings if path.stat().st_mtime >= since]
        except OSError:
            return
        for path in sorted(recent):
            first = next(_lines(event.agent, path, 0), None)
            if first is None or self._folder.has_session(event.agent, first.session):
                continue
            await self._read_transcripts(
                AgentSessionState(agent=event.agent, session=first.session, transcript=str(path)), str(path)
            )

    async def _read_transcripts(self, state: AgentSessionState, *paths: str) -> int:
        """Store new lines of transcripts. Returns the number of lines."""
        count = 0
        for path in dict.fromkeys(file for name in paths for file in (Path(name), *_subagents(Path(name)))):
            count += await self._read_file(state, path)
        return count

    async def _read_file(self, state: AgentSessionState, path: Path) -> int:
        name, count = str(path), 0
        lines = _lines(state.agent, path, state.offsets.get(name, 0))
        while batch := list(islice(lines, _BATCH)):
            if name not in state.spaces:
                # A transcript belongs to the folder where it begins, even if the session moves to another one or a
                # payload names another one.
                cwd = next((line.cwd for line in batch if line.cwd), None)
                if cwd is None:
                    return count  # its folder may be known next time
                state.spaces[name] = self.scope(cwd).home
            space = state.spaces[name]
            if space is not None and not state.without_transcript:
                await self._store(space, self._storable(batch))
            count += len(batch)
            state.offsets[name] = batch[-1].offset
            self._folder.save(state)
        return count

    def _storable(self, lines: list[TranscriptLine]) -> list[TranscriptLine]:
        ignored = {cwd: self.scope(cwd).ignored for cwd in {line.cwd for line in lines} if cwd}
        return [line for line in lines if line.content.strip() and not ignored.get(line.cwd or "")]

    async def _store(self, space: str, lines: list[TranscriptLine]) -> None:
        for _, group in groupby(lines, key=lambda line: line.conversation):
            group_lines = list(group)
            session = await self._session(space, group_lines[0])
            await self._append(session, [line.message() for line in group_lines])

    async def _session(self, space: str, line: TranscriptLine) -> Session:
        kind = AgentKind.PRIMARY if line.subagent is None else AgentKind.SUBAGENT
        agent = line.agent if line.subagent is None else f"{line.agent}-subagent"
        return await self._memory.space(space).session(line.conversation, agent=agent, kind=kind)

    async def _append(self, session: Session, messages: list[Message]) -> None:
        try:
            await session.append(messages)
        except (ConflictError, InvalidRequestError) as error:
            if len(messages) == 1:  # permanently rejected: it must not block later lines
                _log.warning("A transcript line was not stored: %s", type(error).__name__)
                return
            for message in messages:
                await self._append(session, [message])

    async def _from_payload(self, state: AgentSessionState, event: HookEvent) -> int:
        """Store the texts of the payload, because this session has no transcript."""
        texts = [("user", event.prompt), ("assistant", event.answer)]
        messages = [
            Message(role=role, content=text, idempotency_key=f"{state.session[:60]}:{event.turn}:{role}")
            for role, text in texts
            if text.strip() and event.turn
        ]
        if messages and _is_folder(event.cwd):
            state.spaces.setdefault("", self.scope(event.cwd).home)
        if messages and state.space is not None and not self.scope(event.cwd).ignored:
            state.without_transcript = True
            await self._append(await self._own_session(state), messages)
        return len(messages)

    async def _own_session(self, state: AgentSessionState) -> Session:
        space = self._memory.space(state.space or "")
        return await space.session(conversation_key(state.agent, state.session), agent=state.agent)

    async def _apply_event(self, state: AgentSessionState, event: HookEvent) -> None:
        """Apply the end of a turn, a compaction, or the end of the session."""
        if state.space is None or event.event not in (STOP, AFTER_COMPACTION, END):
            return
        session = await self._own_session(state)
        if not session.info.last_number:  # the session has no messages
            return
        if event.event == STOP:
            await (session.checkpoint(force=True) if self._learns_freely else session.checkpoint())
        elif event.event == AFTER_COMPACTION:
            await session.restart("compaction")
        else:
            await session.end()

    async def learn(self, space: str) -> None:
        """Learn from queued sessions of a space, if learning is free. With a model, the worker does this."""
        if self._learns_freely:
            try:
                await self._memory.space(space).admin.learn()
            except BethinkError as error:
                _log.warning("Background learning failed: %s", type(error).__name__)


def _lines(agent: str, path: Path, start: int) -> Iterator[TranscriptLine]:
    """Yield the lines of a transcript. An unreadable file is skipped and retried next time."""
    reader: Callable[..., Iterator[TranscriptLine]] = _READERS[agent]
    try:
        yield from reader(path, start=start)
    except FileNotFoundError:
        return  # the session has just started
    except (OSError, CorruptDatabaseError, ConfigurationError) as error:
        _log.warning("Cannot read a transcript: %s", type(error).__name__)


def _is_folder(name: str) -> bool:
    try:
        return bool(name) and Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _subagents(path: Path) -> list[Path]:
    """Return the transcripts of a session's sub-agents, in a folder next to its own."""
    try:
        return sorted((path.parent / path.stem / "subagents").glob("agent-*.jsonl"))
    except OSError:
        return []
