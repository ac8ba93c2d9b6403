"""Build the messages that show working memory to an agent, within a budget, with a reason for every chunk."""

from collections.abc import Sequence

from bethink.extend import Tokens
from bethink.model.prompts import Prompt, PromptChunk, Reason
from bethink.model.working import Chunk, ChunkType, Retention, SubType

SUMMARY_HEADING = "[Conversation Summary]\n"

_SYSTEM = frozenset({ChunkType.SYSTEM, ChunkType.AGENT, ChunkType.WORKFLOW})
_SPOKEN = frozenset({SubType.RESPONSE, SubType.THINKING, SubType.AGENT_ACTION})
_OVERHEAD = 4
"""Tokens that a message costs in addition to its text."""


def build(chunks: Sequence[Chunk], *, budget: int, tokens: Tokens) -> Prompt:
    """Return the chunks that fit, in order: all pinned ones, then the newest of the others.

    Pinned chunks are included even if they alone exceed the budget: they must never be left out.
    """
    report: dict[str, PromptChunk] = {}
    remaining = budget
    for chunk in chunks:
        if _is_pinned(chunk):
            cost = _cost(chunk, tokens)
            remaining -= cost
            report[chunk.id] = PromptChunk(chunk_id=chunk.id, included=True, reason=Reason.PINNED, tokens=cost)
    full = False
    for chunk in reversed(chunks):
        if chunk.id in report:
            continue
        cost = _cost(chunk, tokens)
        full = full or (bool(chunk.text) and cost > remaining)
        included = bool(chunk.text) and not full
        remaining -= cost if included else 0
        reason = Reason.EMPTY if not chunk.text else Reason.NEWEST if included else Reason.OVER_BUDGET
        report[chunk.id] = PromptChunk(chunk_id=chunk.id, included=included, reason=reason, tokens=cost)
    visible = [chunk for chunk in chunks if report[chunk.id].included and chunk.text]
    prefix = [_message(chunk) for chunk in visible if _role(chunk) == "system"]
    others = [_message(chunk) for chunk in visible if _role(chunk) != "system"]
    return Prompt(
        messages=(*prefix, *others),
        prefix_length=len(prefix),
        tokens=sum(report[chunk.id].tokens for chunk in visible),
        report=tuple(report[chunk.id] for chunk in chunks),
    )


def _is_pinned(chunk: Chunk) -> bool:
    return chunk.retention is Retention.CRITICAL or chunk.type in _SYSTEM or chunk.subtype is SubType.COMPACTED


def _cost(chunk: Chunk, tokens: Tokens) -> int:
    return tokens.count(_message(chunk)["content"]) + _OVERHEAD if chunk.text else 0


def _role(chunk: Chunk) -> str:
    if chunk.type in _SYSTEM or chunk.subtype is SubType.COMPACTED:
        return "system"
    return "assistant" if chunk.subtype in _SPOKEN or chunk.type is ChunkType.OUTPUT else "user"


def _message(chunk: Chunk) -> dict[str, str]:
    text = f"{SUMMARY_HEADING}{chunk.text}" if chunk.subtype is SubType.COMPACTED else chunk.text
    return {"role": _role(chunk), "content": text}
