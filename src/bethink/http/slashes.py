"""Names in a path may contain a slash, sent as %2F. This module distinguishes it from the slashes between names."""

import re
from urllib.parse import unquote

from starlette.types import Scope

_STAND_IN = "\udc2f"
"""Placeholder of such a slash while a path is matched. A decoded path never contains it."""

_ENCODED = re.compile(rb"%2[fF]")


def protect_slashes(scope: Scope) -> Scope:
    """Return a request whose path has a placeholder for every slash inside a name.

    The original stays unchanged, because the server may log its path.
    """
    raw: bytes = scope.get("raw_path") or b""
    if b"%2" not in raw or b"%2F" not in raw.upper():
        return scope
    parts = _ENCODED.split(raw.partition(b"?")[0])
    return {**scope, "path": _STAND_IN.join(unquote(part.decode("latin-1")) for part in parts)}


def restore_slashes(text: str) -> str:
    """Put the slashes back into a name or a path."""
    return text.replace(_STAND_IN, "/")
