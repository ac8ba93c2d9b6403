"""Observers of threads. An observer that fails does not affect the thread."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from bethink.base.frozen import frozen
from bethink.base.logs import logger

_log = logger("working")


class Occasion(StrEnum):
    """The kinds of events in the life of a thread."""

    EVENT_QUEUED = "event_queued"
    EVENT_DISPATCH = "event_dispatch"
    EVENT_DEQUEUED = "event_dequeued"
    REDUCER_EXECUTE = "reducer_execute"
    STATE_CHANGE = "state_change"
    COMPACTION_START = "compaction_start"
    COMPACTION_END = "compaction_end"
    ERROR = "error"


@frozen
class Notice:
    """One event in the life of a thread, sent after its effect is stored."""

    occasion: Occasion
    thread_id: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


Watch = Callable[[Notice], None]


class Observers:
    """Calls all observers. If one raises, the error is logged and the others are still called."""

    def __init__(self) -> None:
        self._observers: list[Watch] = []

    def add(self, watch: Watch) -> Callable[[], None]:
        """Add an observer. Call the returned function to remove it."""
        self._observers.append(watch)

        def stop() -> None:
            if watch in self._observers:
                self._observers.remove(watch)

        return stop

    def notify(self, occasion: Occasion, thread_id: str, **details: object) -> None:
        """Call every observer."""
        notice = Notice(occasion=occasion, thread_id=thread_id, details=details)
        for watch in list(self._observers):
            try:
                watch(notice)
            except Exception as error:  # noqa: BLE001 - an observer must not break the thread
                _log.error("An observer failed at %s: %s", occasion, type(error).__name__)
