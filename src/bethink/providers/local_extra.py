"""Detection of the extra `local`. It imports almost nothing, because every process uses it."""

from importlib.util import find_spec
from pathlib import Path

STATIC = ("numpy", "safetensors", "tokenizers")
TABLE_PACKAGE = "wordllama"
MODEL_PACKAGE = "bethink_model_multilingual"
MODEL_MODULES = (MODEL_PACKAGE, "numpy", "safetensors", "sentencepiece", "threadpoolctl")
MODEL_HINT = "From a clone of Bethink, run: pip install ./packages/bethink-model-multilingual"


def local_is_installed() -> bool:
    """Return whether the extra `local` is installed, with its model or at least its table. Nothing is imported."""
    return model_is_installed() or _are_installed(TABLE_PACKAGE, *STATIC)


def model_is_installed() -> bool:
    """Return whether the multilingual model is installed; otherwise `local` is a table of English word pieces."""
    return _are_installed(*MODEL_MODULES)


def package_folder(package: str) -> Path:
    """Return the folder of an installed package, without importing it; the working folder if there is none."""
    spec = find_spec(package)
    return Path(next(iter(spec.submodule_search_locations or ()), "")) if spec is not None else Path()


def _are_installed(*modules: str) -> bool:
    return all(find_spec(module) is not None for module in modules)
