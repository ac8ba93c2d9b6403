"""The thresholds that keep a thread short: suggest, compact, truncate. And a summary without a model."""

from collections.abc import Sequence
from typing import Protocol

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.memory.working.reducers import to_truncate
from bethink.model.thread_results import TokenUsage
from bethink.model.working import Chunk, ChunkType, State, SubType, Thread, texts_of


@frozen
class Thresholds:
    """The numbers of tokens at which a thread is suggested for compaction (`soft`), compacted (`hard`) or truncated."""

    soft: int = 50_000
    hard: int = 80_000
    truncation: int = 100_000

    def __post_init__(self) -> None:
        if not 0 < self.soft <= self.hard <= self.truncation:
            raise ConfigurationError(
                "The thresholds are not in ascending order.", hint="Use 0 < soft <= hard <= truncation."
            )


@frozen
class CompactionRequest:
    """The input of a compactor: the chunks, the goal of the agent, and earlier summaries."""

    thread_id: str
    chunks: tuple[Chunk, ...]
    goal: str
    earlier: tuple[str, ...]


class Compactor(Protocol):
    """Turns chunks into one summary. It may ask a model, because it is never called inside a transaction."""

    async def compact(self, request: CompactionRequest) -> str:
        """Return the summary that replaces the chunks."""
        ...


def compressible(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks that a compaction may replace, in order."""
    return [chunk for chunk in chunks if chunk.compressible]


def to_compact(chunks: Sequence[Chunk], retain_recent: int) -> list[Chunk]:
    """Return the chunks to compact: the compressible ones except the newest, and always at least half of them.

    A single summary is never compacted again: that would shorten nothing, and repeat forever.
    """
    candidates = compressible(chunks)
    retained_count = min(retain_recent, len(candidates) // 2)
    chosen = candidates[: len(candidates) - retained_count]
    return [] if [chunk.subtype for chunk in chosen] == [SubType.COMPACTED] else chosen


def pending(thread_tokens: int, thresholds: Thresholds, *, auto_compact: bool) -> tuple[bool, bool]:
    """Return whether a compaction and a truncation are due at a number of tokens."""
    return auto_compact and thread_tokens >= thresholds.hard, thread_tokens >= thresholds.truncation


def usage(thread: Thread, state: State, thresholds: Thresholds) -> TokenUsage:
    """Compare the length of a state with the thresholds."""
    total = thread.total_tokens
    full = total >= thresholds.truncation
    truncate = to_truncate(state.chunks, total - thresholds.hard) if full else []
    return TokenUsage(
        total_tokens=total,
        compressible_tokens=thread.compressible_tokens,
        suggest_compaction=total >= thresholds.soft,
        force_compaction=total >= thresholds.hard,
        needs_truncation=full,
        chunks_to_compact=tuple(compressible(state.chunks)),
        chunks_to_truncate=tuple(chunk.id for chunk in truncate),
    )


def request_for(thread_id: str, chunks: Sequence[Chunk], chosen: Sequence[Chunk]) -> CompactionRequest:
    """Build the input of a compactor."""
    summaries = [chunk.text for chunk in chunks if chunk.subtype is SubType.COMPACTED]
    return CompactionRequest(thread_id=thread_id, chunks=tuple(chosen), goal=goal_of(chunks), earlier=tuple(summaries))


def goal_of(chunks: Sequence[Chunk]) -> str:
    """Return the task of the agent from its system or delegation chunks, or an empty string."""
    for chunk in chunks:
        if chunk.type in (ChunkType.SYSTEM, ChunkType.DELEGATION):
            for name in ("task", "goal"):
                if isinstance(text := chunk.content.get(name), str):
                    return text
            text = "\n".join(texts_of([chunk.content]))
            if chunk.type is ChunkType.DELEGATION and text:
                return text
    return ""


class ExtractiveCompactor:
    """Summarizes without a model: the goal, and the beginning of every chunk, earlier summaries included."""

    def __init__(self, *, characters: int = 6000, line: int = 160) -> None:
        self._characters = characters
        self._line = line

    async def compact(self, request: CompactionRequest) -> str:
        """Return lines quoted from the chunks, the newest ones if not all fit."""
        lines: list[str] = []
        remaining = self._characters
        for chunk in reversed(request.chunks):
            first = " ".join(chunk.text.split())
            if not first:
                continue
            quoted = first if len(first) <= self._line else f"{first[: self._line - 1]}…"
            line = f"- {(chunk.subtype or chunk.type).lower()}: {quoted}"
            if len(line) > remaining:
                break
            remaining -= len(line)
            lines.append(line)
        head = [f"Task: {request.goal}"] if request.goal else []
        return "\n".join([*head, "Earlier events:", *reversed(lines)])
