"""The stream of an answer (Server-Sent Events): each sentence as soon as it is proven, then the complete answer."""

import math
from collections.abc import AsyncIterator
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from bethink.base.logs import logger
from bethink.host import codec
from bethink.http.context import Context, admit, admit_spaces
from bethink.http.openapi import route_arguments
from bethink.http.problems import problem_for
from bethink.http.routes import read_posted
from bethink.http.streams import HEARTBEAT, event_stream
from bethink.model.answers import Answer, AnswerSentence, streaming
from bethink.model.operations.memory import ASK, AskRequest

PATH = f"/v1{ASK.path}/stream"
_log = logger("server")


def add_answers(app: FastAPI, context: Context) -> None:
    """Add the route of the stream. It takes the same request as `ask`."""

    async def stream(request: Request) -> StreamingResponse:
        key, space, names = await admit(request, context, ASK, route=PATH)
        ask_request = await read_posted(ASK, request, names, context)
        admit_spaces(key, ASK, ask_request)
        return event_stream(_events(context, space, ask_request))

    app.add_api_route(PATH, stream, methods=["POST"], **_route_arguments())


def _route_arguments() -> dict[str, Any]:
    arguments = route_arguments(ASK)
    events = (
        "Events `sentence` with an AnswerSentence, then `answer` with the MemoryAnswer, or `problem` with a Problem."
    )
    summary = "Answer a question from memory, and send each sentence as soon as it is proven, as Server-Sent Events."
    return {
        **arguments,
        "operation_id": "ask_stream",
        "summary": summary,
        "description": summary,
        "response_model": None,
        "response_class": StreamingResponse,
        "responses": {
            **arguments["responses"],
            200: {"description": events, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        },
    }


async def _events(context: Context, space: str, request: AskRequest) -> AsyncIterator[bytes]:
    send, receive = anyio.create_memory_object_stream[bytes](math.inf)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_run_ask, context, space, request, send)
        with receive:
            while True:
                event = b":\n\n"
                with anyio.move_on_after(HEARTBEAT):
                    try:
                        event = await receive.receive()
                    except anyio.EndOfStream:
                        return
                yield event


async def _run_ask(context: Context, space: str, request: AskRequest, send: MemoryObjectSendStream[bytes]) -> None:
    def send_sentence(sentence: AnswerSentence) -> None:
        send.send_nowait(_event("sentence", codec.adapter(AnswerSentence).dump_json(sentence)))

    with send:
        try:
            with streaming(send_sentence):
                answer = await context.backend.run(ASK, space, request)
            send.send_nowait(_event("answer", codec.adapter(Answer).dump_json(answer)))
        except Exception as error:  # noqa: BLE001 - the response has started: an error can only be sent as an event
            _log.warning("an answer was interrupted: %s", type(error).__name__)
            send.send_nowait(_event("problem", problem_for(error).body()))


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)
