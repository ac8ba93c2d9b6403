"""Embed texts with a static table of token vectors (model2vec, WordLlama), thousands of texts per second."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.errors import ConfigurationError
from bethink.extend import Cosines, TextKind
from bethink.providers.local_extra import STATIC, TABLE_PACKAGE, package_folder
from bethink.providers.local_model import Once, in_thread, need, path_of, stamp

if TYPE_CHECKING:  # it imports numpy, and not every process embeds
    from bethink.providers.static_table import StaticTable

_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_HINT = f"Use a folder with {', '.join(_FILES)}, saved by model2vec or from a model hub; nothing is downloaded for you."
_TABLE = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
_BATCH = 512
_SHORT = 400
"""Maximum characters to embed without starting a thread."""


class StaticEmbedder:
    """Embeds with a local model2vec folder. The model is loaded on first use.

    Only the first 512 tokens of a text count, or the `max_length` of the model. Word order does not matter.
    Raises `ConfigurationError` if a file or package is missing.
    """

    at_once = 256

    def __init__(self, folder: str | Path) -> None:
        need("static", *STATIC)
        home = path_of(folder, hint=_HINT)
        missing = [name for name in _FILES if not (home / name).is_file()]
        if missing:
            raise ConfigurationError(f"{home.name!r} does not contain {missing[0]}.", hint=_HINT)
        config, tokenizer, table = (home / name for name in _FILES)
        self.name = f"static:{home.name}-{stamp('static 1', [config, tokenizer, table])}"
        self._table = Once(lambda: _open(table, tokenizer, config))

    @property
    def dimension(self) -> int:
        """Number of values per vector. The first access loads the model."""
        return self._table().dimension

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order. A text without known words matches no other."""
        del kind  # a table has one vector for each token
        if texts and self._table.is_created and sum(map(len, texts)) <= _SHORT:
            return [*self._embed(texts)]
        vectors: list[Sequence[float]] = []
        for start in range(0, len(texts), _BATCH):
            vectors += await in_thread(self._embed, texts[start : start + _BATCH])
        return vectors

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._table().embed(texts)


class LocalEmbedder(StaticEmbedder):
    """Embeds with a table that the extra `local` installs: WordLlama's, with 32,000 tokens and 256 dimensions.

    Only the files are read. The package, which could download others, is never imported. If `automatic` is true
    because the settings name no embedder, the vectors of another embedder stay in use. Raises
    `ConfigurationError` if it is not installed.
    """

    cosines = Cosines(0.03, 0.355)
    languages = ("en",)

    def __init__(self, *, automatic: bool = False) -> None:
        self.automatic = automatic
        need("local", *STATIC, TABLE_PACKAGE)
        table, tokenizer = (package_folder(TABLE_PACKAGE) / name for name in _TABLE)
        if not table.is_file() or not tokenizer.is_file():
            raise ConfigurationError(
                f"{TABLE_PACKAGE} does not contain {_TABLE[0]}.", hint="Install bethink[local] again."
            )
        self.name = f"local:{TABLE_PACKAGE}-{stamp('static 1', [table, tokenizer])}"
        self._table = Once(lambda: _open(table, tokenizer, None))


def _open(table: Path, tokenizer: Path, config: Path | None) -> "StaticTable":
    from bethink.providers.static_table import StaticTable  # noqa: PLC0415 - see above

    return StaticTable(table, tokenizer, config)
