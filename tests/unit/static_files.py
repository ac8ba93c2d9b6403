"""Static models of five words in three dimensions, small enough to check by hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

from tests.unit.onnx_files import write_tokenizer

WORDS = {"[UNK]": 0, "cat": 1, "kitten": 2, "sofa": 3, "revenue": 4}
TABLE = [[9, 9, 9], [3, 4, 0], [4, 3, 0], [0, 2, 0], [-1, 0, 0]]


def static(home: Path, config: str = "{}", **arrays: Sequence[object]) -> Path:
    """Write a model into a folder of its own."""
    home.mkdir()
    write_tokenizer(home / "tokenizer.json", WORDS)
    (home / "config.json").write_text(config)
    named = {name.replace("_dot_", "."): np.array(each) for name, each in (arrays or {"embeddings": TABLE}).items()}
    save_file(named, home / "model.safetensors")
    return home
