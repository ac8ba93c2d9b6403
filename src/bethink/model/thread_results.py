"""What the verbs of threads return."""

from dataclasses import dataclass

from bethink.model.working import Chunk, EventType, Operation, QueuedEvent, Strategy, Thread

_TERMINATING = {EventType.TASK_COMPLETED, EventType.TASK_ABANDONED, EventType.TASK_TERMINATED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed:
    """What one event did: the thread after it, what was put on the shelf and what was taken away."""

    thread: Thread
    event: QueuedEvent
    operations: tuple[Operation, ...]
    added: tuple[Chunk, ...]
    removed: tuple[str, ...]

    @property
    def terminates(self) -> bool:
        """Whether the events behind it should wait."""
        strategy = self.event.event.strategy
        if strategy is None:
            return self.event.event.type in _TERMINATING
        return strategy is Strategy.TERMINATE


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchResult:
    """What a dispatch left: the thread, and what the events it processed put on the shelf and took away."""

    thread: Thread
    processed: tuple[Processed, ...] = ()

    @property
    def added_chunks(self) -> tuple[Chunk, ...]:
        """Every chunk that was added."""
        return tuple(chunk for each in self.processed for chunk in each.added)

    @property
    def removed_chunk_ids(self) -> tuple[str, ...]:
        """Every chunk that was taken away."""
        return tuple(name for each in self.processed for name in each.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What one step did, and what is left to do."""

    dispatch_result: DispatchResult | None
    event_processed: bool
    compaction_performed: bool
    truncation_performed: bool
    has_pending_operations: bool
    queued_event_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDiff:
    """What lies between two states: what came, what went, and what only changed its place."""

    added: tuple[Chunk, ...]
    removed: tuple[Chunk, ...]
    moved: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """How long a state is, and what is to be done about it."""

    total_tokens: int
    compressible_tokens: int
    suggest_compaction: bool
    force_compaction: bool
    needs_truncation: bool
    chunks_to_compact: tuple[Chunk, ...]
    chunks_to_truncate: tuple[str, ...]
