"""Ask, and get an answer that memory proves."""

import anyio

import bethink
from bethink import ModelCall


def writes(call: ModelCall) -> str:
    """Stand in for a model: repeat the line on the job, with its label. Pass model="openai:NAME" for a real one."""
    lines = [line.removeprefix("- ") for line in call.prompt.splitlines() if line.startswith("- ")]
    job = next((line for line in lines if "opera" in line), None)
    if job is None or "job" not in call.prompt.rpartition("Question:")[2]:
        return "UNKNOWN"
    label = job[job.rindex("[^") :]
    return f"Your sister went to Oslo for a job at the opera. {label} She earns 9,000 a month. {label}"


async def main() -> None:
    async with bethink.connect(":memory:", model=bethink.ScriptedModel(writes), learn=False) as memory:
        alice = memory.space("alice")
        await alice.remember("My sister went to Oslo for a job at the opera.")

        answer = await alice.ask("Which job has my sister?")
        print(answer.text)
        print("cites", [item.text for item in answer.cited], "and drops", *answer.dropped)

        with bethink.streaming(lambda sentence: print("heard:", sentence.text)):
            await alice.ask("Which job has my sister?")

        print("refused:", (await alice.ask("Where was my sister born?")).refused)
        without = await alice.ask("Which job has my sister?", without=[answer.cited[0].ref])
        print("without it:", without.refused)


anyio.run(main)
