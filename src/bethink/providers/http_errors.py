"""Turn failures of an HTTP model API into our errors, without quoting prompts or answers."""

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import anyio
import httpx2

from bethink.errors import ConfigurationError, ModelError, ModelResponseError, ModelTimeoutError, ModelUnavailableError
from bethink.providers.http_body import at

_MAX_WAIT = 86_400.0
_REJECTED = frozenset({400, 413, 414, 422, 431})

_KEY = "Check the API key, and that it may use this model."
_NAME = "Check the name and address of the model."
_MONEY = "The account has no credit left. Add credit or raise its limit."
_REQUEST = "Check that the prompt fits the context window and that the model supports the schema."

_BY_STATUS = {401: _KEY, 402: _MONEY, 403: _KEY, 404: _NAME, 405: _NAME}
_BY_CODE = {
    "authentication_error": _KEY,
    "invalid_api_key": _KEY,
    "model_not_found": _NAME,
    "billing_error": _MONEY,
    "billing_hard_limit_reached": _MONEY,
    "credit_balance_exhausted": _MONEY,
    "enforced_spend_limit_reached": _MONEY,
    "insufficient_quota": _MONEY,
    "organization_spend_limit_exceeded": _MONEY,
    "organization_usage_limit_exceeded": _MONEY,
    "project_spend_limit_exceeded": _MONEY,
}
_CODES = [("code",), ("type",), ("details", "error_code")]


def from_status(model: str, status: int, headers: Mapping[str, str], body: object = None) -> ModelError:
    """Turn an HTTP status into our error. Only known codes are read from the body."""
    hint = _hint_of(body)
    if status in _REJECTED and hint is None:
        return rejection_error(model, f"HTTP {status}")
    return ModelUnavailableError(
        f"{model} is not available (HTTP {status}).",
        retry_after=retry_after(headers),
        hint=hint or _BY_STATUS.get(status),
    )


def _hint_of(body: object) -> str | None:
    error = at(body, "error") or body
    for path in _CODES:
        code = at(error, *path)
        if isinstance(code, str) and code in _BY_CODE:
            return _BY_CODE[code]
    message = at(error, "message")
    # Anthropic may report an empty account as an invalid request, which would blame the prompt.
    return _MONEY if isinstance(message, str) and "credit balance is too low" in message.lower() else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, from milliseconds, seconds or a date in the headers. The maximum is one day."""
    milliseconds, value = _number(headers.get("retry-after-ms", "")), headers.get("retry-after", "")
    seconds = _number(value) if milliseconds is None else milliseconds / 1000
    if seconds is None:
        seconds = _seconds_until(value)
    return None if seconds is None else min(max(seconds, 0.0), _MAX_WAIT)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _seconds_until(value: str) -> float | None:
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()


def rejection_error(model: str, reason: str) -> ModelResponseError:
    """Return the error for a request that was rejected, although others may succeed."""
    return ModelResponseError(f"{model} rejected the request ({reason}).", hint=_REQUEST)


def unreachable_error(model: str, *, retry_after: float | None = None) -> ModelUnavailableError:
    """Return the error for a connection that failed or broke."""
    return ModelUnavailableError(f"Cannot reach {model}, or the connection was lost.", retry_after=retry_after)


def timeout_error(model: str, timeout: float) -> ModelTimeoutError:
    """Return the error for an answer that was not complete in time."""
    return ModelTimeoutError(
        f"{model} did not answer within {timeout:g} seconds.", hint="Raise `model_timeout` or request fewer tokens."
    )


@contextmanager
def limit_call(model: str, timeout: float) -> Generator[None]:
    """Limit a call to `timeout` seconds in total, and turn the errors of the transport into ours."""
    # `from None` drops the causes: they contain the request, and with it the key and the prompt.
    try:
        with anyio.fail_after(timeout):
            yield
    except (TimeoutError, httpx2.TimeoutException):
        raise timeout_error(model, timeout) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError):
        raise unreachable_error(model) from None


def check_address(base_url: str) -> None:
    """Raise `ConfigurationError` if no request can be sent to an address."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:  # not quoted: an address may contain a password
        raise ConfigurationError(
            "The model address is not a valid URL.", hint="Use a full URL, such as http://localhost:8000/v1."
        )


def check_key(api_key: str) -> None:
    """Raise `ConfigurationError` for a key that cannot be sent in a header, before another error quotes it."""
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise ConfigurationError(
            "The API key contains a space, a line break or another invalid character.",
            hint="Check the file or variable that contains the key.",
        )
