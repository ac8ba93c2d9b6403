"""What every client of an OpenAI-compatible server shares: its key, its address, and how it fails."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from openai import APIStatusError, AsyncOpenAI, OpenAIError

from bethink.errors import Misconfigured
from bethink.providers.http_errors import bounded, check_address, check_key, from_status, unreachable

_NO_KEY = "none"


class OpenAIServer:
    """Where a server is and how to get in. Without a key, `OPENAI_API_KEY` is used; a local server needs none."""

    def __init__(self, *, base_url: str = "", api_key: str = "") -> None:
        self.address = base_url or os.environ.get("OPENAI_BASE_URL", "")
        key = api_key or os.environ.get("OPENAI_API_KEY", "")
        if self.address:
            check_address(self.address)
        if not (key or self.address):
            raise Misconfigured(
                "OpenAI needs an API key.", hint="Set OPENAI_API_KEY, or give the base_url of a server of your own."
            )
        check_key(key)
        self._base_url = base_url or None
        self._api_key = api_key or (None if key else _NO_KEY)

    def client(self) -> AsyncOpenAI:
        """Return a client for one call, to be closed after it."""
        # A client belongs to the event loop it was first used in, and the next call may come from another.
        # It is given no time limit of its own: one would start anew with every byte that arrives.
        return AsyncOpenAI(api_key=self._api_key, base_url=self._base_url, timeout=None, max_retries=0)


@contextmanager
def asking(model: str, timeout: float) -> Generator[None]:
    """Give a call so many seconds, and turn what the client raises into our errors."""
    with bounded(model, timeout):
        try:
            yield
        except APIStatusError as error:
            raise from_status(model, error.status_code, error.response.headers, error.body) from None
        except OpenAIError:
            raise unreachable(model) from None
