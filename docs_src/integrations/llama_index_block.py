"""A LlamaIndex agent that knows on Tuesday what it was told on Monday."""

import asyncio
from collections.abc import Sequence

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import InsertMethod, Memory

import bethink
from bethink.integrations.llama_index import BethinkMemoryBlock


def scripted(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:  # yours is a real model
    print("what the model was shown:", messages[-1].content)
    return ChatMessage(role="assistant", content="Noted.")


async def main() -> None:
    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=scripted), streaming=False)
    async with bethink.connect("agents.db") as memory:
        block = BethinkMemoryBlock(space=memory.space("mira"))
        for day, text in (("monday", "I am allergic to peanuts."), ("tuesday", "What am I allergic to?")):
            chat = Memory.from_defaults(
                session_id=day, memory_blocks=[block], insert_method=InsertMethod.USER, tokenizer_fn=str.split
            )
            await agent.run(text, memory=chat)
            await block.aput(await chat.aget_all(), session_id=day)  # the last answer, too


asyncio.run(main())
