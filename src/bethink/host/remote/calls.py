"""One request and its answer: sent again where that is safe, and truthful about what may have happened."""

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import quote, urlencode

import anyio

from bethink.base.backoff import pause_after
from bethink.base.frozen import frozen
from bethink.errors import BethinkError, Invalid, Misconfigured, OutcomeUnknown, Unavailable
from bethink.host.remote.problems import error_for, lost
from bethink.model.text import clean

if TYPE_CHECKING:
    import httpx2

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_MOST_PATIENCE = 60.0
"""Seconds beyond which a server that says when to come back is not waited for."""

_KEPT_OPEN = 3.0
"""Seconds that an idle connection is kept: less than a server keeps it, so that it is not lost to a race."""


@frozen
class HttpCall:
    """A request. One that `reads` changes nothing; a `repeatable` one may be carried out twice and is as once."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    reads: bool = False
    repeatable: bool = False
    timed: bool = True
    waits: float = 0.0
    """Seconds that the server may take on purpose, in addition to the timeout."""


class _Failed(Exception):
    """An attempt failed in a way that may be tried again, after `wait` seconds if the server said so."""

    def __init__(self, error: BethinkError, *, unknown: bool, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.unknown = unknown
        self.wait = wait


class Calls:
    """The connections to one server. Safe to share between tasks."""

    def __init__(self, url: str, *, key: str, timeout: float, retries: int) -> None:
        if not url.startswith(("http://", "https://")):
            raise Misconfigured(
                "the address of the server is not a URL.", hint="Use one such as https://memory.example."
            )
        if not key or not key.isascii() or not key.isprintable():
            raise Misconfigured("the key is empty or not plain text.", hint="Give the text of a key: bt_….")
        if not _is_number(timeout) or not 0 < timeout < math.inf:
            raise Misconfigured(f"timeout = {timeout!r} is not a time.", hint="Give seconds: a number above 0.")
        if not isinstance(cast("object", retries), int) or retries < 0:
            raise Misconfigured(f"retries = {retries!r} is not a count.", hint="Give a whole number, 0 or more.")
        self._url = url.rstrip("/")
        self._told = _without_credentials(self._url)
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._pause: Callable[[float], Awaitable[None]] = anyio.sleep
        self._http: httpx2.AsyncClient | None = None

    async def open(self) -> None:
        """Make ready to connect; connections are made when they are needed."""
        if self._http is not None:
            return
        try:
            import httpx2  # noqa: PLC0415 - only who calls a server needs it
        except ImportError as error:
            raise Misconfigured(
                "the client needs a package more.",
                hint="Run pip install 'bethink[client]', or '.[client]' from a clone.",
            ) from error
        self._http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {self._key}", "user-agent": "bethink-client"},
            timeout=self._timeout,
            limits=httpx2.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=_KEPT_OPEN),
        )

    async def close(self) -> None:
        """Close every connection."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def answered(self, asked: HttpCall) -> bytes:
        """Send a request, again where that is safe, and return the body of the answer."""
        attempt, unknown = 0, False
        while True:
            try:
                return (await self._once(asked)).content
            except _Failed as failed:
                unknown = unknown or failed.unknown
                pause = failed.wait
                if pause is None:
                    pause = pause_after(attempt, first=_FIRST_PAUSE, max_pause=_LONGEST_PAUSE, spread=0.5)
                safe = not unknown or asked.reads or asked.repeatable
                if not safe or attempt >= self._retries or pause > _MOST_PATIENCE:
                    raise _final(failed.error, asked, unknown=unknown) from failed.__cause__
            except BethinkError as refused:
                final = _final(refused, asked, unknown=unknown)
                if final is refused:
                    raise
                raise final from refused
            await self._pause(pause)
            attempt += 1

    async def download(self, path: str, sink: BinaryIO) -> None:
        """Write the body of an answer to a file as it comes. It is not sent again: the caller starts over."""
        if self._http is None:
            raise Unavailable("the client is not open.", hint="Use it inside an async with block.")
        import httpx2  # noqa: PLC0415 - as above

        timeout = httpx2.Timeout(self._timeout, read=None)  # a large space takes a while before it begins
        try:
            async with self._http.stream("GET", self._url + path, timeout=timeout) as response:
                if not response.is_success:
                    raise error_for(response.status_code, await response.aread(), reads=True)[0]
                async for chunk in response.aiter_bytes():
                    sink.write(chunk)
        except httpx2.TransportError as error:
            raise Unavailable(
                f"the connection to {self._told} was lost.", hint="Nothing was changed; retry."
            ) from error

    async def events(self, asked: HttpCall) -> AsyncIterator[tuple[str, bytes]]:
        """Send a request and yield the events of its answer as they come. It is not sent again."""
        if self._http is None:
            raise Unavailable("the client is not open.", hint="Use it inside an async with block.")
        import httpx2  # noqa: PLC0415 - as above

        timeout = httpx2.Timeout(self._timeout, read=None)
        headers = {"content-type": "application/json"}
        body, name = _body(asked.body or {}), ""
        try:
            async with self._http.stream(
                asked.method, self._url + asked.path, content=body, headers=headers, timeout=timeout
            ) as response:
                if not response.is_success:
                    raise error_for(response.status_code, await response.aread(), reads=asked.reads)[0]
                async for line in response.aiter_lines():
                    field, _, value = line.partition(": ")
                    if field == "event":
                        name = value
                    elif field == "data":
                        yield name, value.encode()
        except httpx2.TransportError as error:
            raise lost(f"the connection to {self._told} was lost.", reads=asked.reads) from error

    async def _once(self, asked: HttpCall) -> "httpx2.Response":
        if self._http is None:
            raise Unavailable("the client is not open.", hint="Use it inside an async with block.")
        import httpx2  # noqa: PLC0415 - as above

        body = None if asked.body is None else _body(asked.body)
        headers = None if body is None else {"content-type": "application/json"}
        timeout = httpx2.Timeout(self._timeout, read=self._timeout + asked.waits if asked.timed else None)
        try:
            response = await self._http.request(
                asked.method, self._url + asked.path, content=body, headers=headers, timeout=timeout
            )
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            away = Unavailable(
                f"the server at {self._told} cannot be reached.", hint="Check its address, and whether it runs."
            )
            raise _Failed(away, unknown=False) from error
        except httpx2.TransportError as error:
            gone = lost("the connection to the server was lost before it answered.", reads=asked.reads)
            raise _Failed(gone, unknown=True) from error
        if response.is_success:
            return response
        raise _refusal(response, asked)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _without_credentials(url: str) -> str:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def _refusal(response: "httpx2.Response", asked: HttpCall) -> Exception:
    error, nothing_done = error_for(response.status_code, response.content, reads=asked.reads)
    wait = _seconds(response.headers.get("retry-after"))
    if nothing_done:
        return _Failed(error, unknown=False, wait=wait)
    if isinstance(error, (OutcomeUnknown, Unavailable)) and response.status_code != 500:
        return _Failed(error, unknown=True, wait=wait)
    return error


