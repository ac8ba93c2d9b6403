"""Cuts secrets out of every text: a typed placeholder with a keyed fingerprint takes the place of each."""

import re
from collections.abc import Callable
from hashlib import blake2b
from secrets import token_bytes

from bethink.providers.redaction_rules import secrets

_PLACEHOLDER = re.compile(r"(\[REDACTED:[a-z_]{1,40}:[0-9a-f]{4}\])")
_TAG = re.compile(r"(?:<|\\u003c)(\\?/)?private[ \t]{0,4}(?:>|\\u003e)", re.IGNORECASE | re.ASCII)
_ROUNDS = 3
_NOBODYS = token_bytes(32)
"""The key until there is one: what nobody keeps needs no link that outlives this process."""


class SecretRedactor:
    """Replaces secrets by `[REDACTED:kind:ab12]`: equal secrets get equal marks, and no mark leads back to a secret."""

    def __init__(self, key: bytes | Callable[[], bytes]) -> None:
        self._source = key
        self._key = b""

    def redact(self, text: str) -> str:
        """Return the text without its secrets and its `<private>` parts; what is redacted already stays as it is."""
        if _TAG.search(text):
            text = _without_private(text)
        if "[REDACTED:" not in text:
            return self._cut(text, _ROUNDS)
        # Every other piece is a placeholder; the pieces between them are looked at one by one, here as in a second run.
        pieces = _PLACEHOLDER.split(text)
        pieces[::2] = [self._cut(piece, _ROUNDS) for piece in pieces[::2]]
        return "".join(pieces)

    def _cut(self, text: str, rounds: int) -> str:
        spans = secrets(text)
        if not spans:
            return text
        if not rounds:
            return self._placeholder("text", text)
        done: list[str] = []
        last = 0
        for start, end, kind in spans:
            # What is left is looked at again, by itself: that makes a second run over the result change nothing.
            done += (self._cut(text[last:start], rounds - 1), self._placeholder(kind, text[start:end]))
            last = end
        return "".join([*done, self._cut(text[last:], rounds - 1)])

    def _placeholder(self, kind: str, secret: str) -> str:
        if not self._key:
            given = self._source if isinstance(self._source, bytes) else self._source()
            self._key = blake2b(given, digest_size=32).digest() if given else b""
        mark = blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key or _NOBODYS, digest_size=2).hexdigest()
        return f"[REDACTED:{kind}:{mark}]"


def _without_private(text: str) -> str:
    for _ in range(_ROUNDS):
        kept: list[str] = []
        depth = last = 0
        for tag in _TAG.finditer(text):
            if not tag[1]:
                if depth == 0:
                    kept.append(text[last : tag.start()])
                depth += 1
            elif depth:
                depth -= 1
                last = tag.end()
        if not kept:
            return text
        text = "".join(kept) + ("" if depth else text[last:])
    # A text that grows new tags out of what is left of the old ones is cut at the first of them.
    first = next((tag.start() for tag in _TAG.finditer(text) if not tag[1]), len(text))
    return text[:first]
