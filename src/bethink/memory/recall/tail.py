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
from bethink.memory.recall.reindex import find_protected_index
from bethink.model.refs import Ref
from bethink.store import vectors
from bethink.store.db import Tx
from bethink.store.search import Survey
from bethink.store.vectors import IndexStatus, Unembedded

_log = logger("recall")
_MAX_TEXTS = 256
_EXACT_UP_TO = 2_000
_CACHE_SIZE = 2_048


@frozen
class Tail:
    """The similarities of the newest texts to a question, and a note on the texts that were not compared."""

    near: Mapping[Ref, float] = field(default_factory=dict[Ref, float])
    note: str | None = None


def find_unembedded(tx: Tx, *, space: str, embedder: Embedder, survey: Survey) -> list[Unembedded]:
    """Return the newest texts without a vector, at most 256; none if the vectors of this embedder are not in use."""
    indexes = vectors.indexes(tx)
    index = next((candidate for candidate in indexes if candidate.embedder == embedder.name), None)
    if index is None and (find_protected_index(embedder, indexes) is not None or not vectors.available(tx)):
        return []
    if index is not None and index.status is IndexStatus.RETIRED:
        return []
    # In a large space, only look for messages: other new texts are queued for a worker.
    exact = survey.size.passages <= _EXACT_UP_TO
    return vectors.newest_missing(tx, space=space, index=index, limit=_MAX_TEXTS, exact=exact)


async def compare(embedder: Embedder, question: Sequence[float], waiting: Sequence[Unembedded]) -> Tail:
    """Embed as many texts as the embedder allows during a search, newest first, and compare them with the question.

    The limit is `embedder.at_once` parts of texts; an embedder without that attribute embeds none. If the embedder
    fails here, although it embedded the question, these texts are searched by words.
    """
    room, selected = getattr(embedder, "at_once", 0), list[tuple[Ref, list[str]]]()
    for source in waiting:
        parts = passages(source)
        room -= len(parts)
        if room < 0:
            break
        selected.append((source.ref, parts))
    try:
        vectors_by_text = await _embed_cached(embedder, [part for _, parts in selected for part in parts])
    except (ModelError, OSError, ValueError) as error:
        _log.warning("The newest texts are searched by words only: %s", type(error).__name__)
        selected, vectors_by_text = [], {}
    similarities = _similarities(question, vectors_by_text) if vectors_by_text else {}
    near = {ref: max(similarities[part] for part in parts) for ref, parts in selected}
    return Tail(near=near, note=_pending_note(len(waiting) - len(selected), more=len(waiting) == _MAX_TEXTS))


def _pending_note(count: int, *, more: bool) -> str | None:
    if not count:
        return None
    texts = "text has" if count == 1 and not more else "texts have"
    return f"{count}{' or more' if more else ''} new {texts} no vector yet. Searched by words only."


def _similarities(question: Sequence[float], vectors_by_text: "Mapping[str, array[float]]") -> dict[str, float]:
    try:
        import numpy  # noqa: PLC0415 - most processes never compare vectors
    except ImportError:  # a custom embedder may not need it
        return {text: sum(map(mul, question, vector)) for text, vector in vectors_by_text.items()}
    table = numpy.frombuffer(b"".join(vectors_by_text.values()), dtype=numpy.float32).reshape(len(vectors_by_text), -1)
    # Not a product of matrices: a similarity must not depend on what else is compared.
    return dict(zip(vectors_by_text, (table * numpy.asarray(question)).sum(axis=1).tolist(), strict=True))


class _VectorCache:
    """A cache of recent vectors, so that texts that wait for a worker are not embedded for every question."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[bytes, array[float]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: bytes) -> "array[float] | None":
        with self._lock:
            return self._vectors.get(key)

    def store(self, key: bytes, vector: Sequence[float]) -> "array[float]":
        with self._lock:
            # Rounded as in the databases, so that scores do not change once a worker has stored it.
            halves = f"<{len(vector)}e"
            self._vectors[key] = array("f", unpack(halves, pack(halves, *vector)))
            if len(self._vectors) > _CACHE_SIZE:
                self._vectors.popitem(last=False)
            return self._vectors[key]


_cache = _VectorCache()


async def _embed_cached(embedder: Embedder, texts: Sequence[str]) -> "dict[str, array[float]]":
    keys = {text: hashlib.blake2b(f"{embedder.name}\n{text}".encode(), digest_size=16).digest() for text in texts}
    vectors_by_text = {text: vector for text, key in keys.items() if (vector := _cache.find(key)) is not None}
    new = [text for text in keys if text not in vectors_by_text]
    if new:
        for text, vector in zip(new, await embedder.embed(new, kind="message"), strict=True):
            vectors_by_text[text] = _cache.store(keys[text], vector)
    return vectors_by_text
