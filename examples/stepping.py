"""A coding agent's session, stepped through: what every step did, and how full the context is.

Run it with `python -m examples.stepping`. It needs no model and writes nothing outside a temporary folder.
"""

import tempfile
from pathlib import Path

import anyio

import bethink
import bethink.types
from bethink.memory.working.ladder import Thresholds
from bethink.memory.working.process import Engine
from bethink.model.thread_results import StepResult
from bethink.model.working import Event, EventType, Mode

THRESHOLDS = Thresholds(soft=500, hard=800, truncation=1000)
WIDTH = 50

SESSION = [
    Event(type=EventType.PARENT_AGENT_MESSAGE, payload={"task": "make the tests pass", "text": "make the tests pass"}),
    Event(type=EventType.USER_MESSAGE, payload={"text": "The date parser fails on leap years. Please mend it."}),
    *(
        event
        for number in range(1, 9)
        for event in (
            Event(type=EventType.LLM_TOOL_CALL, payload={"text": f"read parser/part{number}.py"}),
            Event(type=EventType.TOOL_RESULT, payload={"text": f"part {number}: " + "def parse(day): ... " * 20}),
        )
    ),
    Event(type=EventType.TOOL_RESULT, payload={"text": "the whole log of the build: " + "line of output " * 120}),
    Event(type=EventType.LLM_TEXT_RESPONSE, payload={"text": "February was missing its 29th day. It is mended."}),
]


def bar(tokens: int) -> str:
    """Draw how full the context is, with a mark at each threshold."""
    scale = THRESHOLDS.truncation * 1.2
    cells = ["#" if cell < tokens / scale * WIDTH else "." for cell in range(WIDTH)]
    for threshold in (THRESHOLDS.soft, THRESHOLDS.hard, THRESHOLDS.truncation):
        cells[int(threshold / scale * WIDTH)] = "|"
    return "".join(cells)


def told(result: StepResult, event: str) -> str:
    """Say in a few words what a step did."""
    if result.event_processed:
        return f"event {event}"
    removed = len(result.dispatch_result.removed_chunk_ids) if result.dispatch_result else 0
    return f"{'truncation' if result.truncation_performed else 'compaction'} of {removed} chunks"


async def play(threads: bethink.types.Threads) -> None:
    await threads.open("session", mode=Mode.STEPPING)
    for event in SESSION:
        await threads.dispatch("session", event)
        waiting = True
        while waiting:
            result = await threads.step("session")
            thread = await threads.get("session")
            print(f"{thread.total_tokens:5} [{bar(thread.total_tokens)}] {told(result, event.type)}")
            waiting = result.has_pending_operations
    usage = await threads.tokens("session")
    replayed = await threads.replay("session")
    state = await threads.state("session")
    print(f"{len(await threads.states('session'))} states kept; {usage.total_tokens} tokens now")
    print(f"replayed without a model: {'the same' if tuple(replayed) == state.chunks else 'DIFFERENT'}")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(thresholds=THRESHOLDS)
        async with bethink.connect(Path(folder) / "memory.db", engine=engine) as memory:
            await play(memory.space("examples").threads)


if __name__ == "__main__":
    anyio.run(main)
