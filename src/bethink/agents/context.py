"""What coding agents are told: memory at a session start, and matches for each prompt. No line is told twice."""

import json
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from bethink.agents.payloads import PROMPT, START
from bethink.agents.scopes import ProjectScope
from bethink.api.connect import Memory
from bethink.api.space import Space
from bethink.base.language import QUESTION_MARKS, is_request, preferences_in
from bethink.base.logs import logger
from bethink.errors import BethinkError
from bethink.memory.recall.context import PREFERENCES
from bethink.memory.recall.context_lines import RELEVANT, one_line, write_block
from bethink.model.facts import FactStatus
from bethink.model.plural import plural
from bethink.model.recall import Certainty, Match
from bethink.model.records import Role, conversation_key
from bethink.model.refs import RefKind

BUDGET = 1_900
"""Total tokens at a session start. Above about 2,500, Codex shows a preview instead of the text."""
PROMPT_BUDGET = 300
"""Total tokens for a prompt."""
_MATCHES = 5
_MAX_QUESTION = 2_000
_SESSIONS = 200
_KINDS = (RefKind.FACT, RefKind.MESSAGE, RefKind.DOCUMENT)
"""Summaries of sessions are left out: without a model, they quote prompts that are of no use later."""
_log = logger("agents")


@dataclass(slots=True)
class _SessionState:
    """What a session has been state."""

    start: str | None = None
    """The answer to its start; None before it has one. It stays the same, because programs cache what they sent."""
    labels: set[str] = field(default_factory=set[str])
    spaces: dict[str, tuple[Space, str] | None] = field(default_factory=dict[str, tuple[Space, str] | None])
    """The spaces with the id of its session in each; None for an empty space."""


