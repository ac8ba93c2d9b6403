"""The HTTP server: the operations of a memory behind keys, limits and an OpenAPI."""

from bethink.http.app import create_app, serve
from bethink.http.options import ServerOptions

__all__ = ["ServerOptions", "create_app", "serve"]
