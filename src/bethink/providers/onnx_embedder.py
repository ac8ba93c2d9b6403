"""Embed texts with a local ONNX sentence model, such as MiniLM, without PyTorch."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bethink.errors import Misconfigured
from bethink.providers.local_model import Once, in_thread, need, path_of, stamp

if TYPE_CHECKING:  # it imports numpy and onnxruntime, and not every process embeds
    from bethink.providers.onnx_session import Encoded, OnnxSession

MAX_TOKENS = 256
_RECIPE = f"mean {MAX_TOKENS} 1"
_HINT = (
    "Use a folder with model.onnx and tokenizer.json, exported by sentence-transformers or from a model hub; "
    "nothing is downloaded for you."
)
T = TypeVar("T")


class OnnxEmbedder:
    """Embeds with a local ONNX file, given as a file or a folder. It is opened on first use.

    Only the first 256 tokens of a text count. `tokenizer` is the path of `tokenizer.json`, if it is elsewhere.
    Raises `Misconfigured` if a file or package is missing.
    """

    def __init__(self, folder: str | Path, *, tokenizer: str | Path = "", threads: int = 2) -> None:
        need("onnx", "numpy", "onnxruntime", "tokenizers")
        model = _model_at(path_of(folder, hint=_HINT))
        home = model.parent.parent if model.parent.name == "onnx" else model.parent
        words = _tokenizer_at([path_of(tokenizer, hint=_HINT)] if tokenizer else [model.parent, home])
        _check_pooling(home)
        weights = sorted(model.parent.glob(f"{model.name}[._]data"))  # a large model stores them in a separate file
        self.name = f"onnx:{home.name}-{stamp(_RECIPE, [model, *weights, words])}"
        self._session = Once(lambda: _open(model, words, threads))

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. The first access opens the model."""
        return self._session().dimension

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order. Raises `BadAnswer` if the model fails."""
        return await self.over(texts, lambda session, batch: session.means(batch))

    async def over(
        self, texts: Sequence[str], read: "Callable[[OnnxSession, Sequence[Encoded]], Sequence[T]]"
    ) -> list[T]:
        """Run the model on texts in batches of similar length, and return what `read` makes of each, in order."""
        if not texts:
            return []
        session = await in_thread(self._session)
        encoded = await in_thread(session.encode, texts)
        found: dict[int, T] = {}
        for rows in session.batches(encoded):
            made = await in_thread(read, session, [encoded[row] for row in rows])
            found.update(zip(rows, made, strict=True))
        return [found[row] for row in range(len(texts))]


def _model_at(path: Path) -> Path:
    if path.is_file():
        return path
    for folder in (path, path / "onnx"):
        found = sorted(folder.glob("*.onnx"))
        plain = [file for file in found if file.name == "model.onnx"]
        if len(found) > 1 and not plain:
            names = ", ".join(file.name for file in found)
            raise Misconfigured(
                f"{folder.name!r} contains several models: {names}.", hint="Give the path of the one to use."
            )
        if found:
            return (plain or found)[0]
    raise Misconfigured(f"{path.name!r} does not contain model.onnx.", hint=_HINT)


def _tokenizer_at(paths: Sequence[Path]) -> Path:
    for path in paths:
        file = path / "tokenizer.json" if path.is_dir() else path
        if file.is_file():
            return file
    raise Misconfigured(
        f"{paths[0].name!r} does not contain tokenizer.json.",
        hint="Put it there, or set embedder_tokenizer to its path.",
    )


def _check_pooling(home: Path) -> None:
    file = home / "1_Pooling" / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8") if file.is_file() else "{}")
        takes_the_mean = config.get("pooling_mode_mean_tokens", config.get("pooling_mode", "mean") == "mean")
    except (ValueError, AttributeError) as error:
        raise Misconfigured(f"cannot read 1_Pooling/config.json in {home.name!r}.", hint=_HINT) from error
    if not takes_the_mean:
        raise Misconfigured(f"{home.name!r} does not use mean pooling.", hint="Use a model that does, such as MiniLM.")


def _open(model: Path, tokenizer: Path, threads: int) -> "OnnxSession":
    from bethink.providers.onnx_session import OnnxSession  # noqa: PLC0415 - see above

    return OnnxSession(model, tokenizer, max_tokens=MAX_TOKENS, threads=threads)
