"""The network of the multilingual model: one vector for a text. It imports numpy, so import it only to embed.

It is the Universal Sentence Encoder (multilingual, version 3): each token's vector next to what three convolutions make
of its neighbors, then four dense layers on the sum. That is small enough to run without an ONNX runtime, which would
take 65 MB more on disk and 150 MB more of memory. Weights are int8, activations are floats: a text has the same vector
whatever is embedded with it.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]
from sentencepiece import SentencePieceProcessor
from threadpoolctl import ThreadpoolController  # pyright: ignore[reportMissingTypeStubs]

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.model.text import clean
from bethink.providers.local_extra import MODEL_HINT

Floats = NDArray[np.float32]

_CHARACTERS_PER_TOKEN = 8
_WINDOWS = {2: (0, 2), 3: (-1, 2), 5: (-2, 3)}
"""The neighbors that each convolution reads: the first, and the one after the last."""
_BARELY = np.float32(1e-12)


@frozen
class _Convolution:
    """What is made of each token and its neighbors: a projection, then two layers that each add to it."""

    first: int
    end: int
    project: Floats
    project_bias: Floats
    gain: Floats
    bias: Floats
    layers: Sequence[tuple[Floats, Floats]]

    def run(self, tokens: Floats) -> Floats:
        state = _normalize(tokens @ self.project + self.project_bias, self.gain, self.bias)
        for weights, bias in self.layers:
            padded = np.zeros((len(state) - self.first + self.end - 1, state.shape[1]), dtype=np.float32)
            padded[-self.first : len(state) - self.first] = state
            around = [padded[offset : offset + len(state)] for offset in range(self.end - self.first)]
            state = state + np.maximum(np.concatenate(around, axis=1) @ weights + bias, 0)
        return state


class GramEncoder:
    """The open files of the model. The table is mapped, so only the rows of tokens that occur take memory."""

    def __init__(self, table: Path, layers: Path, tokenizer: Path, *, max_tokens: int) -> None:
        try:
            self._table = np.load(table, mmap_mode="r", allow_pickle=False)
            arrays = _read_layers(layers)
            self._scale, self._zero = arrays["table.scale"], arrays["table.zero"]
            self._convolutions = [_convolution(arrays, order) for order in _WINDOWS]
            self._norm = arrays["norm.gain"], arrays["norm.bias"]
            self._mix = arrays["mix"], arrays["mix.bias"]
            self._hidden = [arrays[f"hidden{depth}"] for depth in range(4)]
            self._skips = arrays["skip1"], arrays["skip3"]
            self._tokenizer = SentencePieceProcessor(model_file=str(tokenizer))
            self._check()
        except (OSError, RuntimeError, ValueError, KeyError, SafetensorError) as error:
            raise ConfigurationError(
                f"Cannot read the model in {table.parent.name!r}.", hint=f"Install it again. {MODEL_HINT}"
            ) from error
        self._max_tokens = max_tokens
        self._threads = cast("Any", ThreadpoolController())  # it has no type hints
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Number of values per vector."""
        return self._hidden[3].shape[1]

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length one for each text."""
        encoded = [self._tokens(text) for text in texts]
        # Matrices are this small that several threads only wait for each other, at the cost of all cores. The limit is
        # one of the process, so only one thread at a time may set it and set it back.
        with self._lock, self._threads.limit(limits=1, user_api="blas"):
            return [self._vector(np.array(tokens)).tolist() for tokens in encoded]

    def _tokens(self, text: str) -> list[int]:
        text = clean(text[: self._max_tokens * _CHARACTERS_PER_TOKEN])
        inner = self._tokenizer.encode(text)[: self._max_tokens - 2]
        return [self._tokenizer.bos_id(), *inner, self._tokenizer.eos_id()]

    def _check(self) -> None:
        if self._table.ndim != 2 or len(self._table) < self._tokenizer.vocab_size():
            raise ValueError("the table does not match the tokenizer")

    def _vector(self, ids: NDArray[np.int64]) -> Floats:
        shard = ids % len(self._scale)
        tokens = (self._table[ids] - self._zero[shard, None]) * self._scale[shard, None]
        parts = [tokens, *(convolution.run(tokens) for convolution in self._convolutions)]
        weights, bias = self._mix
        mixed = _normalize(np.concatenate(parts, axis=1), *self._norm) @ weights + bias
        text = mixed.sum(axis=0) / np.sqrt(np.float32(len(ids)))
        first = np.maximum(text @ self._hidden[0], 0)
        second = np.maximum(first @ self._hidden[1] + text @ self._skips[0], 0)
        third = np.maximum(second @ self._hidden[2], 0)
        vector = np.tanh(third @ self._hidden[3] + second @ self._skips[1])
        return vector / np.maximum(np.linalg.norm(vector), _BARELY)


def _read_layers(file: Path) -> dict[str, Floats]:
    """Return the layers as floats: a matrix is stored in int8, with its scale under its name and `.scale`."""
    arrays = load_file(file)
    return {
        name: array.astype(np.float32) * (arrays[f"{name}.scale"] if array.dtype == np.int8 else np.float32(1))
        for name, array in arrays.items()
    }


def _convolution(arrays: dict[str, Floats], order: int) -> _Convolution:
    name = f"grams{order}"
    first, end = _WINDOWS[order]
    return _Convolution(
        first=first,
        end=end,
        project=arrays[f"{name}.project"],
        project_bias=arrays[f"{name}.project.bias"],
        gain=arrays[f"{name}.norm.gain"],
        bias=arrays[f"{name}.norm.bias"],
        layers=[(arrays[f"{name}.{layer}"], arrays[f"{name}.{layer}.bias"]) for layer in ("first", "second")],
    )


def _normalize(values: Floats, gain: Floats, bias: Floats) -> Floats:
    centered = values - values.mean(axis=1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axis=1, keepdims=True) + _BARELY) * gain + bias
