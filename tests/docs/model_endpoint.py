"""An OpenAI-compatible API on loopback whose model repeats every sentence as a claim and confirms it."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from bethink.model.calls import ModelCall
from tests.rooms.learn_kit import willing
from tests.unit.model_server import OpenAIApi, Server, sends, serving

_NEW = re.compile(r"^\[(\d+)\] (?:\d\d:\d\d )?(\w+): (.+)$", re.MULTILINE)


@contextmanager
def model_endpoint() -> Generator[Server]:
    """Serve the model until the block ends."""

    def does(handler: BaseHTTPRequestHandler) -> None:
        sends(OpenAIApi().reply(_answer(server.requests[-1].body)))(handler)

    with serving(does) as server:
        yield server


def settings(server: Server) -> dict[str, str]:
    """The environment of somebody who has named this model."""
    return {"BETHINK_MODEL": "openai:tiny", "BETHINK_MODEL_BASE_URL": f"{server.url}/v1", "BETHINK_MODEL_API_KEY": "k"}


def _answer(body: dict[str, Any]) -> str:
    schema = body.get("response_format", {}).get("json_schema", {})
    call = ModelCall(system="", prompt=body["messages"][-1]["content"], schema_name=schema.get("name", "answer"))
    if call.schema_name != "claims":
        return willing(call)
    return json.dumps(
        {"claims": [_claim(*each) for each in _NEW.findall(call.prompt)], "suspicious": [], "title": None}
    )


def _claim(number: str, speaker: str, text: str) -> dict[str, Any]:
    quote = {"message": int(number), "text": text, "as": "word"}
    about = "it" if speaker == "AI" else "owner"
    return {"statement": text, "kind": "detail", "about": about, "quotes": [quote]}
