"""Writes the names that `bethink` exports: those of the core, listed in `_HOMES`, and those that features declare."""

import ast
from importlib import import_module
from pprint import pformat

from bethink.base.features import feature_files

_FEATURES = "bethink.features."


def with_exports(text: str) -> str:
    """Return the text of `bethink/__init__.py` with all exports. Only `_HOMES` of the core is written by hand."""
    tree = ast.parse(text)
    core = {home: names for home, names in _homes(tree).items() if not home.startswith(_FEATURES)}
    homes = dict(sorted({**core, **feature_exports()}.items()))
    imports = [f"    from {home} import {', '.join(names)}" for home, names in homes.items()]
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


def feature_exports() -> dict[str, tuple[str, ...]]:
    """Return the names that features export, by module."""
    return {
        f"{_FEATURES}{feature}.{module}": tuple(names)
        for feature in feature_files()
        for module, names in getattr(import_module(f"{_FEATURES}{feature}"), "EXPORTS", {}).items()
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
