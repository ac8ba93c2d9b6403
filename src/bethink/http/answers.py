"""The stream of an answer (Server-Sent Events): each sentence as soon as it is proven, then the whole answer."""

import math
from collections.abc import AsyncIterator
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from bethink.base.logs import logger
from bethink.host import codec
from bethink.http.context import Context, admit
from bethink.http.openapi import described
from bethink.http.problems import problem_for
from bethink.http.routes import read_posted
from bethink.http.streams import HEARTBEAT, event_stream
from bethink.model.answers import AnswerSentence, MemoryAnswer, streaming
from bethink.model.operations.memory import ASK, AskRequest

PATH = f"/v1{ASK.path}/stream"
_log = logger("server")


def add_answers(app: FastAPI, context: Context) -> None:
    """Add the route of the stream: the same request as that of the verb."""

    async def stream(request: Request) -> StreamingResponse:
        _, space, names = await admit(request, context, ASK, route=PATH)
        asked = await read_posted(ASK, request, names, context)
        return event_stream(_events(context, space, asked))

    app.add_api_route(PATH, stream, methods=["POST"], **_documented())


def _documented() -> dict[str, Any]:
    made = described(ASK)
    told = "Events `sentence` with an AnswerSentence, then `answer` with the MemoryAnswer, or `problem` with a Problem."
    summary = "Answer a question from memory, and send each sentence as soon as it is proven, as Server-Sent Events."
    return {
        **made,
        "operation_id": "ask_stream",
        "summary": summary,
        "description": summary,
        "response_model": None,
        "response_class": StreamingResponse,
        "responses": {
            **made["responses"],
            200: {"description": told, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        },
    }


async def _events(context: Context, space: str, asked: AskRequest) -> AsyncIterator[bytes]:
    send, receive = anyio.create_memory_object_stream[bytes](math.inf)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_carry_out, context, space, asked, send)
        with receive:
            while True:
                event = b":\n\n"
                with anyio.move_on_after(HEARTBEAT):
                    try:
                        event = await receive.receive()
                    except anyio.EndOfStream:
                        return
                yield event


async def _carry_out(context: Context, space: str, asked: AskRequest, send: MemoryObjectSendStream[bytes]) -> None:
    def tell(sentence: AnswerSentence) -> None:
        send.send_nowait(_event("sentence", codec.adapter(AnswerSentence).dump_json(sentence)))

    with send:
        try:
            with streaming(tell):
                answer = await context.backend.run(ASK, space, asked)
            send.send_nowait(_event("answer", codec.adapter(MemoryAnswer).dump_json(answer)))
        except Exception as error:  # noqa: BLE001 - the answer has begun: an error can only be an event of it
            _log.warning("an answer broke off: %s", type(error).__name__)
            send.send_nowait(_event("problem", problem_for(error).body()))


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)
