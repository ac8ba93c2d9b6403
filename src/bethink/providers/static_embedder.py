"""Embed texts with a static table of token vectors (model2vec), thousands of texts per second."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.errors import Misconfigured
from bethink.providers.local_model import Once, in_thread, need, path_of, stamp

if TYPE_CHECKING:  # it imports numpy, and not every process embeds
    from bethink.providers.static_table import StaticTable

_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_HINT = f"Use a folder with {', '.join(_FILES)}, saved by model2vec or from a model hub; nothing is downloaded for you."
_BATCH = 512


class StaticEmbedder:
    """Embeds with a local model2vec folder. The model is loaded on first use.

    Only the first 512 tokens of a text count, or the `max_length` of the model. Word order does not matter.
    Raises `Misconfigured` if a file or package is missing.
    """

    def __init__(self, folder: str | Path) -> None:
        need("static", "numpy", "safetensors", "tokenizers")
        home = path_of(folder, hint=_HINT)
        missing = [name for name in _FILES if not (home / name).is_file()]
        if missing:
            raise Misconfigured(f"{home.name!r} does not contain {missing[0]}.", hint=_HINT)
        self.name = f"static:{home.name}-{stamp('static 1', [home / name for name in _FILES])}"
        self._table = Once(lambda: _open(home))

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. The first access loads the model."""
        return self._table().dimension

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order. A text without known words is near to no other."""
        vectors: list[Sequence[float]] = []
        for start in range(0, len(texts), _BATCH):
            vectors += await in_thread(self._embed, texts[start : start + _BATCH])
        return vectors

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._table().embed(texts)


def _open(home: Path) -> "StaticTable":
    from bethink.providers.static_table import StaticTable  # noqa: PLC0415 - see above

    return StaticTable(home)
