"""Detection of the extra `local`. It imports almost nothing, because every process uses it."""

from importlib.util import find_spec

STATIC = ("numpy", "safetensors", "tokenizers")
TABLE_PACKAGE = "wordllama"


def local_is_installed() -> bool:
    """Return whether the extra `local` is installed. Nothing is imported."""
    return all(find_spec(module) is not None for module in (TABLE_PACKAGE, *STATIC))
