"""Static files of the web UI: read once, versioned by content, cached permanently."""

import gzip
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import NamedTuple

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_COMPRESSED = (".css", ".js", ".svg", ".txt")


class StaticFile(NamedTuple):
    """A file to send, also compressed if that makes it smaller."""

    media_type: str
    plain: bytes
    packed: bytes | None


@cache
def files() -> dict[str, StaticFile]:
    """Return every static file by its name."""
    by_name: dict[str, StaticFile] = {}
    for file in sorted((resources.files("bethink.web") / "static").iterdir(), key=lambda entry: entry.name):
        ending = file.name[file.name.rfind(".") :]
        if ending in _TYPES:
            plain = file.read_bytes()
            packed = gzip.compress(plain, 9, mtime=0) if ending in _COMPRESSED else None
            by_name[file.name] = StaticFile(_TYPES[ending], plain, packed)
    return by_name


@cache
def version() -> str:
    """Return a short digest of all static files. It is part of their address, so a change gives a new one."""
    digest = sha256()
    for name, file in files().items():
        digest.update(name.encode() + b"\0" + file.plain)
    return digest.hexdigest()[:12]
