"""HTTP requests to a server, with retries where they are safe."""

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import quote, urlencode

import anyio

from bethink.base.backoff import pause_after
from bethink.base.frozen import frozen
from bethink.base.installed import install_hint
from bethink.errors import (
    BethinkError,
    ConfigurationError,
    DatabaseUnavailableError,
    InvalidRequestError,
    OutcomeUnknownError,
)
from bethink.host.remote.problems import connection_error, error_for
from bethink.model.text import clean

if TYPE_CHECKING:
    import httpx2

_FIRST_PAUSE = 0.1
_MAX_PAUSE = 5.0
_MAX_RETRY_AFTER = 60.0
"""Longest `Retry-After` to wait for, in seconds."""

_KEEPALIVE = 3.0
"""Seconds to keep an idle connection: less than servers do, to avoid a race on closing."""


@frozen
class HttpCall:
    """A request. With `read_only` it changes nothing; with `repeatable` a second run has no further effect."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    read_only: bool = False
    repeatable: bool = False
    has_timeout: bool = True
    extra_wait: float = 0.0
    """Seconds that the server may wait deliberately, in addition to the timeout."""


class _AttemptError(Exception):
    """An attempt failed and may be retried, after `wait` seconds if the server requested that."""

    def __init__(self, error: BethinkError, *, unknown: bool, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.unknown = unknown
        self.wait = wait


class Calls:
    """The connections to one server. Safe to share between tasks."""

    def __init__(self, url: str, *, key: str, timeout: float, retries: int) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(
                "The server address is not a URL.", hint="Use an address such as https://memory.example."
            )
        if not key or not key.isascii() or not key.isprintable():
            raise ConfigurationError("The API key is empty or not plain text.", hint="Pass a key that starts with bt_.")
        if not _is_number(timeout) or not 0 < timeout < math.inf:
            raise ConfigurationError(f"`timeout` cannot be {timeout!r}.", hint="Pass seconds, more than 0.")
        if not isinstance(cast("object", retries), int) or retries < 0:
            raise ConfigurationError(f"`retries` cannot be {retries!r}.", hint="Pass a whole number, 0 or more.")
        self._url = url.rstrip("/")
        self._safe_url = _without_credentials(self._url)
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._pause: Callable[[float], Awaitable[None]] = anyio.sleep
        self._http: httpx2.AsyncClient | None = None

    async def open(self) -> None:
        """Prepare the client. Connections are opened when they are needed."""
        if self._http is not None:
            return
        try:
            import httpx2  # noqa: PLC0415 - only clients of a server need it
        except ImportError as error:
            raise ConfigurationError(
                "The client needs the package httpx2.",
                hint=install_hint("client"),
            ) from error
        self._http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {self._key}", "user-agent": "bethink-client"},
            timeout=self._timeout,
            limits=httpx2.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=_KEEPALIVE),
        )

    async def close(self) -> None:
        """Close every connection."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def send(self, call: HttpCall) -> bytes:
        """Send a request, with retries where they are safe, and return the body of the response."""
        attempt, unknown = 0, False
        while True:
            try:
                return (await self._once(call)).content
            except _AttemptError as failure:
                unknown = unknown or failure.unknown
                pause = failure.wait
                if pause is None:
                    pause = pause_after(attempt, first=_FIRST_PAUSE, max_pause=_MAX_PAUSE, spread=0.5)
                safe = not unknown or call.read_only or call.repeatable
                if not safe or attempt >= self._retries or pause > _MAX_RETRY_AFTER:
                    raise _final(failure.error, call, unknown=unknown) from failure.__cause__
            except BethinkError as rejection:
                final = _final(rejection, call, unknown=unknown)
                if final is rejection:
                    raise
                raise final from rejection
            await self._pause(pause)
            attempt += 1

    async def download(self, path: str, sink: BinaryIO) -> None:
        """Stream the body of a response to a file, without retries."""
        if self._http is None:
            raise DatabaseUnavailableError("The client is not open.", hint="Use it inside an `async with` block.")
        import httpx2  # noqa: PLC0415 - as above

        timeout = httpx2.Timeout(self._timeout, read=None)  # a large space takes a while to start
        try:
            async with self._http.stream("GET", self._url + path, timeout=timeout) as response:
                if not response.is_success:
                    raise error_for(response.status_code, await response.aread(), read_only=True)[0]
                async for chunk in response.aiter_bytes():
                    sink.write(chunk)
        except httpx2.TransportError as error:
            raise DatabaseUnavailableError(
                f"The connection to {self._safe_url} was lost.", hint="Nothing was changed. Try again."
            ) from error

    async def events(self, call: HttpCall) -> AsyncIterator[tuple[str, bytes]]:
        """Send a request and yield the events of its response, without retries."""
        if self._http is None:
            raise DatabaseUnavailableError("The client is not open.", hint="Use it inside an `async with` block.")
        import httpx2  # noqa: PLC0415 - as above

        timeout = httpx2.Timeout(self._timeout, read=None)
        headers = {"content-type": "application/json"}
        body, name = _body(call.body or {}), ""
        try:
            async with self._http.stream(
                call.method, self._url + call.path, content=body, headers=headers, timeout=timeout
            ) as response:
                if not response.is_success:
                    raise error_for(response.status_code, await response.aread(), read_only=call.read_only)[0]
                async for line in response.aiter_lines():
                    field, _, value = line.partition(": ")
                    if field == "event":
                        name = value
                    elif field == "data":
                        yield name, value.encode()
        except httpx2.TransportError as error:
            raise connection_error(f"The connection to {self._safe_url} was lost.", read_only=call.read_only) from error

    async def _once(self, call: HttpCall) -> "httpx2.Response":
        if self._http is None:
            raise DatabaseUnavailableError("The client is not open.", hint="Use it inside an `async with` block.")
        import httpx2  # noqa: PLC0415 - as above

        body = None if call.body is None else _body(call.body)
        headers = None if body is None else {"content-type": "application/json"}
        timeout = httpx2.Timeout(self._timeout, read=self._timeout + call.extra_wait if call.has_timeout else None)
        try:
            response = await self._http.request(
                call.method, self._url + call.path, content=body, headers=headers, timeout=timeout
            )
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            unreachable = DatabaseUnavailableError(
                f"Cannot reach the server at {self._safe_url}.", hint="Check the address, and whether it is running."
            )
            raise _AttemptError(unreachable, unknown=False) from error
        except httpx2.TransportError as error:
            disconnected = connection_error(
                "Lost the connection to the server before it responded.", read_only=call.read_only
            )
            raise _AttemptError(disconnected, unknown=True) from error
        if response.is_success:
            return response
        raise _to_error(response, call)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _without_credentials(url: str) -> str:
    scheme, _, tail = url.partition("://")
    host, slash, path = tail.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def _to_error(response: "httpx2.Response", call: HttpCall) -> Exception:
    error, is_unchanged = error_for(response.status_code, response.content, read_only=call.read_only)
    wait = _seconds(response.headers.get("retry-after"))
    if is_unchanged:
        return _AttemptError(error, unknown=False, wait=wait)
    if isinstance(error, (OutcomeUnknownError, DatabaseUnavailableError)) and response.status_code != 500:
        return _AttemptError(error, unknown=True, wait=wait)
    return error


