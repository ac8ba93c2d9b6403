"""An OpenAI-compatible API on loopback that answers the snippets of the documentation as a good model would."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.unit.model_server import sends, serving

_MESSAGE = re.compile(r"^\[(\d+)\] (?:\d\d:\d\d )?\w+: (.+)$", re.MULTILINE)
_CLAIM = re.compile(r"^(?:\W*)(c\d+)\b", re.MULTILINE)
_CLAIMS: dict[str, dict[str, Any]] = {
    "I moved to Bergen in May": {"statement": "User lives in Bergen", "slot": "home_town", "since": "2026-05"},
    "I have asthma": {"statement": "User has asthma.", "review": "doubtful"},
    "I was born in Bergen": {"statement": "User was born in Bergen."},
    "I am a pilot": {"statement": "User is a pilot."},
}


@contextmanager
def snippet_model() -> Generator[dict[str, str]]:
    """Serve the model, and yield the environment variables that lead `openai:NAME` to it."""

    def respond(handler: BaseHTTPRequestHandler) -> None:
        body = server.requests[-1].body
        sends(_completion(body, _reply(body)))(handler)

    with serving(respond) as server:
        yield {"BETHINK_MODEL_BASE_URL": f"{server.url}/v1", "BETHINK_MODEL_API_KEY": "k"}


def _completion(body: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a chat completion that counts four characters as a token."""
    sent = sum(len(message["content"]) for message in body["messages"])
    usage = {"prompt_tokens": sent // 4, "completion_tokens": len(text) // 4}
    usage["total_tokens"] = sum(usage.values())
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}


def _reply(body: dict[str, Any]) -> str:
    prompt = body["messages"][-1]["content"]
    schema = body.get("response_format", {}).get("json_schema", {}).get("name")
    if schema == "claims":
        return json.dumps({"claims": _claims(prompt), "suspicious": [], "title": None})
    if schema == "verdicts":
        return json.dumps({"said": list(dict.fromkeys(_CLAIM.findall(prompt))), "others": []})
    if schema == "document_calls":
        return json.dumps({"calls": [], "done": True})
    return _answer(prompt)


def _claims(prompt: str) -> list[dict[str, Any]]:
    return [
        {**claim, "about": "owner", "kind": "detail", "quotes": [{"message": int(number), "text": quote, "as": "word"}]}
        for number, text in _MESSAGE.findall(prompt)
        for quote, claim in _CLAIMS.items()
        if quote in text and not ("pilot" in quote and "Never learn jobs." in prompt)
    ]


def _answer(prompt: str) -> str:
    """Repeat the memory about the job, and invent a salary. Anything else is unknown."""
    source = next((line for line in prompt.splitlines() if line.startswith("- ") and "opera" in line), None)
    if source is None or "job" not in prompt.rpartition("Question:")[2]:
        return "UNKNOWN"
    label = source[source.rindex("[^") :]
    return f"Your sister went to Oslo for a job at the opera. {label} She earns 9,000 a month. {label}"
