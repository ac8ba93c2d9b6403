"""A chatbot that remembers. It needs OPENAI_API_KEY, so a test runs it with a model on this machine."""

from typing import Any

from openai import OpenAI

import bethink.sync

llm = OpenAI()
with bethink.sync.connect("memory.db", model="openai:gpt-5-mini") as memory:
    session = memory.space("mira").session("chat")  # one space per user
    history: list[dict[str, object]] = []
    while text := input("You: "):
        history.append({"role": "user", "content": text})
        prompt: Any = session.context(text).to_openai() + history  # relevant memories, up to 2,000 tokens
        reply = llm.chat.completions.create(model="gpt-5-mini", messages=prompt).choices[0].message.content or ""
        history.append({"role": "assistant", "content": session.strip_citations(reply)})  # without citation labels
        session.append(history[-2:])  # durable when it returns
        print(history[-1]["content"])
    session.end()  # queues the session for learning
