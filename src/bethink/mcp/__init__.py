"""MCP server: memory operations as tools, over stdio and streamable HTTP."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bethink.mcp.grant import Grant
    from bethink.mcp.server import make_server
    from bethink.mcp.stdio import run_stdio
    from bethink.mcp.streamable import http_app

__all__ = ["Grant", "http_app", "make_server", "run_stdio"]

_MODULES = {"Grant": "grant", "http_app": "streamable", "make_server": "server", "run_stdio": "stdio"}


def __getattr__(name: str) -> Any:
    # The MCP package takes over a second to load, so it is loaded only for serving.
    if name in _MODULES:
        return getattr(import_module(f"bethink.mcp.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
