"""The acts of one session, for checks that depend on what happened before."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bethink.features.guard.events import ANSWER, PROMPT, AgentEvent, read_event

MAX_EVENTS = 300
"""Older events of a session are dropped."""


class AgentSession:
    """The last events of a session, oldest first. A resident process keeps one per session and adds each hook input."""

    def __init__(self, hook_inputs: Iterable[Mapping[str, Any]] = ()) -> None:
        self.events: deque[AgentEvent] = deque(maxlen=MAX_EVENTS)
        for hook_input in hook_inputs:
            self.add(hook_input)

    def add(self, hook_input: Mapping[str, Any]) -> AgentEvent:
        """Record a hook input and return its event. Calls count once they have ended."""
        event = read_event(hook_input)
        if event.is_after or event.kind in (PROMPT, ANSWER):
            self.events.append(event)
        return event

    def since_prompt(self) -> Iterator[AgentEvent]:
        """Yield the events of the current turn, oldest first."""
        events = list(self.events)
        start = max((index for index, event in enumerate(events) if event.kind == PROMPT), default=-1)
        yield from events[start + 1 :]
