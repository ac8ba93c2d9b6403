"""Google's Agent Development Kit with memory: its tools search the space of the user."""

import asyncio
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import preload_memory
from google.genai.types import Content, Part

import bethink
from bethink.integrations.google_adk import BethinkMemoryService


class Scripted(BaseLlm):  # use your model here
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        for part in llm_request.contents[0].parts or []:
            print(part.text)
        yield LlmResponse(content=Content(role="model", parts=[Part(text="Noted.")]))


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        service, sessions = BethinkMemoryService(memory), InMemorySessionService()
        agent = LlmAgent(name="desk", model=Scripted(model="scripted"), tools=[preload_memory])
        runner = Runner(app_name="desk", agent=agent, session_service=sessions, memory_service=service)
        for day, text in (("monday", "I am allergic to peanuts."), ("tuesday", "What am I allergic to?")):
            await runner.run_debug(text, user_id="mira", session_id=day, quiet=True)
            session = await sessions.get_session(app_name="desk", user_id="mira", session_id=day)
            if session:
                await service.add_session_to_memory(session)


asyncio.run(main())
