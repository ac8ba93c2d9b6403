"""A model behind the Anthropic Messages API."""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from anthropic import Anthropic, AnthropicError, APIStatusError, AsyncAnthropic, omit
from anthropic.types import OutputConfigParam

from bethink.errors import ConfigurationError
from bethink.model.calls import MODEL_TIMEOUT, ModelAnswer, ModelCall, Stop
from bethink.model.text import clean
from bethink.providers.http_body import at, count_at, invalid_response_error, name_at, read_events, read_json, text_in
from bethink.providers.http_errors import check_address, check_key, from_status, limit_call, unreachable_error

_NO_KEY = "none"
_STOPS = {
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSED,
}
_INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicModel:
    """Calls the Anthropic Messages API. Without a key, the SDK looks for one, first in `ANTHROPIC_API_KEY`.

    It has no temperature setting, because the API accepts none since October 2026.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "",
        api_key: str = "",
        window: int = 200_000,
        timeout: float = MODEL_TIMEOUT,
    ) -> None:
        address = base_url or os.environ.get("ANTHROPIC_BASE_URL", "")
        if address:
            check_address(address)
        check_key(api_key)
        self.name = name
        self.window = window
        self._timeout = timeout
        self._base_url = base_url or None
        self._api_key = api_key or None
        if not (api_key or self._has_credentials()):
            if not address:
                raise ConfigurationError(
                    "Anthropic needs an API key.",
                    hint="Set ANTHROPIC_API_KEY, or `model_base_url` for your own server.",
                )
            self._api_key = _NO_KEY

    def _has_credentials(self) -> bool:
        try:
            with Anthropic(base_url=self._base_url) as client:
                check_key(client.api_key or client.auth_token or "")
                return bool(client.api_key or client.auth_token or client.credentials)
        except (AnthropicError, ValueError) as error:
            raise ConfigurationError(
                "Cannot read the credentials for Anthropic.", hint="Set ANTHROPIC_API_KEY."
            ) from error

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Ask once.

        Raises `ModelUnavailableError`, `ModelTimeoutError`, or `ModelResponseError` if the request is rejected.
        """
        async with self._open_response(call, stream=False) as response:
            return self._parse_answer(await read_json(self.name, response))

    async def stream(self, call: ModelCall, on_text: Callable[[str], None]) -> ModelAnswer:
        """Ask once, and call `on_text` with each piece of the text as it arrives. Raises as `answer` does."""
        async with self._open_response(call, stream=True) as response:
            return self._parse_answer(await self._collect_stream(response, on_text))

    @asynccontextmanager
    async def _open_response(self, call: ModelCall, *, stream: bool) -> AsyncGenerator[AsyncIterator[bytes]]:
        # A client belongs to the event loop of its first use, and the next call may come from another loop.
        # It gets no timeout of its own: that would start again with every byte that arrives.
        with limit_call(self.name, call.timeout_or(self._timeout)):
            try:
                async with (
                    AsyncAnthropic(
                        api_key=self._api_key, base_url=self._base_url, timeout=None, max_retries=0
                    ) as client,
                    client.messages.with_streaming_response.create(
                        model=self.name,
                        system=clean(call.system) if call.system else omit,
                        messages=[{"role": "user", "content": clean(call.prompt)}],
                        max_tokens=call.max_tokens,
                        output_config=omit if call.schema is None else _format(call),
                        stream=stream,
                    ) as response,
                ):
                    yield response.iter_bytes()
            except APIStatusError as error:
                raise from_status(self.name, error.status_code, error.response.headers, error.body) from None
            except AnthropicError:
                raise unreachable_error(self.name) from None

    async def _collect_stream(self, response: AsyncIterator[bytes], on_text: Callable[[str], None]) -> object:
        """Assemble a streamed answer into one response body."""
        texts: list[str] = []
        usage: dict[str, object] = {}
        body: dict[str, object] = {"usage": usage}
        async for event in read_events(self.name, response):
            if at(event, "error"):
                raise unreachable_error(self.name)
            if isinstance(at(event, "content"), list):  # no stream
                on_text(text_in(at(event, "content")))
                return event
            piece = at(event, "delta", "text")
            if isinstance(piece, str) and piece:
                texts.append(piece)
                on_text(piece)
            for counts in (at(event, "message", "usage"), at(event, "usage")):
                usage |= cast("dict[str, object]", counts) if isinstance(counts, dict) else {}
            body |= {"model": name} if (name := at(event, "message", "model")) else {}
            body |= {"stop_reason": reason} if (reason := at(event, "delta", "stop_reason")) else {}
        if "stop_reason" not in body:
            raise unreachable_error(self.name)  # the stream ended early
        return {**body, "content": [{"type": "text", "text": "".join(texts)}]}

    def _parse_answer(self, body: object) -> ModelAnswer:
        usage, reason = at(body, "usage"), at(body, "stop_reason")
        if not isinstance(at(body, "content"), list):
            raise invalid_response_error(self.name)
        return ModelAnswer(
            text=text_in(at(body, "content")),
            model=name_at(body, "model", default=self.name),
            input_tokens=sum(count_at(usage, part) for part in _INPUT_TOKENS),
            output_tokens=count_at(usage, "output_tokens"),
            stop=_STOPS.get(reason, Stop.END) if isinstance(reason, str) else Stop.END,
        )


def _format(call: ModelCall) -> OutputConfigParam:
    return {"format": {"type": "json_schema", "schema": dict(call.schema or {})}}
