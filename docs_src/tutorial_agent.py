"""The first lesson, second half: a chat agent with memory. Talk to it, stop it, start it again."""

import sys

import bethink
import bethink.sync


def think(prompt: list[dict[str, object]]) -> str:
    """Stand in for your model: it takes the same list of messages."""
    known = [line for line in str(prompt[0]["content"]).splitlines() if line.startswith("- ")]
    return f"Things I knew when we began: {len(known)}."


with bethink.sync.connect("lesson.db") as memory:
    chat = bethink.ConversationKey(channel="terminal", chat="ida")
    session = memory.open_session(user_id="ida", conversation=chat)
    block = memory.context(user_id="ida", session=session)
    prompt = block.to_openai()

    print("Talk to me; an empty line ends it.", flush=True)
    for line in iter(sys.stdin.readline, ""):
        if not line.strip():
            break
        memory.append(session, [{"role": "user", "content": line.strip()}])
        prompt.append({"role": "user", "content": line.strip()})
        answer = think(prompt)
        memory.append(session, [{"role": "assistant", "content": answer}])
        prompt.append({"role": "assistant", "content": answer})
        print(answer, flush=True)

    memory.end_session(session)
    memory.learn()
