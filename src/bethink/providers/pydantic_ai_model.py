"""A model of any provider that Pydantic AI supports."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic_ai import ModelRequest, ModelResponse, ModelSettings
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    FallbackExceptionGroup,
    ModelAPIError,
    ModelAuthenticationError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from bethink.errors import ConfigurationError, ModelError, ModelUnavailableError
from bethink.model.calls import MODEL_TIMEOUT, ModelAnswer, ModelCall, Stop
from bethink.model.text import clean
from bethink.providers.http_errors import from_status, limit_call, rejection_error, timeout_error, unreachable_error

_WINDOW = 128_000
_STOPS = {"length": Stop.LENGTH, "content_filter": Stop.REFUSED}
_CONFIGURATION_ERRORS = (ModelAuthenticationError, ModelNotFoundError)


class PydanticAIModel:
    """Calls a Pydantic AI model, given as an instance or by name, such as `openai:gpt-5`.

    A name works from any event loop; an instance only from one at a time, because it keeps its connections.
    Raises `ConfigurationError` if Pydantic AI cannot use the model.
    """

    def __init__(
        self,
        model: Model | str,
        *,
        window: int | None = None,
        temperature: float | None = None,
        timeout: float = MODEL_TIMEOUT,
    ) -> None:
        try:
            inferred = infer_model(model)
        except (UserError, ImportError, ValueError) as error:
            raise ConfigurationError(
                "Pydantic AI cannot use this model.", hint="Check its name, the package of its provider and its key."
            ) from error
        self._model = model
        self.name = model if isinstance(model, str) else inferred.model_id
        self.window = window or inferred.context_window or _WINDOW
        self._temperature = temperature
        self._timeout = timeout

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Ask once.

        Raises `ModelUnavailableError`, `ModelTimeoutError`, or `ModelResponseError` if the request is rejected.
        """
        limit = call.timeout_or(self._timeout)
        with limit_call(self.name, limit):
            try:
                response = await self._request(call)
            except ContentFilterError:
                return ModelAnswer(text="", model=self.name, stop=Stop.REFUSED)
            except FallbackExceptionGroup as group:
                raise self._fallback_failure(group, limit) from None
            except (AgentRunError, UserError) as error:
                raise self._failure(error, limit) from None
        return self._parse_answer(response, call)

    async def _request(self, call: ModelCall) -> ModelResponse:
        model = infer_model(self._model)
        settings = ModelSettings(max_tokens=call.max_tokens)
        if self._temperature is not None:
            settings["temperature"] = self._temperature
        if "timeout" not in model.unsupported_settings:
            settings["timeout"] = call.timeout_or(self._timeout)
        if "max_retries" not in model.unsupported_settings:
            settings["max_retries"] = 0
        async with model:
            return await model_request(
                model,
                [ModelRequest.user_text_prompt(clean(call.prompt), instructions=clean(call.system) or None)],
                model_settings=settings,
                model_request_parameters=_parameters(call),
            )

    def _parse_answer(self, response: ModelResponse, call: ModelCall) -> ModelAnswer:
        if response.finish_reason == "error" or response.state != "complete":
            raise unreachable_error(self.name)
        called = [part.args for part in response.tool_calls if part.tool_name == call.schema_name]
        return ModelAnswer(
            text=_arguments_text(called[0]) if called else response.text or "",
            model=response.model_name or self.name,
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
            stop=_STOPS.get(response.finish_reason or "", Stop.END),
        )

    def _failure(self, error: Exception, timeout: float) -> ModelError:
        if isinstance(error, (ModelTimeoutError, ModelRequestTimeout)):
            return timeout_error(self.name, timeout)
        if isinstance(error, UserError):
            return ModelUnavailableError(
                f"Pydantic AI refused to send the request to {self.name}.",
                hint="Check what the model supports, and its key.",
            )
        if isinstance(error, ModelHTTPError):
            return from_status(self.name, error.status_code, _retry_headers(error), error.body)
        if isinstance(error, ModelRequestRejectedError) and not isinstance(error, _CONFIGURATION_ERRORS):
            return rejection_error(self.name, type(error).__name__)
        return unreachable_error(self.name, retry_after=error.retry_after if isinstance(error, ModelAPIError) else None)

    def _fallback_failure(self, group: FallbackExceptionGroup, timeout: float) -> ModelError:
        failures = [self._failure(error, timeout) for error in group.exceptions]
        # A model that is only unavailable may accept the request later, even if the others never will.
        return next((failure for failure in failures if isinstance(failure, ModelUnavailableError)), failures[0])


def _parameters(call: ModelCall) -> ModelRequestParameters:
    if call.schema is None:
        return ModelRequestParameters()
    schema = dict(call.schema)
    # Offer both ways: Pydantic AI uses the one that the model supports best, and drops the other.
    return ModelRequestParameters(
        output_mode="auto",
        output_object=OutputObjectDefinition(json_schema=schema, name=call.schema_name),
        output_tools=[
            ToolDefinition(
                name=call.schema_name, parameters_json_schema=schema, description="Give the answer.", kind="output"
            )
        ],
    )


def _arguments_text(arguments: str | dict[str, Any] | None) -> str:
    # Not args_as_json_str: it would wrap malformed JSON in a valid object.
    return arguments or "" if isinstance(arguments, str | None) else json.dumps(arguments, ensure_ascii=False)


def _retry_headers(error: ModelHTTPError) -> Mapping[str, str]:
    return {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
