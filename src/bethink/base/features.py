"""Finds leaf features: every package in `bethink/features` is one, and its files say what it offers.

Nothing registers a feature by hand. The loaders of queries, operations, commands and pages ask here which features have
a file of their kind, and import only those.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module, resources
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_PACKAGE = "bethink.features"


@cache
def feature_files() -> Mapping[str, Mapping[str, "Traversable"]]:
    """Return the files of each feature by name, without importing any."""
    folders = sorted((entry for entry in resources.files(_PACKAGE).iterdir() if entry.is_dir()), key=lambda e: e.name)
    files = {folder.name: {file.name: file for file in folder.iterdir()} for folder in folders}
    return {name: entries for name, entries in files.items() if "__init__.py" in entries}


def files_named(name: str) -> "dict[str, Traversable]":
    """Return the files with this name, by feature: `queries.sql`, `page.html`."""
    return {feature: files[name] for feature, files in feature_files().items() if name in files}


def modules_named(name: str) -> list[ModuleType]:
    """Import the modules with this name in the order of the features: `operations`, `page`."""
    return [import_module(f"{_PACKAGE}.{feature}.{name}") for feature in files_named(f"{name}.py")]


def feature_commands() -> dict[str, tuple[str, str]]:
    """Return the module and the help of each command that a feature declares. No command is imported."""
    return {
        command: (f"{_PACKAGE}.{feature}.command", summary)
        for feature in files_named("command.py")
        for command, summary in import_module(f"{_PACKAGE}.{feature}").COMMANDS.items()
    }
