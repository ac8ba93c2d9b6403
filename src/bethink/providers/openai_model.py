"""A model behind any server with the OpenAI chat completions API: OpenAI itself, vLLM, llama.cpp, Ollama."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast
from urllib.parse import urlsplit

from openai import omit
from openai.types.chat import ChatCompletionMessageParam
from openai.types.shared_params import ResponseFormatJSONObject, ResponseFormatJSONSchema

from bethink.errors import ConfigurationError
from bethink.model.calls import MODEL_TIMEOUT, ModelAnswer, ModelCall, Stop
from bethink.model.text import canonical_json, clean
from bethink.providers.http_body import at, count_at, invalid_response_error, name_at, read_events, read_json, text_in
from bethink.providers.http_errors import unreachable_error
from bethink.providers.openai_client import OpenAIServer, limit_openai_call

_STOPS = {
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "model_length": Stop.LENGTH,
    "content_filter": Stop.REFUSED,
}
_ABORTED = ("abort", "error")
_OUTPUTS = ("json_schema", "json_object", "prompt")
ResponseFormat = ResponseFormatJSONObject | ResponseFormatJSONSchema


class OpenAIModel:
    """Calls a chat completions server. The default key is `OPENAI_API_KEY`; a local server needs none.

    `output` is how the server accepts a schema: as `json_schema`, with `json_object`, or only in the `prompt`.
    Raises `ConfigurationError` if a setting is missing or invalid.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "",
        api_key: str = "",
        window: int = 128_000,
        temperature: float | None = None,
        strict_schema: bool = True,
        output: str = "json_schema",
        timeout: float = MODEL_TIMEOUT,
    ) -> None:
        self._server = OpenAIServer(base_url=base_url, api_key=api_key)
        if output not in _OUTPUTS:
            raise ConfigurationError(f"Unknown output {output!r}.", hint=f"Use one of {', '.join(_OUTPUTS)}.")
        self._output = output
        self.name = name
        self.window = window
        self._temperature = temperature
        self._strict = strict_schema
        self._timeout = timeout
        # OpenAI rejects max_tokens for its newer models; Ollama and older servers ignore max_completion_tokens.
        self._newer = _is_openai(self._server.address)

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
        with limit_openai_call(self.name, call.timeout_or(self._timeout)):
            async with (
                self._server.client() as client,
                client.chat.completions.with_streaming_response.create(
                    model=self.name,
                    messages=_messages(call, in_prompt=self._output == "prompt"),
                    response_format=omit if call.schema is None or self._output == "prompt" else self._format(call),
                    max_completion_tokens=call.max_tokens if self._newer else omit,
                    max_tokens=omit if self._newer else call.max_tokens,
                    temperature=omit if self._temperature is None else self._temperature,
                    stream=stream,
                    stream_options={"include_usage": True} if stream else omit,
                ) as response,
            ):
                yield response.iter_bytes()

    async def _collect_stream(self, response: AsyncIterator[bytes], on_text: Callable[[str], None]) -> object:
        """Assemble a streamed answer into one response body."""
        texts: list[str] = []
        message: dict[str, object] = {}
        choice: dict[str, object] = {"message": message}
        body: dict[str, object] = {"choices": [choice]}
        async for event in read_events(self.name, response):
            if at(event, "error"):
                raise unreachable_error(self.name)
            if isinstance(at(event, "choices", 0, "message"), dict):  # no stream
                on_text(text_in(at(event, "choices", 0, "message", "content")))
                return event
            piece = at(event, "choices", 0, "delta", "content")
            if isinstance(piece, str) and piece:
                texts.append(piece)
                on_text(piece)
            choice |= {"finish_reason": reason} if (reason := at(event, "choices", 0, "finish_reason")) else {}
            message |= {"refusal": refusal} if (refusal := at(event, "choices", 0, "delta", "refusal")) else {}
            body |= {name: value for name in ("model", "usage") if (value := at(event, name))}
        if "finish_reason" not in choice:
            raise unreachable_error(self.name)  # the stream ended early
        message["content"] = "".join(texts)
        return body

    def _format(self, call: ModelCall) -> ResponseFormat:
        if self._output == "json_object":
            # Not part of the OpenAI protocol, but older servers of llama.cpp understand it.
            extended = {"type": "json_object", "schema": dict(call.schema or {})}
            return cast("ResponseFormatJSONObject", extended)
        return {
            "type": "json_schema",
            "json_schema": {"name": call.schema_name, "schema": dict(call.schema or {}), "strict": self._strict},
        }

    def _parse_answer(self, body: object) -> ModelAnswer:
        choice = at(body, "choices", 0)
        message = at(choice, "message")
        if not isinstance(message, dict):
            raise invalid_response_error(self.name)
        reason = at(choice, "finish_reason")
        if reason in _ABORTED:
            raise unreachable_error(self.name)
        stop = _STOPS.get(reason, Stop.END) if isinstance(reason, str) else Stop.END
        return ModelAnswer(
            text=text_in(at(choice, "message", "content")),
            model=name_at(body, "model", default=self.name),
            input_tokens=count_at(body, "usage", "prompt_tokens"),
            output_tokens=count_at(body, "usage", "completion_tokens"),
            stop=Stop.REFUSED if at(choice, "message", "refusal") else stop,
        )


def _messages(call: ModelCall, *, in_prompt: bool) -> list[ChatCompletionMessageParam]:
    messages: list[ChatCompletionMessageParam] = []
    system = call.system
    if in_prompt and call.schema is not None:
        system = (
            f"{system}\n\nAnswer with JSON of this schema, and nothing else:\n{canonical_json(call.schema)}".strip()
        )
    if system:
        messages.append({"role": "system", "content": clean(system)})
    messages.append({"role": "user", "content": clean(call.prompt)})
    return messages


def _is_openai(address: str) -> bool:
    host = urlsplit(address).hostname or "api.openai.com"
    return host.endswith((".openai.com", ".azure.com"))
