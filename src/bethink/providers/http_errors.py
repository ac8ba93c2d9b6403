"""How the failures of a model behind HTTP become ours, without ever quoting what was sent or said."""

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import anyio
import httpx2

from bethink.errors import BadAnswer, Misconfigured, ModelError, ModelTimeout, ModelUnavailable
from bethink.providers.http_body import at

_LONGEST_WAIT = 86_400.0
_THIS_REQUEST = frozenset({400, 413, 414, 422, 431})

_KEY = "Check the API key, and that it may use this model."
_NAME = "Check the model's name and address."
_MONEY = "The account has nothing left to spend: top it up or raise its limit."
_REQUEST = "Check its length against the model's window, and what the model takes as a schema."

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
    """Turn an HTTP status into our error. Of the body only known codes are read."""
    hint = _hint_of(body)
    if status in _THIS_REQUEST and hint is None:
        return turned_down(model, f"HTTP {status}")
    return ModelUnavailable(
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
    said = at(error, "message")
    # Anthropic may send an empty account as an invalid request, which would blame the text for it.
    return _MONEY if isinstance(said, str) and "credit balance is too low" in said.lower() else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds to wait, given in milliseconds, in seconds or as a date; at most a day."""
    milliseconds, value = _number(headers.get("retry-after-ms", "")), headers.get("retry-after", "")
    seconds = _number(value) if milliseconds is None else milliseconds / 1000
    if seconds is None:
        seconds = _until(value)
    return None if seconds is None else min(max(seconds, 0.0), _LONGEST_WAIT)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _until(value: str) -> float | None:
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()


def turned_down(model: str, how: str) -> BadAnswer:
    """Say that this one request was refused: another one may still be answered."""
    return BadAnswer(f"{model} turned the request down ({how}).", hint=_REQUEST)


def unreachable(model: str, *, retry_after: float | None = None) -> ModelUnavailable:
    """Say that the connection failed or broke off."""
    return ModelUnavailable(f"{model} could not be reached, or broke off.", retry_after=retry_after)


def too_late(model: str, timeout: float) -> ModelTimeout:
    """Say that there was no whole answer in time."""
    return ModelTimeout(
        f"{model} did not answer within {timeout:g} seconds.", hint="Allow more time, or ask for fewer tokens."
    )


@contextmanager
def bounded(model: str, timeout: float) -> Generator[None]:
    """Give a call so many seconds from end to end, and turn what the transport raises into our errors."""
    # The causes are cut off: they hold the request, and with it the key and the prompt.
    try:
        with anyio.fail_after(timeout):
            yield
    except (TimeoutError, httpx2.TimeoutException):
        raise too_late(model, timeout) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError):
        raise unreachable(model) from None


def check_address(base_url: str) -> None:
    """Refuse an address that no request can be sent to. Raises `Misconfigured`."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:  # not quoted: an address may hold a password
        raise Misconfigured(
            "the model's address is not usable.", hint="Give a whole URL, such as http://localhost:8000/v1."
        )


def check_key(api_key: str) -> None:
    """Refuse a key that no header can carry, before an error could quote it. Raises `Misconfigured`."""
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise Misconfigured(
            "the API key holds a blank, a line break or another character that no key has.",
            hint="Check the file or variable it comes from.",
        )
