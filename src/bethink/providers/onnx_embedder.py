"""Embed texts with a local ONNX sentence model, such as MiniLM, without PyTorch."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bethink.extend import Cosines, TextKind
from bethink.providers.local_model import Once, in_thread
from bethink.providers.onnx_files import OnnxFiles, find_files
from bethink.providers.weights.manifest import ModelManifest

if TYPE_CHECKING:  # it imports numpy and onnxruntime, and not every process embeds
    from bethink.providers.onnx_session import Encoded, OnnxVectors

_PLAIN = ModelManifest()
T = TypeVar("T")


class OnnxEmbedder:
    """Embeds with a local ONNX file, given as a file or a folder. It is opened on first use.

    The `manifest`, or `bethink-model.json` in the folder, describes how the model was trained: pooling, prefixes and
    maximum tokens. Without one, the embedder uses the mean of the first 256 tokens. `tokenizer` is
    the path of `tokenizer.json`, if it is elsewhere. Raises `ConfigurationError` if a file or package is missing.
    """

    at_once = 16

    def __init__(
        self,
        folder: str | Path,
        *,
        tokenizer: str | Path = "",
        manifest: ModelManifest | None = None,
        threads: int = 2,
    ) -> None:
        files = find_files(folder, plain=_PLAIN, override=manifest, tokenizer=tokenizer, threads=threads)
        self.name = files.name()
        self._prefixes: dict[TextKind, str] = {
            "question": files.manifest.question_prefix,
            "message": files.manifest.message_prefix,
        }
        self.asymmetric = len(set(self._prefixes.values())) > 1
        is_calibrated = files.manifest.related > files.manifest.unrelated
        self.cosines = Cosines(files.manifest.unrelated, files.manifest.related) if is_calibrated else None
        self.languages = files.manifest.languages
        self._session = Once(lambda: _open(files))

    @property
    def dimension(self) -> int:
        """Number of values per vector. The first access opens the model."""
        return self._session().dimension

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order. Raises `ModelResponseError` if the model fails."""
        prefix = self._prefixes[kind]
        return await self.run_batches([prefix + text for text in texts], lambda session, batch: session.vectors(batch))

    async def run_batches(
        self, texts: Sequence[str], extract: "Callable[[OnnxVectors, Sequence[Encoded]], Sequence[T]]"
    ) -> list[T]:
        """Run the model on texts in batches of similar length, and return the `extract` output of each, in order."""
        if not texts:
            return []
        session = await in_thread(self._session)
        encoded = await in_thread(session.encode, texts)
        results: dict[int, T] = {}
        for rows in session.batches(encoded):
            outputs = await in_thread(extract, session, [encoded[row] for row in rows])
            results.update(zip(rows, outputs, strict=True))
        return [results[row] for row in range(len(texts))]


def _open(files: OnnxFiles) -> "OnnxVectors":
    from bethink.providers.onnx_session import OnnxVectors  # noqa: PLC0415 - see above

    return OnnxVectors(files)
