"""Names in a path may contain a slash, sent as %2F. It is kept apart from the slashes between names."""

import re
from urllib.parse import unquote

from starlette.types import Scope

_STAND_IN = "\udc2f"
"""Stands for such a slash while a path is matched. A decoded path never contains it."""

_ENCODED = re.compile(rb"%2[fF]")


def escaped(scope: Scope) -> Scope:
    """Return a request whose path has a stand-in for every slash that was sent as part of a name.

    The original is left alone: the server that called us may write its path to a log.
    """
    raw: bytes = scope.get("raw_path") or b""
    if b"%2" not in raw or b"%2F" not in raw.upper():
        return scope
    parts = _ENCODED.split(raw.partition(b"?")[0])
    return {**scope, "path": _STAND_IN.join(unquote(part.decode("latin-1")) for part in parts)}


def unescaped(text: str) -> str:
    """Put the slashes back into a name or a path."""
    return text.replace(_STAND_IN, "/")
