"""Write docs/reference/python.md: signatures and docstrings of the names in `bethink`, read from the source."""

import argparse
import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import bethink
import bethink.types
from tools.make_api import CLASSES

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "docs" / "reference" / "python.md"
_WIDTH = 100
_SETTINGS_PAGE = "Every field of every group is a setting: see [Settings](settings.md)."

_HEAD = """\
# Python, in full

Every name of `import bethink`, then the collections and records that methods return. `bethink.sync` has `connect` and
the same methods without `await`. A time is a `datetime`, a `date` or ISO 8601 text. A day alone means its end, and a
time without a zone is UTC. Times in results are aware `datetime` objects in UTC. Enums accept strings.

This page is written by `python -m tools.make_api_docs`. Start with [Python API in 30 names](python-api.md).
"""

_FOOT = "Causes and fixes: [Troubleshooting](../howto/troubleshooting.md#errors).\n"

_GROUPS = {
    "Open a memory": ("connect", "Memory", "Settings", "acting_for"),
    "Work with a space": ("Space", "SpaceGroup", "Session"),
    "Records": (
        "Message", "Fact", "Document", "Ref", "Match", "RecallResult", "ContextBlock", "Answer", "Lineage", "Deletion",
        "Review", "LearningRules", "Page", "Change",
    ),
    "Helpers": ("verify_webhook",),
}  # fmt: skip

_HANDLES = {cls.name: cls.module for cls in CLASSES.values() if cls.name not in (*bethink.__all__, "MemoryOperations")}
"""The collections, with their modules: `space.facts` returns one."""
_ERRORS = tuple(name for name in bethink.__all__ if name.endswith("Error"))
_ALIASES = ("MessagesLike", "When")
_CONSTRUCTED = ("ScriptedModel",)
"""Classes that callers construct; the others come from `connect` or from a method."""
_SECTIONS = {"Args:": "Arguments", "Raises:": "Raises"}

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def page() -> str:
    """Return the page."""
    listed = {name for names in _GROUPS.values() for name in names} | set(_ERRORS)
    if missing := listed ^ set(bethink.__all__):
        raise SystemExit(f"make_api_docs: add these to a group, or remove them: {', '.join(sorted(missing))}")
    others = [name for name in bethink.types.__all__ if name not in _HANDLES and name not in _ALIASES]
    groups = {**_GROUPS, "Collections": tuple(_HANDLES), "`bethink.types`": tuple(others), "For tests": _CONSTRUCTED}
    parts = [_HEAD]
    for group, names in groups.items():
        parts.append(f"## {group}\n")
        parts += [_describe(name) for name in names]
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


def _describe(name: str) -> str:
    value = getattr(import_module(_HANDLES.get(name) or _home(name)), name)
    node = _node(value)
    if isinstance(node, ast.ClassDef):
        return _class(node, value)
    return f"### {name}\n\n{_fence(_signature(node, 'bethink.'))}\n\n{_doc(node)}\n"


def _home(name: str) -> str:
    modules = ("bethink", "bethink.types", "bethink.testing")
    return next(module for module in modules if name in import_module(module).__all__)


def _node(value: type | FunctionType) -> ast.ClassDef | _Function:
    body = _source(value.__module__).body
    return next(
        statement
        for statement in body
        if isinstance(statement, ast.ClassDef | _Function) and statement.name == value.__name__
    )


def _methods(kind: type) -> list[_Function]:
    """Return the methods of a class, then those of its base classes in Bethink."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("bethink.")]
    methods: dict[str, _Function] = {}
    for base in ours:
        node = _node(base)
        assert isinstance(node, ast.ClassDef)
        for method in node.body:
            if isinstance(method, _Function):
                methods.setdefault(method.name, method)
    return list(methods.values())


def _class(node: ast.ClassDef, kind: type) -> str:
    parts = [f"### {node.name}\n\n{_doc(node)}\n"]
    if node.name == "Settings":
        return f"{parts[0]}\n{_SETTINGS_PAGE}\n"
    if fields := _fields(node):
        parts.append(f"{_fence(fields)}\n")
    methods = _methods(kind)
    constructor = next((method for method in methods if method.name == "__init__"), None)
    if constructor is not None and node.name in _CONSTRUCTED:
        constructor.name = node.name
        parts.append(f"{_fence(_signature(constructor, '').removesuffix(' -> None'))}\n")
    for method in methods:
        if method.name.startswith("_") or method is constructor:
            continue
        heading = f"#### {node.name}.{method.name}"
        parts.append(f"{heading}\n\n{_fence(_signature(method, f'{node.name}.'))}\n\n{_doc(method)}\n")
    return "\n".join(parts)


def _fields(node: ast.ClassDef) -> str:
    lines: list[str] = []
    for statement in node.body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id[0] != "_"
        ):
            lines.append(_declaration(statement.target.id, statement.annotation, statement.value))
        elif isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]).isupper():
            lines += [] if ast.unparse(statement).startswith("_") else [ast.unparse(statement)]
    return "\n".join(lines)


def _declaration(name: str, annotation: ast.expr | None, default: ast.expr | None) -> str:
    typed = name if annotation is None else f"{name}: {_type(annotation)}"
    return typed if default is None else f"{typed} = {_default(default)}"


def _default(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords}
        return keywords.get("default") or f"{keywords['default_factory'].partition('[')[0]}()"
    return "..." if isinstance(value, ast.Name) and value.id.startswith("_") else ast.unparse(value)


def _type(annotation: ast.expr) -> str:
    # Names that are imported only for type checking are in quotes, which the page omits.
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return ast.unparse(annotation)


def _signature(node: _Function, owner: str) -> str:
    """Return the signature: on one line if it fits, else one argument per line."""
    result = "" if node.returns is None else _type(node.returns)
    if any(ast.unparse(decorator) == "property" for decorator in node.decorator_list):
        return f"{owner}{node.name}: {result}"
    verb = ""
    if isinstance(node, ast.AsyncFunctionDef):  # an async generator is not awaited
        verb = "async for item in " if result.startswith("AsyncIterator[") else "await "
    start = f"{verb}{owner}{node.name}"
    arguments = _arguments(node.args)
    line = f"{start}({', '.join(arguments)}) -> {result}"
    if len(line) <= _WIDTH:
        return line
    parts = "\n".join(f"    {part}," for part in arguments)
    return f"{start}(\n{parts}\n) -> {result}"


def _arguments(arguments: ast.arguments) -> list[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    parts = [
        _declaration(argument.arg, argument.annotation, default)
        for argument, default in zip(plain, [*missing, *arguments.defaults], strict=True)
        if argument.arg not in ("self", "cls")
    ]
    if arguments.vararg is not None:
        parts.append(f"*{_declaration(arguments.vararg.arg, arguments.vararg.annotation, None)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [
        _declaration(argument.arg, argument.annotation, default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg is not None:
        parts.append(f"**{_declaration(arguments.kwarg.arg, arguments.kwarg.annotation, None)}")
    return parts


def _fence(text: str) -> str:
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
    parser.add_argument("--check", action="store_true", help="fail if the page is out of date")
    options = parser.parse_args()
    text = page()
    if not options.check:
        _PAGE.write_text(text, encoding="utf-8")
        return 0
    if not _PAGE.exists() or _PAGE.read_text(encoding="utf-8") != text:
        print("docs/reference/python.md is out of date: run python -m tools.make_api_docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
