"""An open ONNX model and its tokenizer. It imports numpy and onnxruntime, so import it only to embed or rerank."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError, ModelResponseError
from bethink.model.text import clean
from bethink.providers.onnx_files import OnnxFiles

Floats = NDArray[np.float32]

_MAX_CHARACTERS = 16_384
_BATCH_TEXTS = 50
_BATCH_TOKENS = 4_096
_HIDDEN = ("last_hidden_state", "token_embeddings")
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


@frozen
class Encoded:
    """The tokens of one text, or of a pair. `positions` are those of the tokens that are not special."""

    ids: list[int]
    types: list[int]
    positions: list[int]


class OnnxSession:
    """Runs a model on batches of texts. It is thread-safe."""

    def __init__(self, files: OnnxFiles) -> None:
        files.manifest.check_files(files.home)
        try:
            self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
            self._session = _session(files.model, files.threads)
        except Exception as error:  # neither package has a base class for its errors
            raise ConfigurationError(
                f"Cannot read {files.model.name} or {files.tokenizer.name}.", hint="Check that both files are complete."
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(files.manifest.max_tokens)  # pyright: ignore[reportUnknownMemberType]
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}
        self._manifest = files.manifest
        self.name = files.model.name
        outputs = {tensor.name: tensor.shape for tensor in self._session.get_outputs()}
        self._output = self._output_of(outputs) if {"input_ids"} <= self._inputs <= _INPUTS else None
        if self._output is None:
            raise self._unsupported_model()

    def _output_of(self, shapes: dict[str, list[Any]]) -> str | None:
        """Return the name of the output to read; None if the model has none of the right shape."""
        raise NotImplementedError

    def _unsupported_model(self) -> ConfigurationError:
        raise NotImplementedError

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the tokens of each text, up to the maximum of the model."""
        # Not encode_batch: its thread pool uses every core, and does not survive a fork.
        return [_to_encoded(self._tokenizer.encode(_cut(text))) for text in texts]

    def batches(self, encoded: Sequence[Encoded]) -> list[list[int]]:
        """Return the indexes of texts in batches of similar length: little padding, and little memory per batch."""
        if self._manifest.one_at_a_time:
            return [[row] for row in range(len(encoded))]
        batches: list[list[int]] = []
        for row in sorted(range(len(encoded)), key=lambda row: len(encoded[row].ids)):
            last = batches[-1] if batches else None
            if last is not None and len(last) < min(_BATCH_TEXTS, _BATCH_TOKENS // len(encoded[row].ids)):
                last.append(row)
            else:
                batches.append([row])
        return batches

    def _run(self, batch: Sequence[Encoded]) -> tuple[Floats, NDArray[np.int64]]:
        longest = max(len(text.ids) for text in batch)
        ids, mask, types = np.zeros((3, len(batch), longest), dtype=np.int64)
        for row, text in enumerate(batch):
            ids[row, : len(text.ids)] = text.ids
            types[row, : len(text.ids)] = text.types
            mask[row, : len(text.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        try:
            output = self._session.run([self._output], {name: inputs[name] for name in self._inputs})[0]
        except Exception as error:  # onnxruntime has no base class for its errors
            raise self._inference_error() from error
        return cast("Floats", output.astype(np.float32)), mask

    def _inference_error(self) -> ModelResponseError:
        return ModelResponseError(
            f"{self.name} cannot embed this text.", hint="Check that the tokenizer belongs to the model."
        )


class OnnxVectors(OnnxSession):
    """A model that returns a vector for each token."""

    dimension: int = 0

    def _output_of(self, shapes: dict[str, list[Any]]) -> str | None:
        outputs = {name: shape for name, shape in shapes.items() if len(shape) == 3 and isinstance(shape[2], int)}
        output = next((name for name in (*_HIDDEN, *outputs) if name in outputs), None)
        self.dimension = outputs[output][2] if output is not None else 0
        return output

    def _unsupported_model(self) -> ConfigurationError:
        return ConfigurationError(
            f"{self.name} does not return a vector for each token.", hint="Export it for feature extraction."
        )

    def vectors(self, batch: Sequence[Encoded]) -> list[list[float]]:
        """Return the vector of each text, scaled to length one: the mean of its tokens, or that of the first one."""
        hidden, mask = self._hidden(batch)
        if self._manifest.pooling == "cls":
            return _unit(hidden[:, 0]).tolist()
        counted = mask[:, :, None].astype(np.float32)
        return _unit((hidden * counted).sum(axis=1) / counted.sum(axis=1)).tolist()

    def tokens(self, batch: Sequence[Encoded]) -> list[Floats]:
        """Return the vectors of the non-special tokens of each text, scaled to length one."""
        hidden, _ = self._hidden(batch)
        return [_unit(hidden[row, text.positions]) for row, text in enumerate(batch)]

    def matches(self, question: Floats, batch: Sequence[Encoded]) -> list[float]:
        """Return the MaxSim of each text: the mean, over the tokens of the question, of the best similarity."""
        return [float((question @ text.T).max(axis=1).mean()) if text.size else 0.0 for text in self.tokens(batch)]

    def _hidden(self, batch: Sequence[Encoded]) -> tuple[Floats, NDArray[np.int64]]:
        hidden, mask = self._run(batch)
        if not np.isfinite(hidden[mask == 1]).all():
            raise self._inference_error()
        return hidden, mask


class OnnxPairs(OnnxSession):
    """A cross-encoder: a model that reads a question and a text together and returns one score."""

    def _output_of(self, shapes: dict[str, list[Any]]) -> str | None:
        return next((name for name, shape in shapes.items() if len(shape) == 2 and shape[1] == 1), None)

    def _unsupported_model(self) -> ConfigurationError:
        return ConfigurationError(
            f"{self.name} does not return one score for a question and a text.",
            hint="Use a cross-encoder with one label, exported for sequence classification.",
        )

    def encode_pairs(self, question: str, texts: Sequence[str]) -> list[Encoded]:
        """Return the tokens of the question with each text. The longer of the two is truncated."""
        return [_to_encoded(self._tokenizer.encode(_cut(question), _cut(text))) for text in texts]

    def scores(self, batch: Sequence[Encoded]) -> list[float]:
        """Return the score of each pair: a logit, as the model was trained."""
        logits, _ = self._run(batch)
        if not np.isfinite(logits).all():
            raise self._inference_error()
        return logits[:, 0].tolist()


def _cut(text: str) -> str:
    return clean(text[:_MAX_CHARACTERS])


def _to_encoded(encoding: Encoding) -> Encoded:
    positions = [position for position, special in enumerate(encoding.special_tokens_mask) if not special]
    ids = encoding.ids or [0]  # some tokenizers return no tokens for an empty text
    return Encoded(ids=ids, types=encoding.type_ids or [0], positions=positions)


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
