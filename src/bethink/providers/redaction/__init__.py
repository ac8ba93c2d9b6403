"""Replace secrets in texts with typed placeholders that contain a keyed fingerprint."""

import re
from collections.abc import Callable, Collection
from hashlib import blake2b
from secrets import token_bytes

from bethink.providers.redaction.search import find_secrets

_PLACEHOLDER = re.compile(r"(\[REDACTED:[a-z_]{1,40}:[0-9a-f]{4}\])")
_TAG = re.compile(r"(?:<|\\u003c)(\\?/)?private[ \t]{0,4}(?:>|\\u003e)", re.IGNORECASE | re.ASCII)
_ROUNDS = 3
_MIN_LENGTH = 4
_MAX_CACHED = 64
_PROCESS_KEY = token_bytes(32)
"""Default key. Without a database, fingerprints are valid only in this process."""


class SecretRedactor:
    """Replaces secrets with `[REDACTED:kind:ab12]`. Equal secrets get equal placeholders, which do not reveal them."""

    def __init__(self, key: bytes | Callable[[], bytes], *, also: Collection[str] = ()) -> None:
        """Use a key for fingerprints. The redactor also removes personal numbers of the kinds in `also`."""
        self._source = key
        self._also = frozenset(also)
        self._key = b""

    def redact(self, text: str) -> str:
        """Return the text without secrets and `<private>` parts. Redacting it again changes nothing."""
        if _TAG.search(text):
            text = _without_private(text)
        if "[REDACTED:" not in text:
            return self._cut(text, _ROUNDS, set())
        # Every other piece is a placeholder. The pieces between are checked separately, as in a second run.
        pieces = _PLACEHOLDER.split(text)
        clean: set[str] = set()
        pieces[::2] = [self._cut(piece, _ROUNDS, clean) for piece in pieces[::2]]
        return "".join(pieces)

    def _cut(self, text: str, rounds: int, clean: set[str]) -> str:
        """Return the text without secrets. `clean` caches short pieces without secrets."""
        if len(text) < _MIN_LENGTH or text in clean:
            return text
        spans = find_secrets(text, self._also)
        if not spans:
            if len(text) <= _MAX_CACHED:
                clean.add(text)
            return text
        if not rounds:
            return self._placeholder("text", text)
        done: list[str] = []
        last = 0
        for start, end, kind in spans:
            # The other parts are checked again, so that a second run over the result changes nothing.
            done += (self._cut(text[last:start], rounds - 1, clean), self._placeholder(kind, text[start:end]))
            last = end
        return "".join([*done, self._cut(text[last:], rounds - 1, clean)])

    def fingerprint(self, text: str, *, size: int = 8) -> str:
        """Return a keyed digest of a text in hexadecimal. Equal texts have equal digests."""
        if not self._key:
            source_key = self._source if isinstance(self._source, bytes) else self._source()
            self._key = blake2b(source_key, digest_size=32).digest() if source_key else b""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, key=self._key or _PROCESS_KEY, digest_size=size).hexdigest()

    def _placeholder(self, kind: str, secret: str) -> str:
        return f"[REDACTED:{kind}:{self.fingerprint(secret, size=2)}]"


def _without_private(text: str) -> str:
    for _ in range(_ROUNDS):
        parts: list[str] = []
        depth = last = 0
        for tag in _TAG.finditer(text):
            if not tag[1]:
                if depth == 0:
                    parts.append(text[last : tag.start()])
                depth += 1
            elif depth:
                depth -= 1
                last = tag.end()
        if not parts:
            return text
        text = "".join(parts) + ("" if depth else text[last:])
    # If removing tags keeps producing new tags, cut the text at the first one.
    first = next((tag.start() for tag in _TAG.finditer(text) if not tag[1]), len(text))
    return text[:first]
