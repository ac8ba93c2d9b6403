"""The quickstart, second part: a chat program that knows what was said in earlier runs."""

import sys

import bethink.sync


def think(prompt: list[dict[str, object]]) -> str:  # stands in for your model, so that you need no key
    lines = str(prompt[0]["content"]).splitlines()
    return next((line for line in lines if line.startswith("- ")), "I do not know that yet.")


with bethink.sync.connect("lesson.db") as memory:
    session = memory.space("ida").session("terminal")
    history: list[dict[str, object]] = []
    print("Talk to me. An empty line ends the chat.", flush=True)
    for line in map(str.strip, sys.stdin):
        if not line:
            break
        history.append({"role": "user", "content": line})
        prompt = session.context(line).to_openai() + history
        history.append({"role": "assistant", "content": session.strip_citations(think(prompt))})
        session.append(history[-2:])
        print(history[-1]["content"], flush=True)
    session.end()
