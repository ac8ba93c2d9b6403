"""Writes the names that `bethink` and `bethink.types` export: those in `_HOMES`, and those that features declare."""

import ast
from importlib import import_module
from pprint import pformat

from bethink.base.features import feature_files

_FEATURES = "bethink.features."


def with_exports(text: str, declared: str) -> str:
    """Return the text of a module with all exports. Only the names of the core in its `_HOMES` are written by hand.

    Args:
        text: The text of the module.
        declared: The constant in which features declare their names: `EXPORTS` or `TYPES`.
    """
    tree = ast.parse(text)
    core = {home: names for home, names in _homes(tree).items() if not home.startswith(_FEATURES)}
    homes = dict(sorted({**core, **feature_exports(declared)}.items()))
    imports = [f"    from {home} import {', '.join(names)}" for home, names in homes.items()]
    if declared == "EXPORTS":  # the narrower errors can be imported, too; the repeated name tells type checkers so
        listed = homes["bethink.errors"]
        imports += [f"    from bethink.errors import {name} as {name}" for name in error_names() if name not in listed]
    names = sorted(name for exported in homes.values() for name in exported)
    blocks = {
        "TYPE_CHECKING": "\n".join(["if TYPE_CHECKING:", *imports]),
        "__all__": f"__all__ = [{', '.join(map(repr, names))},]",
        "_HOMES": f"_HOMES = {pformat(homes, width=200, sort_dicts=False)}",
    }
    lines = text.splitlines()
    for node in reversed(tree.body):
        if (block := blocks.get(_name(node))) is not None:
            lines[node.lineno - 1 : node.end_lineno] = block.splitlines()
    return "\n".join(lines) + "\n"


def feature_exports(declared: str) -> dict[str, tuple[str, ...]]:
    """Return the names that features export, by module."""
    return {
        f"{_FEATURES}{feature}.{module}": tuple(names)
        for feature in feature_files()
        for module, names in getattr(import_module(f"{_FEATURES}{feature}"), declared, {}).items()
    }


def _homes(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    return next(
        ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and _name(node) == "_HOMES"
    )


def _name(node: ast.stmt) -> str:
    """Return the name that a statement tests or assigns."""
    match node:
        case ast.If(test=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ""


def error_names() -> list[str]:
    """Return the names of all errors."""
    module = import_module("bethink.errors")
    return sorted(name for name in vars(module) if name.endswith("Error"))
