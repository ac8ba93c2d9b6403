"""The HTTP server: the verbs of a Memory behind keys, limits and an OpenAPI."""

from bethink.server.app import create_app, serve
from bethink.server.options import ServerOptions

__all__ = ["ServerOptions", "create_app", "serve"]
