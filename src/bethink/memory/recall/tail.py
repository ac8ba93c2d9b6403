"""The tail: texts so new that no worker has embedded them yet. Recall embeds the newest itself if that is quick."""

import hashlib
import threading
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import field
from operator import mul
from struct import pack, unpack

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import ModelError
from bethink.extend import Embedder
from bethink.memory.recall.passages import passages
from bethink.memory.recall.reindex import gives_way
from bethink.model.recall import Ref
from bethink.store import vectors
from bethink.store.db import Tx
from bethink.store.search import Survey
from bethink.store.vectors import IndexStatus, Unembedded

_log = logger("recall")
_LOOKED = 256
_EXACT = 2_000
_KEPT = 2_048


@frozen
class Tail:
    """What the newest texts say to a question: their similarities, and what could not be compared, in words."""

    near: Mapping[Ref, float] = field(default_factory=dict[Ref, float])
    missing: str | None = None


def unembedded(tx: Tx, *, space: str, embedder: Embedder, survey: Survey) -> list[Unembedded]:
    """Return the newest texts without a vector, at most 256; none if the embedder's vectors are not in use here."""
    known = vectors.indexes(tx)
    index = next((each for each in known if each.embedder == embedder.name), None)
    if index is None and (gives_way(embedder, known) is not None or not vectors.available(tx)):
        return []
    if index is not None and index.status is IndexStatus.RETIRED:
        return []
    # In a large space only messages are looked for: what else is new has been queued for a worker.
    exact = survey.size.passages <= _EXACT
    return vectors.newest_missing(tx, space=space, index=index, limit=_LOOKED, exact=exact)


async def compare(embedder: Embedder, question: Sequence[float], waiting: Sequence[Unembedded]) -> Tail:
    """Embed as many texts as the embedder allows while a question waits, newest first, and compare them with it.

    That is `embedder.at_once` parts of texts; an embedder without that attribute is not asked. One that fails here has
    answered the question before: then these texts are left to words.
    """
    left, taken = getattr(embedder, "at_once", 0), list[tuple[Ref, list[str]]]()
    for each in waiting:
        parts = passages(each)
        left -= len(parts)
        if left < 0:
            break
        taken.append((each.ref, parts))
    try:
        made = await _made(embedder, [part for _, parts in taken for part in parts])
    except (ModelError, OSError, ValueError) as error:
        _log.warning("the newest texts are searched by words: %s", type(error).__name__)
        taken, made = [], {}
    alike = _similarities(question, made) if made else {}
    near = {ref: max(alike[part] for part in parts) for ref, parts in taken}
    return Tail(near=near, missing=_told(len(waiting) - len(taken), more=len(waiting) == _LOOKED))


def _told(count: int, *, more: bool) -> str | None:
    if not count:
        return None
    texts = "text has" if count == 1 and not more else "texts have"
    return f"{count}{' or more' if more else ''} new {texts} no vector yet; searched by words"


def _similarities(question: Sequence[float], made: "Mapping[str, array[float]]") -> dict[str, float]:
    try:
        import numpy  # noqa: PLC0415 - most processes never compare vectors
    except ImportError:  # an embedder of one's own may do without
        return {text: sum(map(mul, question, vector)) for text, vector in made.items()}
    table = numpy.frombuffer(b"".join(made.values()), dtype=numpy.float32).reshape(len(made), -1)
    # Not a product of matrices: a similarity must not depend on what else is compared.
    return dict(zip(made, (table * numpy.asarray(question)).sum(axis=1).tolist(), strict=True))


class _Recent:
    """The vectors that were made last, so that texts which wait for a worker are not embedded for every question."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[bytes, array[float]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: bytes) -> "array[float] | None":
        with self._lock:
            return self._vectors.get(key)

    def keep(self, key: bytes, vector: Sequence[float]) -> "array[float]":
        with self._lock:
            # Rounded as the databases do, so that nothing changes when a worker has stored it.
            halves = f"<{len(vector)}e"
            self._vectors[key] = array("f", unpack(halves, pack(halves, *vector)))
            if len(self._vectors) > _KEPT:
                self._vectors.popitem(last=False)
            return self._vectors[key]


_recent = _Recent()


async def _made(embedder: Embedder, texts: Sequence[str]) -> "dict[str, array[float]]":
    keys = {text: hashlib.blake2b(f"{embedder.name}\n{text}".encode(), digest_size=16).digest() for text in texts}
    found = {text: vector for text, key in keys.items() if (vector := _recent.find(key)) is not None}
    new = [text for text in keys if text not in found]
    if new:
        for text, vector in zip(new, await embedder.embed(new, kind="message"), strict=True):
            found[text] = _recent.keep(keys[text], vector)
    return found
