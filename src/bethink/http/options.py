"""Server options: allowed hosts and limits."""

from bethink.base.frozen import frozen
from bethink.config.groups import split_list
from bethink.config.settings import Settings


@frozen
class ServerOptions:
    """The limits of a server. `allowed_hosts` are names without a port; `*` allows any. `mcp` also serves /mcp."""

    allowed_hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "[::1]"})
    allowed_origins: frozenset[str] = frozenset()
    max_body: int = 1_000_000
    max_message: int = 65_536
    max_messages: int = 100
    max_depth: int = 32
    rate: float = 200.0
    burst: int = 400
    max_concurrency: int = 256
    max_wait: float = 60.0
    mcp: bool = True


def options_from(settings: Settings) -> ServerOptions:
    """Return the options in the settings."""
    return ServerOptions(
        allowed_hosts=_names(settings.server.allowed_hosts),
        allowed_origins=_names(settings.server.allowed_origins),
        max_body=settings.server.max_body,
        max_message=settings.server.max_message,
        max_messages=settings.server.max_messages,
        max_depth=settings.server.max_depth,
        rate=settings.server.rate_limit,
        burst=settings.server.burst,
        max_concurrency=settings.server.max_concurrency,
        max_wait=settings.server.max_wait,
    )


def _names(setting: str) -> frozenset[str]:
    return frozenset(map(str.lower, split_list(setting)))
