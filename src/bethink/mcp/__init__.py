"""The MCP server: operations of memory as tools, over stdio and streamable HTTP."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bethink.mcp.grant import Grant
    from bethink.mcp.server import make_server
    from bethink.mcp.stdio import run_stdio
    from bethink.mcp.streamable import http_app

__all__ = ["Grant", "http_app", "make_server", "run_stdio"]

_HOME = {"Grant": "grant", "http_app": "streamable", "make_server": "server", "run_stdio": "stdio"}


def __getattr__(name: str) -> Any:
    # The protocol's package takes over a second to load, so only serving loads it.
    if name in _HOME:
        return getattr(import_module(f"bethink.mcp.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
