"""Vectors by looking up every piece of a text in a table: a model2vec folder, thousands of texts a second."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.errors import Misconfigured
from bethink.providers.local_model import Once, in_thread, need, path_of, stamp

if TYPE_CHECKING:  # it brings numpy, and not every process embeds
    from bethink.providers.static_table import StaticTable

_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_HINT = (
    f"Give a folder with {', '.join(_FILES)}, as model2vec saves a model or a model hub offers it; nothing is "
    "downloaded for you."
)
_BATCH = 512


class StaticEmbedder:
    """Embeds with a model2vec folder on this machine; the model is read when it is first used.

    Of a long text the first 512 tokens are seen, or what the folder's `max_length` says. Word order counts for nothing.
    """

    def __init__(self, folder: str | Path) -> None:
        need("static", "numpy", "safetensors", "tokenizers")
        home = path_of(folder, hint=_HINT)
        missing = [name for name in _FILES if not (home / name).is_file()]
        if missing:
            raise Misconfigured(f"{home.name!r} has no {missing[0]}.", hint=_HINT)
        self.name = f"static:{home.name}-{stamp('static 1', [home / name for name in _FILES])}"
        self._table = Once(lambda: _open(home))

    @property
    def dimension(self) -> int:
        """Say how many numbers a vector has; reads the model if nobody has yet."""
        return self._table().dimension

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order. One without a known word is near to none."""
        vectors: list[Sequence[float]] = []
        for start in range(0, len(texts), _BATCH):
            vectors += await in_thread(self._embed, texts[start : start + _BATCH])
        return vectors

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._table().embed(texts)


def _open(home: Path) -> "StaticTable":
    from bethink.providers.static_table import StaticTable  # noqa: PLC0415 - see above

    return StaticTable(home)
