"""An agent of the OpenAI Agents SDK that knows on Tuesday what it was told on Monday."""

import asyncio

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message

import bethink
from bethink.integrations.openai_agents import BethinkSession


async def main() -> None:
    model = ScriptedModel([[assistant_message("Noted.")], [assistant_message("Peanuts.")]])  # yours is a real one
    agent = Agent(name="assistant", model=model)
    async with bethink.connect("agents.db") as memory:
        mira = memory.space("mira")
        for day, text in (("monday", "I am allergic to peanuts."), ("tuesday", "What am I allergic to?")):
            session = BethinkSession(day, mira)
            config = RunConfig(session_input_callback=session.recall_first, tracing_disabled=True)
            await Runner.run(agent, text, session=session, run_config=config)
            print(day, await session.get_items())
    print("what the model was shown:", model.calls[-1].input[0]["content"])


asyncio.run(main())
