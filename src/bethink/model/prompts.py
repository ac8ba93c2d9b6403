"""Prompts built from working memory."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from bethink.base.frozen import frozen
from bethink.model.text import canonical_json


class Reason(StrEnum):
    """Reason for including or omitting a chunk."""

    PINNED = "pinned"
    NEWEST = "newest"
    OVER_BUDGET = "over budget"
    EMPTY = "empty"


@frozen
class PromptChunk:
    """A chunk of working memory, and whether a prompt includes it."""

    chunk_id: str
    included: bool
    reason: Reason
    tokens: int


@frozen
class Prompt:
    """Messages for a model, and a report on every chunk.

    The messages before `prefix_length` change only with pinned or summarized chunks, so a prompt cache stays valid.
    """

    messages: tuple[Mapping[str, str], ...]
    prefix_length: int
    tokens: int
    report: tuple[PromptChunk, ...]

    @property
    def prefix_hash(self) -> str:
        """Digest of the stable part."""
        return hashlib.sha256(canonical_json(self.messages[: self.prefix_length]).encode()).hexdigest()

    def to_openai(self) -> list[dict[str, str]]:
        """Return the messages in the format of OpenAI's chat API."""
        return [dict(message) for message in self.messages]

    def to_anthropic(self) -> dict[str, Any]:
        """Return a system prompt and messages with alternating roles, in the format of Anthropic's API."""
        system = [message["content"] for message in self.messages if message["role"] == "system"]
        turns: list[dict[str, str]] = []
        for message in self.messages:
            if message["role"] == "system":
                continue
            if turns and turns[-1]["role"] == message["role"]:
                turns[-1]["content"] += f"\n\n{message['content']}"
            else:
                turns.append(dict(message))
        return {"system": "\n\n".join(system), "messages": turns}
