"""The OpenAI Agents SDK with memory: what was said on Monday is in Tuesday's prompt."""

import asyncio

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message

import bethink
from bethink.integrations.openai_agents import BethinkSession

model = ScriptedModel([[assistant_message("Noted.")], [assistant_message("Peanuts.")]])  # use your model here


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        for day, text in (("monday", "I am allergic to peanuts."), ("tuesday", "What am I allergic to?")):
            session = BethinkSession(day, memory.space("mira"))
            config = RunConfig(session_input_callback=session.recall_first, tracing_disabled=True)
            await Runner.run(Agent(name="assistant", model=model), text, session=session, run_config=config)
    print(model.calls[-1].input[-2]["content"])


asyncio.run(main())
