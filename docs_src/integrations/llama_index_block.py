"""LlamaIndex with memory: a block that adds relevant memories to each prompt and stores the conversation."""

import asyncio
from collections.abc import Sequence

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import InsertMethod, Memory

import bethink
from bethink.integrations.llama_index import BethinkMemoryBlock


def answer(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:  # use your model here
    print(messages[-1].content)
    return ChatMessage(role="assistant", content="Noted.")


async def main() -> None:
    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=answer), streaming=False)
    async with bethink.connect("agents.db") as memory:
        block = BethinkMemoryBlock(space=memory.space("mira"))
        for day, text in (("monday", "I am allergic to peanuts."), ("tuesday", "What am I allergic to?")):
            chat = Memory.from_defaults(
                session_id=day, memory_blocks=[block], insert_method=InsertMethod.USER, tokenizer_fn=str.split
            )
            await agent.run(user_msg=text, memory=chat)
            await block.aput(await chat.aget_all(), session_id=day)  # stores the last answer, too


asyncio.run(main())
