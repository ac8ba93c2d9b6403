"""A chat agent that remembers: two runs of the same program, and the second knows what was said in the first.

Run it with `python -m examples.chat_agent`. It needs no key: scripts stand in for the two models, marked below.
"""

import json
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

import bethink
import bethink.extend
import bethink.testing
import bethink.types

USER = "ida"
KINDS = (bethink.types.RefKind.FACT, bethink.types.RefKind.SESSION_SUMMARY, bethink.types.RefKind.DOCUMENT)
Tool = Callable[[str], Awaitable[str]]


async def run(file: Path, said: list[str]) -> None:
    """Run the program once: this is all that an agent does with its memory."""
    async with bethink.connect(
        file, model=bethink.testing.ScriptedModel(learnt_from), learn_in_background=False
    ) as memory:
        session = await memory.space(USER).session("terminal")

        # Once, when a session starts: what is known begins the prompt, and stays the same so that caches hold.
        block = await session.context()
        print(f"  (begins with {len(block.items)} things it knows, {block.tokens} tokens)")
        prompt = block.to_openai()

        async def recall(question: str) -> str:
            # For the rest: a tool that the model may call. Each line ends in the label it can be cited by.
            # Without messages: what was said in this session stands in the prompt already.
            found = await session.recall(question, budget=300, limit=3, kinds=KINDS)
            return "\n".join(f"{item.text} [^{item.label}]" for item in found.items) or f"({found.note})"

        for text in said:
            print(f"  ida:   {text}")
            await session.append(text)
            prompt.append({"role": "user", "content": text})
            answer = await think(prompt, recall)
            prompt.append({"role": "assistant", "content": answer})
            # Counts what the answer rests on, and takes the labels out: people need not read them.
            plain = await session.strip_citations(answer)
            await session.append([{"role": "assistant", "content": plain}])
            print(f"  agent: {plain}")

        await session.end()
        await memory.learn()  # or run a worker beside it: bethink worker


async def show(file: Path) -> None:
    """Print what is known now, where each line comes from, and how often it was of use."""
    async with bethink.connect(file, learn_in_background=False) as memory:
        ida = memory.space(USER)
        for fact in sorted(await ida.facts.list(), key=lambda fact: fact.text):
            lineage = await ida.explain(f"fact:{fact.id}:{fact.version}")
            used = lineage.usage.times if lineage.usage else 0
            quotes = " / ".join(quote.text for quote in lineage.quotes)
            print(f"  {fact.text} ({fact.kind}, {fact.evidence}, used {used} times)")
            print(f"    because {fact.origin} said: {quotes}")


# In place of the agent's own model: any chat API takes `prompt`, and `recall` as its tool.


async def think(prompt: list[dict[str, object]], recall: Tool) -> str:
    """Answer the last message: questions by looking them up, wishes by what the prompt begins with."""
    question = str(prompt[-1]["content"])
    if "?" not in question:
        return "Noted."
    if "book" in question:
        wishes = [line for line in str(prompt[0]["content"]).splitlines() if "aisle" in line]
        return f"As you like it: {_cited(wishes[0])}" if wishes else "Where do you like to sit?"
    lines = (await recall(question)).splitlines()
    return f"You told me: {lines[0]}" if "[^" in lines[0] else "I do not know that."


def _cited(line: str) -> str:
    text, _, label = line.removeprefix("- ").rpartition(" [^")
    return f"{text.rpartition(' (')[0]} [^{label}"


# In place of the model that learns: with a key, leave it out and set model="openai:NAME".

CLAIMS: dict[str, dict[str, object]] = {
    "I live in Bergen": {"statement": "User lives in Bergen", "kind": "detail", "slot": "home_town"},
    "I prefer an aisle seat": {"statement": "User prefers an aisle seat", "kind": "preference", "slot": "seat"},
}


def learnt_from(call: bethink.extend.ModelCall) -> str:
    """Say what a model would make of a session: claims with exact quotes, and then whether the messages say so."""
    if call.schema_name == "document_calls":
        return '{"calls": [], "done": true}'
    quoted = [quote for quote in CLAIMS if quote in call.prompt]
    if call.schema_name == "verdicts":
        names = [f"c{place}" for place in range(1, len(quoted) + 1)]
        return json.dumps({"said": names, "others": [], "fixed": []})
    numbers = {quote: place * 2 + 1 for quote in quoted for place, said in enumerate(FIRST_RUN) if quote in said}
    claims = [
        CLAIMS[quote] | {"about": "owner", "quotes": [{"message": numbers[quote], "text": quote, "as": "word"}]}
        for quote in quoted
        if quote in numbers
    ]
    return json.dumps({"claims": claims, "title": "First chat" if claims else None})


FIRST_RUN = ["I live in Bergen, near the harbour.", "When I fly, I prefer an aisle seat.", "What is my blood type?"]
SECOND_RUN = ["Where do I live?", "Can you book a flight to Oslo?"]


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        print("Monday")
        await run(file, FIRST_RUN)
        print("Tuesday, another process")
        await run(file, SECOND_RUN)
        print("What it knows, and why")
        await show(file)


if __name__ == "__main__":
    anyio.run(main)
