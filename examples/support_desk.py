"""A support desk with 200 sessions behind it, answering within 2,000 tokens: what it used, what it left out, and why.

Run it with `python -m examples.support_desk`. It needs no key: a script answers in the place of the model that learns.
"""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import anyio

import bethink
import bethink.extend
import bethink.testing
from bethink.api.connect import memory_from
from bethink.model.working import Event, EventType, Mode
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

CUSTOMER = "northwind"  # one space for each customer: no answer can ever hold another's words
BUDGET = 2_000
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
QUESTION = "What is the delivery address, and which pump is broken?"


class Calendar:
    """A clock that the story puts forward; without it, everything would have been learned just now."""

    time = START

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


# Two hundred sessions, one a day: small talk of pumps, and four days that matter.

THINGS = ["pump", "valve", "gauge", "filter", "hose"]
TROUBLES = ["drips at the seal", "hums at night", "shows an error", "came without a manual", "needs a spare part"]
STORY = (
    "It began after the last delivery. We turned it off; the one beside it carries the load, and hall staff watch it."
)
SPECIAL = {
    12: ("Our delivery address is 5 Quay Street.", "Delivery address is 5 Quay Street", "detail", "address"),
    60: ("Please answer in short sentences.", "Answer in short sentences", "instruction", None),
    150: ("We moved: the delivery address is 9 Mill Lane.", "Delivery address is 9 Mill Lane", "detail", "address"),
    195: ("The pump in hall 3 is broken.", "The pump in hall 3 is broken", "event", None),
}


def said_on(day: int) -> str:
    if day in SPECIAL:
        return SPECIAL[day][0]
    return f"Ticket {day}: the {THINGS[day % 5]} in hall {day % 7} {TROUBLES[day % 3]}. {STORY}"


def answered_on(day: int) -> str:
    return f"Thank you. We sent instructions for the {THINGS[day % 5]} with letter {day}."


def learnt_from(call: bethink.extend.ModelCall) -> str:
    """Say what a model would make of a session: nothing of small talk, one fact of the four days that matter."""
    if call.schema_name == "document_calls":
        return '{"calls": [], "done": true}'
    if call.schema_name == "verdicts":
        return '{"said": ["c1"], "others": [], "fixed": []}'  # each of the four says what is claimed
    found = [special for special in SPECIAL.values() if special[0] in call.prompt]
    claims = [
        {
            "quotes": [{"message": 1, "text": said, "as": "word"}],
            "statement": statement,
            "about": "northwind",
            "kind": kind,
            "slot": slot,
        }
        for said, statement, kind, slot in found
    ]
    return json.dumps({"claims": claims})


async def live_through(memory: bethink.Memory, clock: Calendar) -> int:
    """Have the sessions, each on its day, and learn once a week; return how many tokens were said."""
    count = EstimatedTokens().count
    total = 0
    for day in range(1, 201):
        clock.time = START + timedelta(days=day)
        session = await memory.space(CUSTOMER).session(f"ticket-{day}")
        said, answer = said_on(day), answered_on(day)
        await session.append([{"role": "user", "content": said}, {"role": "assistant", "content": answer}])
        await session.end()
        total += count(said) + count(answer)
        if day % 5 == 0:
            await memory.learn()
    return total


# What the desk asks.


async def ask(memory: bethink.Memory, *, as_of: str | None = None) -> None:
    """Answer a question within the budget, and say what became of everything that was considered."""
    found = await memory.space(CUSTOMER).recall(QUESTION, limit=100, budget=BUDGET, as_of=as_of, explain=True)
    print(f"\n{QUESTION} ({as_of or 'today'})")
    print(f"  {len(found.items)} lines in {found.tokens} of {BUDGET} tokens; the first four:")
    for item in found.items[:4]:
        print(f"  {item.score:.2f} {item.ref.kind} of {item.said_at.date()}: {item.text[:70]}")
    for fate, count in sorted(Counter(str(candidate.fate) for candidate in found.candidates).items()):
        example = next(candidate.text for candidate in found.candidates if candidate.fate == fate)
        print(f"  {count:3} {fate:13} such as {example[:50]!r}")


async def begin(memory: bethink.Memory) -> None:
    """Make the block that a new session begins with."""
    customer = memory.space(CUSTOMER)
    block = await customer.context(QUESTION, budget=BUDGET)
    again = await customer.context(QUESTION, budget=BUDGET)
    print(
        f"\nA new session begins with {block.tokens} tokens; made again: {again.digest == block.digest and 'the same'}"
    )


async def step_through(memory: bethink.Memory) -> None:
    """Hold one session in working memory and step through it: which chunks are in the prompt, and which not."""
    threads = memory.space(CUSTOMER).threads
    thread = await threads.open("ticket-201", mode=Mode.STEPPING)
    for event in (
        Event(type=EventType.USER_MESSAGE, payload={"text": "The pump in hall 3 stands still again."}),
        Event(type=EventType.TOOL_RESULT, payload={"text": "log of the pump: " + "pressure 3.1 bar, " * 20}),
        Event(type=EventType.LLM_TEXT_RESPONSE, payload={"text": "The pressure is fine: it is the motor."}),
        Event(type=EventType.USER_MESSAGE, payload={"text": "Then send the motor, please."}),
    ):
        await threads.dispatch(thread.id, event)
    print("\nTicket 201, step by step, in a prompt of 120 tokens:")
    while await threads.queue(thread.id):
        await threads.step(thread.id)
        state = await threads.state(thread.id)
        prompt = await threads.prompt(thread.id, budget=120)
        chunks = " ".join(f"[{shown.tokens} {shown.reason}]" for shown in prompt.report)
        print(f"  state {state.info.number}: {state.info.event_type:18} {chunks}")
    diff = await threads.diff(thread.id, 1, 3)
    print(f"  from state 1 to 3: {len(diff.added)} chunks added, {len(diff.removed)} removed")


async def main() -> None:
    clock = Calendar()
    database = SqliteDatabase(SqliteOptions(path=":memory:"), clock=clock)
    settings = bethink.Settings.load(environ={}, learn_in_background=False)
    async with memory_from(settings, database=database, model=bethink.testing.ScriptedModel(learnt_from)) as memory:
        said = await live_through(memory, clock)
        facts = await memory.space(CUSTOMER).facts.count()
        print(f"200 sessions, {said} tokens said, {facts} facts held to be true")
        await ask(memory)
        await ask(memory, as_of="2026-05-21")  # the day of session 140, when the address was still the old one
        await begin(memory)
        await step_through(memory)


if __name__ == "__main__":
    anyio.run(main)
