"""Rerank candidates with a local cross-encoder: an ONNX model that reads a question and a text together."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.providers.local_model import Once, in_thread
from bethink.providers.onnx_files import OnnxFiles, find_files
from bethink.providers.weights.manifest import ModelManifest

if TYPE_CHECKING:  # it imports numpy and onnxruntime, and not every process reranks
    from bethink.providers.onnx_session import OnnxPairs

_PLAIN = ModelManifest(task="reranker", max_tokens=512)


class CrossEncoder:
    """Scores how well each text answers a question, with a local ONNX file, given as a file or a folder.

    It runs the model on every text, so pass only the best fifty or so. `weight` comes from the manifest. Raises
    `ConfigurationError` if a file or package is missing.
    """

    def __init__(self, folder: str | Path, *, manifest: ModelManifest | None = None, threads: int = 2) -> None:
        files = find_files(folder, plain=_PLAIN, override=manifest, tokenizer="", threads=threads)
        self.name = files.name()
        self.weight = files.manifest.weight
        self._session = Once(lambda: _open(files))

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a logit for each text, in order. Raises `ModelResponseError` if the model fails."""
        if not texts:
            return []
        session = await in_thread(self._session)
        encoded = await in_thread(session.encode_pairs, question, texts)
        by_row: dict[int, float] = {}
        for rows in session.batches(encoded):
            scores = await in_thread(session.scores, [encoded[row] for row in rows])
            by_row.update(zip(rows, scores, strict=True))
        return [by_row[row] for row in range(len(texts))]


def _open(files: OnnxFiles) -> "OnnxPairs":
    from bethink.providers.onnx_session import OnnxPairs  # noqa: PLC0415 - see above

    return OnnxPairs(files)
