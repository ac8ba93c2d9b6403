"""Whether the extra `local` is installed. It imports next to nothing: every process asks for it."""

from importlib.util import find_spec

STATIC = ("numpy", "safetensors", "tokenizers")
TABLE_PACKAGE = "wordllama"


def local_is_installed() -> bool:
    """Return whether the extra `local` is installed. Nothing is imported."""
    return all(find_spec(module) is not None for module in (TABLE_PACKAGE, *STATIC))
