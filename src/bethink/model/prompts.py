"""Prompts built from working memory."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from bethink.base.frozen import frozen
from bethink.model.text import canonical_json


class Reason(StrEnum):
    """Why a chunk is in a prompt, or is not."""

    PINNED = "pinned"
    NEWEST = "newest"
    OVER_BUDGET = "over budget"
    EMPTY = "empty"


@frozen
class Shown:
    """How one chunk appears in a prompt."""

    chunk_id: str
    included: bool
    reason: Reason
    tokens: int


@frozen
class Prompt:
    """Messages for a model, and a report on every chunk.

    The messages before `prefix_length` change only when pinned or summarised chunks do, so a model's cache stays valid.
    """

    messages: tuple[Mapping[str, str], ...]
    prefix_length: int
    tokens: int
    report: tuple[Shown, ...]

    @property
    def prefix_hash(self) -> str:
        """A digest of the part that stays the same."""
        return hashlib.sha256(canonical_json(self.messages[: self.prefix_length]).encode()).hexdigest()

    def to_openai(self) -> list[dict[str, str]]:
        """Return the messages in the format of OpenAI's chat API."""
        return [dict(message) for message in self.messages]

    def to_anthropic(self) -> dict[str, Any]:
        """Return a system text and messages with alternating roles, in the format of Anthropic's API."""
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
