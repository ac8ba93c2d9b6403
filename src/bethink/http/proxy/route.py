"""The route of model calls: it passes them on and adds memory."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

import anyio
import httpx2
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from bethink.api.connect import Memory
from bethink.base.logs import logger
from bethink.config.groups import ProxySettings
from bethink.errors import BethinkError
from bethink.host.local import Local
from bethink.http.context import Context, address_of
from bethink.http.middleware import HANDLED
from bethink.http.problems import RefusedRequest, refusal
from bethink.http.proxy.answers import AnswerReader, decompress
from bethink.http.proxy.bodies import MAX_READ, Bodies, OpenBody
from bethink.http.proxy.callers import MemoryUse, agent_of, conversation_for, is_subagent, key_for, memory_for
from bethink.http.proxy.calls import read_call
from bethink.http.proxy.remembering import IncomingCall, ProxyMemory, Turn
from bethink.http.proxy.upstream import Passage, RawHeaders, Upstream, Wire, end_to_end_headers, passage_of
from bethink.model.access import caller

_log = logger("server")


def add_proxy(
    settings: ProxySettings, app: FastAPI, context: Context, memory: Memory
) -> AbstractAsyncContextManager[None]:
    """Add the proxy at the paths of the model APIs. The server must enter the returned context manager.

    Raises:
        ConfigurationError: for an invalid address of a model.
    """
    route = ProxyRoute(context, Upstream(settings), settings)
    app.router.routes.insert(0, route)
    return route.running(memory)


class ProxyRoute(BaseRoute):
    """Passes model calls and their answers on unchanged, except for added memory."""

    def __init__(self, context: Context, upstream: Upstream, settings: ProxySettings) -> None:
        self._context = context
        self._upstream = upstream
        self._settings = settings
        self._remembering: ProxyMemory | None = None
        self._bodies = Bodies(limit=settings.max_body)

    @asynccontextmanager
    async def running(self, memory: Memory) -> AsyncGenerator[None]:
        """Recall and capture while the block runs."""
        await _warm_up(memory)
        async with anyio.create_task_group() as tasks:
            self._remembering = ProxyMemory(self._context, self._settings, tasks)
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await self._remembering.end()
                    await self._upstream.close()
                tasks.cancel_scope.cancel()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is a call to a model."""
        ours = scope["type"] == "http" and passage_of(scope["method"], scope["path"]) is not None
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one call on, and its answer back."""
        passage = passage_of(scope["method"], scope["path"])
        remembering = self._remembering
        if passage is None or remembering is None:  # cannot happen: `matches` runs first, and the server has started
            raise refusal(404, "Not found", "The proxy does not support this path.")
        headers, context, handled = Headers(scope=scope), self._context, scope[HANDLED]
        handled["route"] = scope["path"] if passage.wire is not None else f"/v1/{scope['path'].split('/')[2]}"
        key = await key_for(headers, context, address_of(scope), remembering.in_time)
        use = memory_for(headers, key.info)
        caller.set(use.caller)
        handled.update(key=key.info.prefix, space=use.space)
        context.buckets.take(key.info.prefix)
        raw: RawHeaders = list(scope["headers"])
        call: IncomingCall | None = None
        async with AsyncExitStack() as stack:
            with context.concurrency.reading(key.info.prefix):
                body = await stack.enter_async_context(self._bodies.receiving(receive, headers))
            if isinstance(body, bytes) and passage.wire is not None and not is_subagent(headers):
                call = IncomingCall(
                    use, partial(self._parse_call, passage.wire, headers, body, use, remembering.answers)
                )
                changed = await remembering.with_memory(call, recalls=key.reachable)
                if changed is not None:
                    body = changed.encode()
                    raw = [(name, value) for name, value in raw if name != b"content-encoding"]
            with context.concurrency.waiting(key.info.prefix):  # the server only waits for the model
                await self._pass(passage, scope, receive, send, raw=raw, body=body, call=call)

    async def _parse_call(
        self, wire: Wire, headers: Headers, body: bytes, use: MemoryUse, answers: dict[str, str]
    ) -> Turn | None:
        """Return the messages and conversation of a call, or None for a call without memory."""

        def parse() -> Turn | None:
            plain = decompress(body, headers.get("content-encoding", ""), limit=MAX_READ)
            call = None if plain is None else read_call(wire, plain, agent=agent_of(headers))
            return None if call is None else Turn(use, conversation_for(headers, call, answers), call)

        try:
            return await self._context.lanes.run(use.space, len(body), parse)
        except Exception as error:  # noqa: BLE001 - the call always continues
            _log.warning("a call could not be read: %s", type(error).__name__)
            return None

    async def _pass(
        self,
        passage: Passage,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        raw: RawHeaders,
        body: bytes | OpenBody,
        call: IncomingCall | None,
    ) -> None:
        """Send a call and stream its answer back. If the caller disconnects, the call is canceled."""
        failed: list[Exception] = []

        async def watch_for_disconnect(tasks: anyio.CancelScope) -> None:
            if isinstance(body, OpenBody):
                await body.ended.wait()
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel()

        async def exchange(tasks: anyio.CancelScope) -> None:
            try:
                await self._exchange(passage, scope, send, raw=raw, body=body, call=call)
            except Exception as error:  # noqa: BLE001 - raised below, where no group wraps it
                failed.append(error)
            tasks.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch_for_disconnect, tasks.cancel_scope)
            tasks.start_soon(exchange, tasks.cancel_scope)
        if failed:
            raise failed[0]

    async def _exchange(
        self,
        passage: Passage,
        scope: Scope,
        send: Send,
        *,
        raw: RawHeaders,
        body: bytes | OpenBody,
        call: IncomingCall | None,
    ) -> None:
        query = scope["query_string"].decode("latin-1")
        target = scope["path"] + (f"?{query}" if query else "")
        try:
            answer = await self._upstream.send(passage, scope["method"], target, headers=raw, body=body)
        except httpx2.TransportError as error:
            raise _upstream_error(error) from error
        try:
            await self._answer(answer, send, call and call.turn)
        finally:
            with anyio.CancelScope(shield=True):
                await answer.aclose()

    async def _answer(self, answer: httpx2.Response, send: Send, turn: Turn | None) -> None:
        # The server sets its own date.
        head = [(name, value) for name, value in end_to_end_headers(answer.headers.raw) if name != b"date"]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": head})
        reader = None
        if turn is not None and answer.is_success:
            kind, encoding = answer.headers.get("content-type", ""), answer.headers.get("content-encoding", "")
            reader = AnswerReader(turn.call.wire, media_type=kind, encoding=encoding)
        async for part in answer.aiter_raw():
            await send({"type": "http.response.body", "body": part, "more_body": True})
            if reader is not None:
                reader.feed(part)
        if reader is not None and turn is not None and self._remembering is not None:
            reader.close()
            if reader.complete:
                self._remembering.capture_answer(turn, reader.text, reader.id)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _warm_up(memory: Memory) -> None:
    """Load the embedder before the first call, so that calls do not wait for it."""
    if not isinstance(memory.backend, Local):
        return
    try:
        await memory.backend.searcher().warm_up()
    except BethinkError as error:
        _log.warning("recall is not ready yet: %s", type(error).__name__)


def _upstream_error(error: httpx2.TransportError) -> RefusedRequest:
    is_timeout = isinstance(error, httpx2.TimeoutException)
    status, title = (504, "Gateway timeout") if is_timeout else (502, "Bad gateway")
    detail = "The model did not answer in time." if is_timeout else "The model cannot be reached."
    hint = "Check `proxy_openai_url` and `proxy_anthropic_url`, and that the server is running."
    return refusal(status, title, detail, hint=hint, code="ModelUnavailableError")
