"""The table of a static model, and the lookup of texts in it. It imports numpy, so import it only to embed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]
from tokenizers import Tokenizer

from bethink.errors import ConfigurationError
from bethink.model.text import clean

_MAX_TOKENS = 512
_TABLES = ("embeddings", "embedding.weight")  # the names in model2vec and in sentence-transformers


class StaticTable:
    """A vector for each token, with optional weights and optional rows that tokens share."""

    def __init__(self, table: Path, tokenizer: Path, config: Path | None) -> None:
        try:
            arrays = load_file(table)
            self._table = next(arrays[name] for name in _TABLES if name in arrays)
            self._weights = arrays.get("weights")
            self._rows = arrays.get("mapping")
            max_tokens = (
                json.loads(config.read_text(encoding="utf-8")).get("max_length") if config is not None else None
            )
            self._read_tokenizer(tokenizer, max_tokens or _MAX_TOKENS)
        except Exception as error:  # tokenizers raises plain Exception
            raise ConfigurationError(
                f"Cannot read {table.parent.name!r} as a static model.", hint="Save it again with model2vec."
            ) from error

    def _read_tokenizer(self, file: Path, max_tokens: int) -> None:
        text = file.read_text(encoding="utf-8")
        self._tokenizer = Tokenizer.from_str(text)
        self._unknown = _unknown_of(json.loads(text)["model"])
        vocabulary = self._tokenizer.get_vocab(with_added_tokens=True)
        tokens = len(self._table if self._rows is None else self._rows)
        if self._table.ndim != 2 or tokens < len(vocabulary):
            raise ValueError("the table does not match the tokenizer")
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)  # pyright: ignore[reportUnknownMemberType]
        # Truncate texts as model2vec does, to get the same vectors.
        self._longest = max_tokens * int(np.median([len(token) for token in vocabulary]))

    @property
    def dimension(self) -> int:
        """Number of values per vector."""
        return self._table.shape[1]

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length one for each text."""
        vectors = np.stack([self._mean(text) for text in texts])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        # A text without known words gets the last axis, on which known texts differ least.
        vectors[lengths[:, 0] == 0, -1] = 1
        return (vectors / np.where(lengths == 0, 1, lengths)).tolist()

    def _mean(self, text: str) -> NDArray[np.float64]:
        # Not encode_batch: its thread pool uses every core, and does not survive a fork.
        encoded = self._tokenizer.encode(clean(text[: self._longest]), add_special_tokens=False).ids
        tokens = [token for token in encoded if token != self._unknown]
        if not tokens:
            return np.zeros(self.dimension)
        vectors = self._table[tokens if self._rows is None else self._rows[tokens]].astype(np.float64)
        if self._weights is not None:
            vectors *= self._weights[tokens][:, None]
        return vectors.mean(axis=0)


def _unknown_of(model: dict[str, Any]) -> int | None:
    token = model.get("unk_token")
    return model.get("unk_id") if token is None else model["vocab"].get(token)
