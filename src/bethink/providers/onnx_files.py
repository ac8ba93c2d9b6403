"""Find the files of an ONNX model where exports and model hubs put them. It imports neither numpy nor onnxruntime."""

import json
from collections.abc import Sequence
from pathlib import Path

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.providers.local_model import need, path_of, stamp
from bethink.providers.weights.manifest import MANIFEST, ModelManifest, read_manifest

_HINT = (
    "Use a folder with model.onnx and tokenizer.json, exported by sentence-transformers or from a model hub, "
    "or a name that 'bethink data models list' shows; nothing is downloaded for you."
)


@frozen
class OnnxFiles:
    """The files of a model, and how to run it."""

    model: Path
    tokenizer: Path
    manifest: ModelManifest
    threads: int

    @property
    def home(self) -> Path:
        """The folder of the model, above `onnx`."""
        return _home_of(self.model)

    def name(self) -> str:
        """Return a name that identifies the content of the files and their use."""
        # A large model stores its weights in a separate file.
        weights = sorted(self.model.parent.glob(f"{self.model.name}[._]data"))
        return f"onnx:{self.home.name}-{stamp(self.manifest.recipe, [self.model, *weights, self.tokenizer])}"


def find_files(
    folder: str | Path, *, plain: ModelManifest, override: ModelManifest | None, tokenizer: str | Path, threads: int
) -> OnnxFiles:
    """Find the files of a model with its manifest: `override`, else the one in its folder, else `plain`.

    Raises `ConfigurationError` if a file or package is missing, or the model is for another task than the plain
    manifest's.
    """
    need("onnx", "numpy", "onnxruntime", "tokenizers")
    model = _model_at(path_of(folder, hint=_HINT))
    home = _home_of(model)
    tokenizer_file = _tokenizer_at([path_of(tokenizer, hint=_HINT)] if tokenizer else [model.parent, home])
    manifest = override or read_manifest(home)
    if manifest is None:
        _check_pooling(home)
    elif manifest.task != plain.task:
        raise ConfigurationError(f"{home.name!r} is for the setting {manifest.task!r}.", hint="Set it there.")
    return OnnxFiles(model=model, tokenizer=tokenizer_file, manifest=manifest or plain, threads=threads)


def _model_at(path: Path) -> Path:
    if path.is_file():
        return path
    for folder in (path, path / "onnx"):
        models = sorted(folder.glob("*.onnx"))
        plain = [file for file in models if file.name == "model.onnx"]
        if len(models) > 1 and not plain:
            names = ", ".join(file.name for file in models)
            raise ConfigurationError(
                f"{folder.name!r} contains several models: {names}.", hint="Pass the path of the model to use."
            )
        if models:
            return (plain or models)[0]
    raise ConfigurationError(f"{path.name!r} does not contain model.onnx.", hint=_HINT)


def _home_of(model: Path) -> Path:
    return model.parent.parent if model.parent.name == "onnx" else model.parent


def _tokenizer_at(paths: Sequence[Path]) -> Path:
    for path in paths:
        file = path / "tokenizer.json" if path.is_dir() else path
        if file.is_file():
            return file
    raise ConfigurationError(
        f"{paths[0].name!r} does not contain tokenizer.json.",
        hint="Put it there, or set `embedder_tokenizer` to its path.",
    )


def _check_pooling(home: Path) -> None:
    file = home / "1_Pooling" / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8") if file.is_file() else "{}")
        uses_mean = config.get("pooling_mode_mean_tokens", config.get("pooling_mode", "mean") == "mean")
    except (ValueError, AttributeError) as error:
        raise ConfigurationError(f"Cannot read 1_Pooling/config.json in {home.name!r}.", hint=_HINT) from error
    if not uses_mean:
        raise ConfigurationError(
            f"{home.name!r} does not use mean pooling.", hint=f'Put {MANIFEST} next to it, with "pooling": "cls".'
        )
