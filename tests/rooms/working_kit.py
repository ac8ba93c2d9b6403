"""Helpers for working memory tests: a word counter, a scripted compactor, and a few events."""

from bethink.memory.working.ladder import CompactionRequest, Thresholds
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.process import Engine
from bethink.model.working import Event, EventType

THREAD = "thread_1"


class Words:
    """A counter that counts words, so that tests can count on their fingers."""

    def count(self, text: str) -> int:
        return len(text.split())


class Scripted:
    """A compactor that says what it was asked."""

    def __init__(self) -> None:
        self.requests: list[CompactionRequest] = []

    async def compact(self, request: CompactionRequest) -> str:
        self.requests.append(request)
        return f"summary {len(self.requests)}"


def user(text: str) -> Event:
    return Event(type=EventType.USER_MESSAGE, payload={"text": text})


def answer(text: str) -> Event:
    return Event(type=EventType.LLM_TEXT_RESPONSE, payload={"text": text})


def engine(**changes: object) -> Engine:
    fields = {"tokens": Words(), "thresholds": Thresholds(soft=50, hard=80, truncation=100)} | changes
    return Engine(**fields)  # pyright: ignore[reportArgumentType]


async def texts(desk: WorkingMemory, thread: str = THREAD) -> list[str]:
    return [chunk.text for chunk in (await desk.current_state(thread)).chunks]


def long(words: int) -> str:
    return " ".join(["word"] * words)
