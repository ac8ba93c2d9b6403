"""Writes docs/reference/python.md: signatures and docstrings of what `import bethink` offers, read from the source."""

import argparse
import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import bethink
from tools.exports import feature_exports
from tools.make_api import CLASSES

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "docs" / "reference" / "python.md"
_WIDTH = 100
_SETTINGS_PAGE = "Every field of every group is a setting: see [Settings](settings.md)."

_HEAD = """\
# Python

What `import bethink` offers. `bethink.sync` has `connect` and the same methods without `await`. A time is a `datetime`,
a `date` or a text in ISO 8601; a day alone means its end, and a time without a zone is UTC. Every time that comes back
is an aware `datetime` in UTC. How to use these: [Recall](../howto/recall.md), [Let it learn](../howto/learning.md),
[Documents](../howto/documents.md), [Forget](../howto/forget.md).

This page is made by `python -m tools.make_api_docs`.
"""

_FOOT = "What to do about each: [Mend what is broken](../howto/troubleshooting.md#errors).\n"

_GROUPS = {
    "Open a memory": ("connect", "load_settings", "Settings", "acting_for", "streaming"),
    "Use it": ("Memory", "Space", "Session", "Facts", "Reviews", "Rules", "Documents", "Threads"),
    "With a database in this process": ("History", "LiveHistory", "WorkingMemory"),
    "What goes in": (
        "Message", "Role", "Origin", "AgentKind", "conversation_key", "moment", "Fact", "FactKind", "OwnKind",
        "DocumentDraft", "Event", "Mode", "LearningRules", "FactVerdict",
    ),
    "What comes out": (
        "SessionInfo", "Record", "Remembered", "Recall", "Recalled", "Ref", "RefKind", "Block", "Lineage", "Forgotten",
        "Document", "MemoryAnswer", "AnswerSentence", "MemoryChange", "Evidence", "Quote", "Review", "ReviewStatus",
    ),
    "Extend it": ("Backend", "ModelCall", "ModelAnswer", "ScriptedModel"),
}  # fmt: skip

_FEATURE_CLASSES = {cls.name: cls.module for cls in CLASSES.values() if cls.module}
"""The classes of features, with their modules: `memory.keys` returns one. Not all of them are names of `bethink`."""
_MADE_BY_HAND = ("ScriptedModel",)
"""Classes that callers construct; the others come from `connect` or from a method."""
_SECTIONS = {"Args:": "Arguments", "Raises:": "Raises"}

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def page() -> str:
    """Write the whole page."""
    exported = [name for names in feature_exports().values() for name in names if name not in _FEATURE_CLASSES]
    groups = {**_GROUPS, "Use features": (*_FEATURE_CLASSES, *exported)}
    missing = {*bethink.__all__, *_FEATURE_CLASSES} ^ {name for names in groups.values() for name in names}
    if missing:
        raise SystemExit(f"make_api_docs: give these a group, or take them out: {', '.join(sorted(missing))}")
    parts = [_HEAD]
    for group, names in groups.items():
        parts.append(f"## {group}\n")
        parts += [_described(name) for name in names]
    parts.append(f"## Errors\n\n```text\n{_tree_of_errors()}\n```\n\n{_FOOT}")
    return "\n".join(parts)


def _tree_of_errors() -> str:
    text = ast.get_docstring(_source("bethink.errors")) or ""
    return text.partition("\n\n")[2]


def _source(module: str) -> ast.Module:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise SystemExit(f"make_api_docs: no module {module}")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def _described(name: str) -> str:
    value = getattr(import_module(_FEATURE_CLASSES.get(name, "bethink")), name)
    node = _node(value)
    if isinstance(node, ast.ClassDef):
        return _class(node, value)
    return f"### {name}\n\n{_fenced(_signature(node, 'bethink.'))}\n\n{_doc(node)}\n"


def _node(value: type | FunctionType) -> ast.ClassDef | _Function:
    body = _source(value.__module__).body
    return next(each for each in body if isinstance(each, ast.ClassDef | _Function) and each.name == value.__name__)


def _methods(kind: type) -> list[_Function]:
    """Return the methods of a class, then those of the classes of ours that it is made from."""
    ours = [each for each in kind.__mro__ if each.__module__.startswith("bethink.")]
    found: dict[str, _Function] = {}
    for each in ours:
        node = _node(each)
        assert isinstance(node, ast.ClassDef)
        for method in node.body:
            if isinstance(method, _Function):
                found.setdefault(method.name, method)
    return list(found.values())


