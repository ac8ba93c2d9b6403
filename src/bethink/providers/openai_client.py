"""Shared parts of clients for OpenAI-compatible servers: key, address and error handling."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from openai import APIStatusError, AsyncOpenAI, OpenAIError

from bethink.errors import ConfigurationError
from bethink.providers.http_errors import check_address, check_key, from_status, limit_call, unreachable_error

_NO_KEY = "none"


class OpenAIServer:
    """The address and the key of a server. The default key is `OPENAI_API_KEY`; with an address, it is optional.

    Raises `ConfigurationError` without both, or if one of them is invalid.
    """

    def __init__(self, *, base_url: str = "", api_key: str = "") -> None:
        self.address = base_url or os.environ.get("OPENAI_BASE_URL", "")
        key = api_key or os.environ.get("OPENAI_API_KEY", "")
        if self.address:
            check_address(self.address)
        if not (key or self.address):
            raise ConfigurationError(
                "OpenAI needs an API key.",
                hint="Set OPENAI_API_KEY, or `model_base_url` (`embedder_base_url`) for your own server.",
            )
        check_key(key)
        self._base_url = base_url or None
        self._api_key = api_key or (None if key else _NO_KEY)

    def client(self) -> AsyncOpenAI:
        """Return a client for one call. The caller closes it."""
        # A client belongs to the event loop of its first use, and the next call may come from another loop.
        # It gets no timeout of its own: that would start again with every byte that arrives.
        return AsyncOpenAI(api_key=self._api_key, base_url=self._base_url, timeout=None, max_retries=0)


@contextmanager
def limit_openai_call(model: str, timeout: float) -> Generator[None]:
    """Limit a call to `timeout` seconds, and turn the errors of the client into ours."""
    with limit_call(model, timeout):
        try:
            yield
        except APIStatusError as error:
            raise from_status(model, error.status_code, error.response.headers, error.body) from None
        except OpenAIError:
            raise unreachable_error(model) from None