def _final(error: BethinkError, call: HttpCall, *, unknown: bool) -> BethinkError:
    # An earlier attempt may have succeeded, whatever the last response says.
    if unknown and not call.read_only and not isinstance(error, OutcomeUnknownError):
        return OutcomeUnknownError(f"An earlier attempt may have succeeded. The last one failed: {error.args[0]}")
    return error


def to_query_string(query: Mapping[str, object]) -> str:
    """Return the fields of a request as a query string with its question mark."""
    values = {name: _to_text(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(values)}" if values else ""


def _to_text(value: object) -> str:
    if isinstance(value, (bool, list, dict)):
        return clean(json.dumps(value, ensure_ascii=False))
    return clean(str(value))


def path_of(template: str, names: Mapping[str, str]) -> str:
    """Fill names into a path below /v1. Names are escaped, so that none can leave its segment."""
    parts = (_segment(names[part[1:-1]]) if part.startswith("{") else part for part in template.split("/"))
    return "/v1" + "/".join(parts)


def _segment(name: str) -> str:
    if not name:
        raise InvalidRequestError("An id is empty.", hint="Pass an id that Bethink returned.")
    return quote(clean(name), safe="") if name.strip(".") else name.replace(".", "%2E")


def _body(fields: Mapping[str, object]) -> bytes:
    try:
        text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidRequestError(
            f"Cannot send this value as JSON: {error}.",
            hint="Use objects, lists, strings, finite numbers and booleans.",
        ) from error
    return clean(text).encode()


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None
