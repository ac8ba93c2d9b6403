"""Embed texts with the multilingual model of bethink-model-multilingual, about 400 short texts per second."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.errors import ConfigurationError
from bethink.extend import Cosines, TextKind
from bethink.providers.local_extra import MODEL_HINT, MODEL_MODULES, MODEL_PACKAGE, TABLE_PACKAGE, package_folder
from bethink.providers.local_model import Once, in_thread, need, stamp
from bethink.providers.weights.manifest import read_manifest

if TYPE_CHECKING:  # it imports numpy, and not every process embeds
    from bethink.providers.gram_encoder import GramEncoder

_FILES = ("table.npy", "layers.safetensors", "tokenizer.model")
_BATCH = 32
"""Texts per thread hop: about a fifth of a second."""


class MultilingualEmbedder:
    """Embeds with the files of bethink-model-multilingual: 15 languages, 512 dimensions, 512 tokens of a text.

    Only the files are read. The model is loaded on first use, and runs in one thread that is not the event loop's. If
    `automatic` is true because the settings name no embedder, the vectors of another embedder stay in use, except those
    of the table that was the default before. Raises `ConfigurationError` if it is not installed.
    """

    at_once = 128
    replaces = (f"local:{TABLE_PACKAGE}-",)
    """Beginnings of the names of embedders whose vectors it replaces in the background, even if it is automatic."""

    def __init__(self, *, automatic: bool = False) -> None:
        self.automatic = automatic
        need("local", *MODEL_MODULES)
        home = package_folder(MODEL_PACKAGE)
        table, layers, tokenizer = files = [home / name for name in _FILES]
        manifest = read_manifest(home)
        missing = [file.name for file in files if not file.is_file()]
        if manifest is None or missing:
            raise ConfigurationError(
                f"{MODEL_PACKAGE} does not contain {missing[0] if missing else 'its manifest'}.",
                hint=MODEL_HINT,
            )
        self.cosines = Cosines(manifest.unrelated, manifest.related)
        self.languages = manifest.languages
        self.name = f"local:multilingual-{stamp(f'grams 1 {manifest.max_tokens}', files)}"
        self._encoder = Once(lambda: _open(table, layers, tokenizer, max_tokens=manifest.max_tokens))

    @property
    def dimension(self) -> int:
        """Number of values per vector. The first access loads the model."""
        return self._encoder().dimension

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order."""
        del kind  # it was trained to embed questions and answers alike
        vectors: list[Sequence[float]] = []
        for start in range(0, len(texts), _BATCH):
            vectors += await in_thread(self._embed, texts[start : start + _BATCH])
        return vectors

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._encoder().embed(texts)


def _open(*files: Path, max_tokens: int) -> "GramEncoder":
    from bethink.providers.gram_encoder import GramEncoder  # noqa: PLC0415 - see above

    return GramEncoder(*files, max_tokens=max_tokens)
