"""Stores what the transcripts of coding agents say: each line once, from where the last reading ended."""

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
from bethink.errors import BethinkError, Conflict, Corrupt, Invalid, Misconfigured
from bethink.model.records import AgentKind, Message, conversation_key

_READERS = {claude_code.AGENT: claude_code.read, codex.AGENT: codex.read}
_BATCH = 100
_log = logger("agents")


class Capture:
    """Stores sessions of coding agents in the spaces that they belong to. Use one at a time for a folder of state."""

    def __init__(self, memory: Memory, folder: AgentFolder, *, learns_freely: bool = False) -> None:
        self._memory = memory
        self._folder = folder
        self._learns_freely = learns_freely
        """Whether learning costs nothing, because there is no model: then every turn is learnt from at once."""

    def scope(self, cwd: str) -> ProjectScope:
        """Return the spaces of a folder, as `connect` was told."""
        return scope_of(cwd or "/", project_only=bool(self._folder.settings.get("project_only")))

    async def take(self, event: HookEvent) -> AgentSessionState:
        """Store what is new in the session of an event, and note what the event means for it.

        Raises:
            BethinkError: if memory cannot be reached; nothing is lost then, and the same event can be taken again.
        """
        state = self._folder.session(event.agent, event.session)
        over = state.ended
        state.ended = event.event == END
        state.transcript = event.transcript or state.transcript
        stored = await self._read(state, *filter(None, (state.transcript, event.subagent_transcript)))
        if state.transcript is None:
            stored += await self._from_payload(state, event)
        if stored or not over:
            await self._told(state, event)
        self._folder.save(state)
        return state

    async def catch_up(self) -> None:
        """Store what was added to known transcripts since they were last read, such as after a crash."""
        for state in self._folder.behind():
            if state.transcript is not None:
                await self._read(state, state.transcript)
                self._folder.save(state)

    async def missed(self, event: HookEvent, *, since: float) -> None:
        """Store sessions beside that of an event which no hook told of, such as while hooks were off."""
        if event.transcript is None:
            return
        known = Path(event.transcript)
        try:
            beside = [path for path in known.parent.iterdir() if path != known and path.name.endswith(TRANSCRIPTS)]
            found = [path for path in beside if path.stat().st_mtime >= since]
        except OSError:
            return
        for path in sorted(found):
            first = next(_lines(event.agent, path, 0), None)
            if first is None or self._folder.knows(event.agent, first.session):
                continue
            await self._read(
                AgentSessionState(agent=event.agent, session=first.session, transcript=str(path)), str(path)
            )

    async def _read(self, state: AgentSessionState, *paths: str) -> int:
        """Store what is new in some transcripts, and return how many lines that were."""
        count = 0
        for path in dict.fromkeys(each for name in paths for each in (Path(name), *_subagents(Path(name)))):
            count += await self._read_file(state, path)
        return count

    async def _read_file(self, state: AgentSessionState, path: Path) -> int:
        name, count = str(path), 0
        lines = _lines(state.agent, path, state.offsets.get(name, 0))
        while batch := list(islice(lines, _BATCH)):
            if name not in state.spaces:
                # A transcript belongs where it begins: what is said of a project stays there, wherever it goes, and
                # whatever a payload claims.
                cwd = next((line.cwd for line in batch if line.cwd), None)
                if cwd is None:
                    return count  # its place may be known next time
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
            several = list(group)
            session = await self._session(space, several[0])
            await self._append(session, [line.message() for line in several])

    async def _session(self, space: str, line: TranscriptLine) -> Session:
        kind = AgentKind.PRIMARY if line.subagent is None else AgentKind.SUBAGENT
        agent = line.agent if line.subagent is None else f"{line.agent}-subagent"
        return await self._memory.space(space).session(line.conversation, agent=agent, kind=kind)

    async def _append(self, session: Session, messages: list[Message]) -> None:
        try:
            await session.append(messages)
        except (Conflict, Invalid) as error:
            if len(messages) == 1:  # refused for good: it must not hold up what comes after it
                _log.warning("a line of a transcript was not stored: %s", type(error).__name__)
                return
            for each in messages:
                await self._append(session, [each])

    async def _from_payload(self, state: AgentSessionState, event: HookEvent) -> int:
        """Store what the payload itself says: the agent keeps no transcript of this session."""
        said = [("user", event.prompt), ("assistant", event.answer)]
        messages = [
            Message(role=role, content=text, idempotency_key=f"{state.session[:60]}:{event.turn}:{role}")
            for role, text in said
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

    async def _told(self, state: AgentSessionState, event: HookEvent) -> None:
        """Pass on what an event means: a turn has ended, the context was compacted, the session has ended."""
        if state.space is None or event.event not in (STOP, AFTER_COMPACTION, END):
            return
        session = await self._own_session(state)
        if not session.info.last_number:  # nothing was said since it was opened
            return
        if event.event == STOP:
            await (session.idle() if self._learns_freely else session.end_turn())
        elif event.event == AFTER_COMPACTION:
            await session.compacted()
        else:
            await session.end()

    async def learn(self, space: str) -> None:
        """Learn from what is marked in a space, if that costs nothing. With a model it happens by itself."""
        if self._learns_freely:
            try:
                await self._memory.space(space).learn()
            except BethinkError as error:
                _log.warning("learning in the background failed: %s", type(error).__name__)


def _lines(agent: str, path: Path, start: int) -> Iterator[TranscriptLine]:
    """Yield the lines of a transcript; none of one that cannot be read, which is looked at again next time."""
    reader: Callable[..., Iterator[TranscriptLine]] = _READERS[agent]
    try:
        yield from reader(path, start=start)
    except FileNotFoundError:
        return  # a session that has only begun
    except (OSError, Corrupt, Misconfigured) as error:
        _log.warning("a transcript cannot be read: %s", type(error).__name__)


def _is_folder(name: str) -> bool:
    try:
        return bool(name) and Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _subagents(path: Path) -> list[Path]:
    """Return the transcripts of a session's sub-agents, which lie in a folder beside its own."""
    try:
        return sorted((path.parent / path.stem / "subagents").glob("agent-*.jsonl"))
    except OSError:
        return []