def _final(error: BethinkError, asked: HttpCall, *, unknown: bool) -> BethinkError:
    # Whatever the last attempt was told, an earlier one may have been carried out.
    if unknown and not asked.reads and not isinstance(error, OutcomeUnknown):
        return OutcomeUnknown(f"an earlier attempt may have been carried out; the last one was told: {error.args[0]}")
    return error


def queried(query: Mapping[str, object]) -> str:
    """Write the fields of a request as a query, with its question mark."""
    given = {name: _spelt(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _spelt(value: object) -> str:
    if isinstance(value, (bool, list, dict)):
        return clean(json.dumps(value, ensure_ascii=False))
    return clean(str(value))


def path_of(template: str, names: Mapping[str, str]) -> str:
    """Fill names into a path below /v1. No name can step out of its place."""
    parts = (_step(names[part[1:-1]]) if part.startswith("{") else part for part in template.split("/"))
    return "/v1" + "/".join(parts)


def _step(name: str) -> str:
    if not name:
        raise Invalid("an id is empty.", hint="Give the id as it was returned.")
    return quote(clean(name), safe="") if name.strip(".") else name.replace(".", "%2E")


def _body(given: Mapping[str, object]) -> bytes:
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Invalid(
            f"not JSON: {error}.", hint="Use objects, lists, strings, finite numbers and booleans."
        ) from error
    return clean(text).encode()


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None
