"""An open ONNX model and its tokenizer. It imports numpy and onnxruntime, so import it only to embed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bethink.errors import BadAnswer, Misconfigured
from bethink.model.text import clean

Floats = NDArray[np.float32]

_MAX_CHARACTERS = 16_384
_BATCH_TEXTS = 50
_BATCH_TOKENS = 4_096
_HIDDEN = ("last_hidden_state", "token_embeddings")
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """The tokens of one text. `spoken` are the positions of the tokens that are not special tokens."""

    ids: list[int]
    spoken: list[int]


class OnnxSession:
    """Runs a model on batches of texts. It is thread-safe."""

    def __init__(self, model: Path, tokenizer: Path, *, max_tokens: int, threads: int) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            self._session = _session(model, threads)
        except Exception as error:  # neither package has a base class for its errors
            raise Misconfigured(
                f"cannot read {model.name} or {tokenizer.name}.", hint="Check that both files are complete."
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)  # pyright: ignore[reportUnknownMemberType]
        self._inputs = {each.name for each in self._session.get_inputs()}
        outputs = {each.name: each.shape for each in self._session.get_outputs() if len(each.shape) == 3}
        found = [name for name in (*_HIDDEN, *outputs) if name in outputs]
        if not found or not isinstance(outputs[found[0]][2], int) or not {"input_ids"} <= self._inputs <= _INPUTS:
            raise Misconfigured(
                f"{model.name} does not return a vector for each token.", hint="Export it for feature extraction."
            )
        self._output = found[0]
        self.name = model.name
        self.dimension: int = outputs[self._output][2]

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the tokens of each text, as many as the model reads."""
        return [self._encode(text) for text in texts]

    def _encode(self, text: str) -> Encoded:
        # Not encode_batch: its thread pool uses every core, and does not survive a fork.
        found = self._tokenizer.encode(clean(text[:_MAX_CHARACTERS]))
        spoken = [position for position, special in enumerate(found.special_tokens_mask) if not special]
        return Encoded(ids=found.ids or [0], spoken=spoken)  # some tokenizers return no tokens for an empty text

    def batches(self, encoded: Sequence[Encoded]) -> list[list[int]]:
        """Return the indexes of texts in batches of similar length: little padding, and little memory per batch."""
        batches: list[list[int]] = []
        for row in sorted(range(len(encoded)), key=lambda row: len(encoded[row].ids)):
            last = batches[-1] if batches else None
            if last is not None and len(last) < min(_BATCH_TEXTS, _BATCH_TOKENS // len(encoded[row].ids)):
                last.append(row)
            else:
                batches.append([row])
        return batches

    def means(self, batch: Sequence[Encoded]) -> list[list[float]]:
        """Return the mean of the token vectors of each text, scaled to length one."""
        hidden, mask = self._run(batch)
        counted = mask[:, :, None].astype(np.float32)
        return _unit((hidden * counted).sum(axis=1) / counted.sum(axis=1)).tolist()

    def tokens(self, batch: Sequence[Encoded]) -> list[Floats]:
        """Return the vectors of the spoken tokens of each text, scaled to length one."""
        hidden, _ = self._run(batch)
        return [_unit(hidden[row, each.spoken]) for row, each in enumerate(batch)]

    def matches(self, question: Floats, batch: Sequence[Encoded]) -> list[float]:
        """Return the MaxSim of each text: the mean, over the tokens of the question, of the best similarity."""
        return [float((question @ text.T).max(axis=1).mean()) if text.size else 0.0 for text in self.tokens(batch)]

    def _run(self, batch: Sequence[Encoded]) -> tuple[Floats, NDArray[np.int64]]:
        longest = max(len(each.ids) for each in batch)
        ids, mask = np.zeros((2, len(batch), longest), dtype=np.int64)
        for row, each in enumerate(batch):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            found = self._session.run([self._output], {name: inputs[name] for name in self._inputs})[0]
        except Exception as error:  # onnxruntime has no base class for its errors
            raise self._useless() from error
        hidden = cast("Floats", found.astype(np.float32))
        if not np.isfinite(hidden[mask == 1]).all():
            raise self._useless()
        return hidden, mask

    def _useless(self) -> BadAnswer:
        return BadAnswer(f"{self.name} cannot embed this text.", hint="Check that the tokenizer belongs to the model.")


def _session(model: Path, threads: int) -> Any:
    runtime = cast("Any", onnxruntime)  # it has no type hints
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.add_session_config_entry(
        "session.intra_op.allow_spinning", "0"
    )  # spinning keeps a core busy while it waits
    runtime.disable_telemetry_events()  # official builds for Windows have telemetry
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-12)