def _class(node: ast.ClassDef, kind: type) -> str:
    parts = [f"### {node.name}\n\n{_doc(node)}\n"]
    if node.name == "Settings":
        return f"{parts[0]}\n{_SETTINGS_PAGE}\n"
    if fields := _fields(node):
        parts.append(f"{_fenced(fields)}\n")
    methods = _methods(kind)
    made = next((each for each in methods if each.name == "__init__"), None)
    if made is not None and node.name in _MADE_BY_HAND:
        made.name = node.name
        parts.append(f"{_fenced(_signature(made, '').removesuffix(' -> None'))}\n")
    for each in methods:
        if each.name.startswith("_"):
            continue
        heading = f"#### {node.name}.{each.name}"
        parts.append(f"{heading}\n\n{_fenced(_signature(each, f'{node.name}.'))}\n\n{_doc(each)}\n")
    return "\n".join(parts)


def _fields(node: ast.ClassDef) -> str:
    lines: list[str] = []
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id[0] != "_":
            lines.append(_named(each.target.id, each.annotation, each.value))
        elif isinstance(each, ast.Assign) and ast.unparse(each.targets[0]).isupper():
            lines += [] if ast.unparse(each).startswith("_") else [ast.unparse(each)]
    return "\n".join(lines)


def _named(name: str, annotation: ast.expr | None, default: ast.expr | None) -> str:
    typed = name if annotation is None else f"{name}: {_type(annotation)}"
    return typed if default is None else f"{typed} = {_default(default)}"


def _default(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        given = {each.arg: ast.unparse(each.value) for each in value.keywords}
        return given.get("default") or f"{given['default_factory'].partition('[')[0]}()"
    return "..." if isinstance(value, ast.Name) and value.id.startswith("_") else ast.unparse(value)


def _type(annotation: ast.expr) -> str:
    # A name that is imported for checking only stands in quotes; readers need not see them.
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return ast.unparse(annotation)


def _signature(node: _Function, owner: str) -> str:
    """Write how it is called: on one line if that is short, else one argument a line."""
    result = "" if node.returns is None else _type(node.returns)
    if any(ast.unparse(each) == "property" for each in node.decorator_list):
        return f"{owner}{node.name}: {result}"
    start = f"{'await ' if isinstance(node, ast.AsyncFunctionDef) else ''}{owner}{node.name}"
    arguments = _arguments(node.args)
    line = f"{start}({', '.join(arguments)}) -> {result}"
    if len(line) <= _WIDTH:
        return line
    parts = "\n".join(f"    {part}," for part in arguments)
    return f"{start}(\n{parts}\n) -> {result}"


def _arguments(given: ast.arguments) -> list[str]:
    plain = [*given.posonlyargs, *given.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    written = [
        _named(each.arg, each.annotation, default)
        for each, default in zip(plain, [*missing, *given.defaults], strict=True)
        if each.arg not in ("self", "cls")
    ]
    if given.vararg is not None:
        written.append(f"*{_named(given.vararg.arg, given.vararg.annotation, None)}")
    elif given.kwonlyargs:
        written.append("*")
    written += [
        _named(each.arg, each.annotation, default)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg is not None:
        written.append(f"**{_named(given.kwarg.arg, given.kwarg.annotation, None)}")
    return written


def _fenced(text: str) -> str:
    return f"```py\n{text}\n```"


def _doc(node: ast.ClassDef | _Function) -> str:
    """Return a docstring with its arguments and errors as lists."""
    lines: list[str] = []
    section = ""
    for line in (ast.get_docstring(node) or "").splitlines():
        if line in _SECTIONS:
            section = line
            lines += [f"**{_SECTIONS[line]}**", ""]
        elif section and line.startswith("    ") and line[4] != " ":
            name, colon, text = line.strip().partition(":")
            lines.append(f"- `{name}`:{text}" if colon else f"- {name}")
        elif section and line.startswith("    "):
            lines.append(f"  {line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the page is not what would be written")
    options = parser.parse_args()
    text = page()
    if not options.check:
        _PAGE.write_text(text, encoding="utf-8")
        return 0
    if not _PAGE.exists() or _PAGE.read_text(encoding="utf-8") != text:
        print("docs/reference/python.md is not what the source says: run python -m tools.make_api_docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