class AgentContext:
    """Builds the answers to hooks, and knows what each session has been state."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._sessions: OrderedDict[tuple[str, str], _SessionState] = OrderedDict()

    async def start(self, scope: ProjectScope, *, agent: str, session: str) -> str:
        """Return the answer to a session start: the block, and a line for the person. Empty if nothing is known."""
        state = self._state_of(agent, session)
        if not state.start:
            items, block = await self._start_block(scope, state, agent=agent, session=session)
            state.labels |= {item.label for item in items}
            state.start = _answer(START, block, message=summary_of(items)) if block else ""
        return state.start

    async def copy(self, scope: ProjectScope) -> str:
        """Return the answer to a start for later: without a session, it is not recorded in the context log."""
        items, blocks = list[Match](), list[str]()
        for name in scope.spaces:
            with suppress(BethinkError):
                block = await self._memory.space(name).context(
                    budget=BUDGET // len(scope.spaces), kinds=_KINDS, citations=False
                )
                items += block.items
                blocks.append(block.text)
        text = "\n\n".join(filter(None, blocks))
        return _answer(START, text, message=summary_of(items)) if text else ""

    def mark_started(self, agent: str, session: str) -> None:
        """Note that the copy of an earlier start was shown, so that the first prompt does not repeat it."""
        self._state_of(agent, session).start = ""

    async def prompt(self, scope: ProjectScope, text: str, *, agent: str, session: str) -> str:
        """Return the answer to a prompt: matches that are at least fair, and the start if it was missed."""
        state = self._state_of(agent, session)
        blocks = list[str]()
        message = ""
        if state.start is None:
            items, block = await self._start_block(scope, state, agent=agent, session=session)
            state.start, message = "", summary_of(items)
            state.labels |= {item.label for item in items}
            blocks.append(block)
        blocks.append(await self._matches(scope, text, state, agent=agent, session=session))
        block = "\n\n".join(filter(None, blocks))
        return _answer(PROMPT, block, message=message) if block else ""

    def _state_of(self, agent: str, session: str) -> _SessionState:
        state = self._sessions.setdefault((agent, session), _SessionState())
        self._sessions.move_to_end((agent, session))
        if len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)
        return state

    async def _open(self, name: str, state: _SessionState, *, agent: str, session: str) -> tuple[Space, str] | None:
        """Return a space and the id of the agent's session in it. An empty space gets no session."""
        if name not in state.spaces:
            space = self._memory.space(name)
            key = conversation_key(agent, session)
            has_memory = bool(await space.sessions.list(limit=1)) or bool(await space.facts.count())
            state.spaces[name] = (space, (await space.session(key, agent=agent)).id) if has_memory else None
        return state.spaces[name]

    async def _start_block(
        self, scope: ProjectScope, state: _SessionState, *, agent: str, session: str
    ) -> tuple[list[Match], str]:  # fmt: skip
        """Return the items and the text of a start, recorded in the context log.

        Each space gets an equal share. Tokens the project does not use go to the user's space.
        """
        remaining, items, blocks = BUDGET, list[Match](), list[str]()
        for index, name in enumerate(scope.spaces):
            share = remaining // (len(scope.spaces) - index)
            try:
                opened = await self._open(name, state, agent=agent, session=session)
                if opened is None:
                    continue
                space, own = opened
                block = await space.context(budget=share, session_id=own, kinds=_KINDS, citations=False)
            except BethinkError as error:
                _log.warning("Could not build the context: %s", type(error).__name__)
                continue
            remaining -= block.tokens
            items += block.items
            blocks.append(block.text)
        return items, "\n\n".join(filter(None, blocks))

    async def _matches(self, scope: ProjectScope, text: str, state: _SessionState, *, agent: str, session: str) -> str:
        question = text.strip()[:_MAX_QUESTION]
        remaining, blocks = PROMPT_BUDGET, list[str]()
        for name in scope.spaces if question else ():
            try:
                opened = await self._open(name, state, agent=agent, session=session)
                if opened is None:
                    continue
                space, own = opened
                matches = await space.recall(
                    question, kinds=_KINDS, min_certainty=Certainty.FAIR, limit=_MATCHES, budget=remaining,
                    session_id=own,
                )  # fmt: skip
            except BethinkError as error:
                _log.warning("Could not search for a prompt: %s", type(error).__name__)
                continue
            items = [item for item in matches if item.session_id != own and item.label not in state.labels]
            chosen = [_line(item) for item in items if is_useful(item)]
            if chosen:
                state.labels |= {item.label for item in chosen}
                remaining -= sum(item.tokens for item in chosen)
                blocks.append(write_block(chosen, space=name, citations=False))
        return "\n\n".join(blocks)


def _line(item: Match) -> Match:
    return replace(item, text=one_line(item.text), section=RELEVANT)


def is_useful(item: Match) -> bool:
    """Return whether a match helps with a later prompt: questions and requests of the user and tool output do not."""
    if item.ref.kind is not RefKind.MESSAGE:
        return True
    if item.origin.startswith(Role.TOOL):
        return False
    if item.origin != Role.USER or preferences_in(item.text):
        return True
    is_question = item.text.rstrip().endswith(QUESTION_MARKS)
    return not (is_question or is_request(item.text) or item.text.startswith("/"))


def summary_of(items: Iterable[Match]) -> str:
    """Return the line that a person reads at a session start, such as "Bethink: 6 instructions, 4 facts."."""
    lines = list(items)
    wishes = [item for item in lines if item.section == PREFERENCES]
    facts = [item for item in lines if item.fact is not None and item not in wishes]
    doubts = [item for item in lines if item.status is FactStatus.DOUBTFUL]
    parts = [plural(len(wishes), "instruction")] if wishes else []
    parts += [plural(len(facts), "fact")] if facts else []
    parts += [f"{len(doubts)} in doubt"] if doubts else []
    return f"Bethink: {', '.join(parts)}." if parts else ""


def _answer(event: str, block: str, *, message: str) -> str:
    answer: dict[str, object] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": block}}
    return json.dumps(answer | ({"systemMessage": message} if message else {}))
