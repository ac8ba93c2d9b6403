"""The first lesson, second half: a chat agent with memory. Talk to it, stop it, start it again."""

import sys

import bethink.sync


def think(prompt: list[dict[str, object]]) -> str:
    """Stand in for your model: it takes the same list of messages."""
    known = [line for line in str(prompt[0]["content"]).splitlines() if line.startswith("- ")]
    return f"Things I knew when we began: {len(known)}."


with bethink.sync.connect("lesson.db") as memory:
    session = memory.space("ida").session("terminal")
    prompt = session.context().to_openai()

    print("Talk to me; an empty line ends it.", flush=True)
    for line in iter(sys.stdin.readline, ""):
        if not line.strip():
            break
        session.append(line.strip())
        prompt.append({"role": "user", "content": line.strip()})
        answer = think(prompt)
        session.append([{"role": "assistant", "content": answer}])
        prompt.append({"role": "assistant", "content": answer})
        print(answer, flush=True)

    session.end()
    memory.learn()
