"""Labeled messages for the phrases that work without a model, in twelve languages."""

import hashlib
import tomllib
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "phrases"


def labels(name: str) -> dict[str, Any]:
    """Return the labels of a file, by language."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def is_tuned(message: str) -> bool:
    """Return whether a message is in the half that the phrases were written against. The other half only measures."""
    return hashlib.sha256(message.encode()).digest()[0] % 2 == 0
