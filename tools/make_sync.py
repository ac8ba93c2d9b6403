"""Write `bethink/sync.py`, the blocking API, from the async classes: same names, same signatures, same docstrings.

Hand-written parts without an async original are in `bethink/api/sync_runtime.py`.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.make_api import CLASSES, path_of

_SOURCE = Path(__file__).parent.parent / "src" / "bethink"
_TARGET = _SOURCE / "sync.py"
_CLASSES = {
    "History": "memory/log/history.py",
    "LiveHistory": "memory/log/live.py",
    "Marks": "memory/log/marks.py",
    "Vectors": "memory/recall/reindex.py",
    "WorkingMemory": "memory/working/memory.py",
    "LocalBackend": "host/backend.py",
    "Backend": "host/backend.py",
    **{
        cls.name: path_of(handle).relative_to(_SOURCE).as_posix()
        for handle, cls in reversed(CLASSES.items())
        if handle != "memory"
    },
    "Memory": "api/connect.py",
}
_BASES = {
    **dict.fromkeys((cls.base for cls in CLASSES.values()), "api/handles.py"),
    "MemoryOperations": "api/memory.py",
    "LearningHost": "jobs/hosting.py",
    "Host": "memory/registry.py",
}
_ONLY = {"LocalBackend": ("history", "live", "marks", "vectors", "working"), "Backend": ("local",)}
"""The other methods of backends are for what runs on their event loop."""

_WITHOUT = {"Memory": ("open", "close"), "Admin": ("sync",)}
"""`bethink.api.sync_runtime` opens and closes; a sync needs two memories on one loop."""

_HEAD = '''"""The blocking API: the same operations for code without an event loop.

Written by tools/make_sync.py; change the async source and run it again.
"""
'''

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if sync.py is out of date")
    options = parser.parse_args()
    text = _format(generate())
    if options.check:
        current = _TARGET.read_text(encoding="utf-8") == text
        print(f"src/bethink/sync.py is {'up to date' if current else 'out of date: run python -m tools.make_sync'}")
        return 0 if current else 1
    _TARGET.write_text(text, encoding="utf-8")
    print("wrote src/bethink/sync.py")
    return 0


def generate() -> str:
    files = {*_CLASSES.values(), *_BASES.values(), "api/connect.py"}
    imports = {line for file in files for line in _imports(file)}
    imports |= {f"from bethink.{_module(file)} import {name} as Async{name}" for name, file in _CLASSES.items()}
    imports |= {
        "from collections.abc import Iterator",
        "from bethink.api.connect import connect as _connect",
        "from bethink.api.sync_runtime import Blocking, BlockingContext, BlockingOwner, Loop, Page",
    }
    return "\n".join([_HEAD, *sorted(imports), _connect(), *map(_class, _CLASSES)])


def _tree(file: str) -> ast.Module:
    return ast.parse((_SOURCE / file).read_text(encoding="utf-8"))


def _module(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _imports(file: str) -> Iterator[str]:
    """Yield the imports of a source, also those for type checkers; ruff removes unused ones."""
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name not in (*_CLASSES, "Page"):
                    yield f"from {node.module} import {ast.unparse(alias)}"


def _connect() -> str:
    node = next(
        statement
        for statement in _tree("api/connect.py").body
        if isinstance(statement, _Function) and statement.name == "connect"
    )
    call = f"_connect({_call_arguments(node.args)})"
    return f"def connect({ast.unparse(node.args)}) -> 'Memory':\n    {_doc(node)}\n    return Memory({call}, Loop())\n"


def _chain(name: str) -> list[ast.ClassDef]:
    """Return a class and its bases, the class itself last."""
    file = _CLASSES.get(name) or _BASES.get(name)
    if file is None:
        return []
    node = next(item for item in _tree(file).body if isinstance(item, ast.ClassDef) and item.name == name)
    return [*(item for base in node.bases for item in _chain(ast.unparse(base))), node]


def _class(name: str) -> str:
    chain = _chain(name)
    methods = {member.name: member for node in chain for member in node.body if isinstance(member, _Function)}
    base = "Blocking" if "__aenter__" not in methods else "BlockingOwner" if "open" in methods else "BlockingContext"
    lines = [f"class {name}({base}[Async{name}]):", f"    {_doc(chain[-1])}", ""]
    if name not in _ONLY:
        lines += _attributes(name, methods.get("__init__"))
    for member in _ONLY.get(name, methods):
        if not member.startswith("_") and member not in _WITHOUT.get(name, ()):
            lines += [_method(methods[member]), ""]
    return "\n".join(lines)


def _attributes(name: str, init: _Function | None) -> Iterator[str]:
    """Yield a property for each parameter that `__init__` stores under its own name: `self.info = info`."""
    statements = {ast.unparse(node) for node in init.body} if init else set[str]()
    for node in (*init.args.args, *init.args.kwonlyargs) if init else ():
        if f"self.{node.arg} = {node.arg}" in statements and node.annotation is not None:
            yield f"    @property\n    def {node.arg}(self) -> {ast.unparse(node.annotation)}:"
            yield f'        """The {node.arg} of this {name}."""\n        return self._inner.{node.arg}\n'


def _method(node: _Function) -> str:
    returns = ast.unparse(node.returns).strip("'") if node.returns else "None"
    decorators = [
        f"    @{name}" for decorator in node.decorator_list if (name := ast.unparse(decorator)) != "abstractmethod"
    ]
    call = f"self._inner.{node.name}" if decorators else f"self._inner.{node.name}({_call_arguments(node.args)})"
    if returns.startswith("AsyncIterator["):
        call, returns = f"self._iterate({call})", returns.removeprefix("Async")
    elif isinstance(node, ast.AsyncFunctionDef):
        call = f"self._run(lambda: {call})"
    class_name, body = returns.removesuffix(" | None"), call
    if returns.startswith("Page["):
        body = f"Page({call}, self._loop)"
    if class_name in _CLASSES:
        value = call if class_name == returns else "result"
        body = f"{class_name}({value}, self._loop)"
        body = body if class_name == returns else f"None if (result := {call}) is None else {body}"
        returns = f"'{returns}'"
    head = f"    def {node.name}({ast.unparse(node.args)}) -> {returns}:"
    return "\n".join([*decorators, head, f"        {_doc(node)}", f"        return {body}"])


def _call_arguments(arguments: ast.arguments) -> str:
    names = [argument.arg for argument in arguments.args if argument.arg != "self"]
    names += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    names += [f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs]
    return ", ".join([*names, f"**{arguments.kwarg.arg}"] if arguments.kwarg else names)


def _doc(node: ast.ClassDef | _Function) -> str:
    text = ast.get_docstring(node, clean=False) or ""  # unchanged, with its indentation
    return f'"""{text}"""'.replace("`async with`", "`with`")


def _format(text: str) -> str:
    for step in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format"]):
        command = [sys.executable, "-m", "ruff", *step, "--stdin-filename", str(_TARGET), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
