"""Results of the operations on threads."""

from bethink.base.frozen import frozen
from bethink.model.working import Chunk, EventType, QueuedEvent, StateOperation, Strategy, Thread

_TERMINATING = {EventType.TASK_COMPLETED, EventType.TASK_ABANDONED, EventType.TASK_TERMINATED}


@frozen
class Processed:
    """Result of one event: the thread after it, and the chunks that were added and removed."""

    thread: Thread
    event: QueuedEvent
    operations: tuple[StateOperation, ...]
    added: tuple[Chunk, ...]
    removed: tuple[str, ...]

    @property
    def terminates(self) -> bool:
        """Return whether the events queued after it should wait."""
        strategy = self.event.event.strategy
        if strategy is None:
            return self.event.event.type in _TERMINATING
        return strategy is Strategy.TERMINATE


@frozen
class DispatchResult:
    """The result of a dispatch: the thread, and the events that were processed."""

    thread: Thread
    processed: tuple[Processed, ...] = ()

    @property
    def added_chunks(self) -> tuple[Chunk, ...]:
        """All chunks that were added."""
        return tuple(chunk for event in self.processed for chunk in event.added)

    @property
    def removed_chunk_ids(self) -> tuple[str, ...]:
        """The ids of all chunks that were removed."""
        return tuple(name for event in self.processed for name in event.removed)


@frozen
class StepResult:
    """Result of one step, and the remaining work."""

    dispatch_result: DispatchResult | None
    event_processed: bool
    compaction_performed: bool
    truncation_performed: bool
    has_pending_operations: bool
    queued_event_count: int


@frozen
class StateDiff:
    """The difference between two states: chunks that were added, removed, or only moved."""

    added: tuple[Chunk, ...]
    removed: tuple[Chunk, ...]
    moved: tuple[str, ...]


@frozen
class TokenUsage:
    """The length of a state in tokens, and the recommended actions."""

    total_tokens: int
    compressible_tokens: int
    suggest_compaction: bool
    force_compaction: bool
    needs_truncation: bool
    chunks_to_compact: tuple[Chunk, ...]
    chunks_to_truncate: tuple[str, ...]
