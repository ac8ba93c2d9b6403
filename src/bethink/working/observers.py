"""Those who watch a thread being worked on; none of them can break it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bethink.logs import logger

_log = logger("working")


class Occasion(StrEnum):
    """What there is to see."""

    EVENT_QUEUED = "event_queued"
    EVENT_DISPATCH = "event_dispatch"
    EVENT_DEQUEUED = "event_dequeued"
    REDUCER_EXECUTE = "reducer_execute"
    STATE_CHANGE = "state_change"
    COMPACTION_START = "compaction_start"
    COMPACTION_END = "compaction_end"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that happened to a thread. It is sent after what it tells of is stored."""

    occasion: Occasion
    thread_id: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


Watch = Callable[[Notice], None]


class Observers:
    """Calls everybody who watches. What one raises is logged, and the others are called all the same."""

    def __init__(self) -> None:
        self._watching: list[Watch] = []

    def add(self, watch: Watch) -> Callable[[], None]:
        """Let somebody watch; call what is returned to stop."""
        self._watching.append(watch)

        def stop() -> None:
            if watch in self._watching:
                self._watching.remove(watch)

        return stop

    def tell(self, occasion: Occasion, thread_id: str, **details: object) -> None:
        """Tell everybody."""
        notice = Notice(occasion=occasion, thread_id=thread_id, details=details)
        for watch in list(self._watching):
            try:
                watch(notice)
            except Exception as error:  # noqa: BLE001 - watching must not break what is watched
                _log.error("an observer failed at %s: %s", occasion, type(error).__name__)
