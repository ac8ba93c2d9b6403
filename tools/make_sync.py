"""Writes `bethink/sync.py`, the blocking API, from the async classes: same names, same signatures, same docstrings.

What is not a copy of something async stands in `bethink/api/sync_runtime.py`, by hand.
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
    **{
        cls.name: path_of(handle).relative_to(_SOURCE).as_posix()
        for handle, cls in sorted(CLASSES.items(), key=lambda item: item[0] in ("session", "space", "spaces"))
        if handle != "memory"
    },
    "Memory": "api/connect.py",
}
_BASES = {
    "SpaceHandle": "api/handles.py",
    "SpacesHandle": "api/handles.py",
    "SessionHandle": "api/handles.py",
    "MemoryVerbs": "api/memory.py",
    "Backend": "host/backend.py",
    "LearningHost": "jobs/hosting.py",
    "Host": "memory/registry.py",
}
_ONLY = {"LocalBackend": ("history", "live", "marks", "vectors", "working")}
"""The other methods of `LocalBackend` are for what runs on its event loop."""

_WITHOUT = {"Memory": ("open", "close", "backend", "sync")}
"""`bethink.api.sync_runtime` opens and closes; a backend is async; a sync needs two memories on one loop."""

_HEAD = '''"""The blocking API: the same verbs for code without an event loop.

Written by tools/make_sync.py; change the async source and run it again.
"""
'''

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if sync.py is not what would be written")
    options = parser.parse_args()
    wanted = _formatted(generate())
    if options.check:
        current = _TARGET.read_text(encoding="utf-8") == wanted
        print(f"src/bethink/sync.py is {'up to date' if current else 'out of date: run python -m tools.make_sync'}")
        return 0 if current else 1
    _TARGET.write_text(wanted, encoding="utf-8")
    print("wrote src/bethink/sync.py")
    return 0


def generate() -> str:
    files = {*_CLASSES.values(), *_BASES.values(), "api/connect.py"}
    imports = {line for file in files for line in _imports(file)}
    imports |= {f"from bethink.{_module(file)} import {name} as Async{name}" for name, file in _CLASSES.items()}
    imports |= {
        "from collections.abc import Iterator",
        "from bethink.api.connect import connect as _connect",
        "from bethink.api.sync_runtime import Blocking, BlockingContext, BlockingOwner, Loop",
    }
    return "\n".join([_HEAD, *sorted(imports), _connect(), *map(_class, _CLASSES)])


def _tree(file: str) -> ast.Module:
    return ast.parse((_SOURCE / file).read_text(encoding="utf-8"))


def _module(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _imports(file: str) -> Iterator[str]:
    """Copy the imports of a source, also those for type checkers; ruff drops what is not used."""
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                if each.name not in _CLASSES:
                    yield f"from {node.module} import {ast.unparse(each)}"


def _connect() -> str:
    node = next(each for each in _tree("api/connect.py").body if isinstance(each, _Function) and each.name == "connect")
    call = f"_connect({_passed_on(node.args)})"
    return f"def connect({ast.unparse(node.args)}) -> 'Memory':\n    {_doc(node)}\n    return Memory({call}, Loop())\n"


def _chain(name: str) -> list[ast.ClassDef]:
    """Return a class and those it inherits methods from, the nearest last."""
    file = _CLASSES.get(name) or _BASES.get(name)
    if file is None:
        return []
    node = next(each for each in _tree(file).body if isinstance(each, ast.ClassDef) and each.name == name)
    return [*(each for base in node.bases for each in _chain(ast.unparse(base))), node]


def _class(name: str) -> str:
    chain = _chain(name)
    methods = {each.name: each for node in chain for each in node.body if isinstance(each, _Function)}
    base = "Blocking" if "__aenter__" not in methods else "BlockingOwner" if "open" in methods else "BlockingContext"
    lines = [f"class {name}({base}[Async{name}]):", f"    {_doc(chain[-1])}", ""]
    if name not in _ONLY:
        lines += _attributes(name, methods.get("__init__"))
    for each in _ONLY.get(name, methods):
        if not each.startswith("_") and each not in _WITHOUT.get(name, ()):
            lines += [_method(methods[each]), ""]
    return "\n".join(lines)


def _attributes(name: str, made: _Function | None) -> Iterator[str]:
    """Show what `__init__` keeps under the name of a parameter: `self.info = info`."""
    kept = {ast.unparse(each) for each in made.body} if made else set[str]()
    for each in (*made.args.args, *made.args.kwonlyargs) if made else ():
        if f"self.{each.arg} = {each.arg}" in kept and each.annotation is not None:
            yield f"    @property\n    def {each.arg}(self) -> {ast.unparse(each.annotation)}:"
            yield f'        """The {each.arg} of this {name}."""\n        return self._inner.{each.arg}\n'


def _method(node: _Function) -> str:
    returns = ast.unparse(node.returns).strip("'") if node.returns else "None"
    decorators = [f"    @{name}" for each in node.decorator_list if (name := ast.unparse(each)) != "abstractmethod"]
    call = f"self._inner.{node.name}" if decorators else f"self._inner.{node.name}({_passed_on(node.args)})"
    if returns.startswith("AsyncIterator["):
        call, returns = f"self._each({call})", returns.removeprefix("Async")
    elif isinstance(node, ast.AsyncFunctionDef):
        call = f"self._run(lambda: {call})"
    made, body = returns.removesuffix(" | None"), call
    if made in _CLASSES:
        found = call if made == returns else "found"
        body = f"{made}({found}, self._loop)"
        body = body if made == returns else f"None if (found := {call}) is None else {body}"
        returns = f"'{returns}'"
    head = f"    def {node.name}({ast.unparse(node.args)}) -> {returns}:"
    return "\n".join([*decorators, head, f"        {_doc(node)}", f"        return {body}"])


def _passed_on(given: ast.arguments) -> str:
    names = [each.arg for each in given.args if each.arg != "self"]
    names += [f"*{given.vararg.arg}"] if given.vararg else []
    names += [f"{each.arg}={each.arg}" for each in given.kwonlyargs]
    return ", ".join([*names, f"**{given.kwarg.arg}"] if given.kwarg else names)


def _doc(node: ast.ClassDef | _Function) -> str:
    text = ast.get_docstring(node, clean=False) or ""  # as it is written, indentation included
    return f'"""{text}"""'.replace("`async with`", "`with`")


def _formatted(text: str) -> str:
    for step in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format"]):
        command = [sys.executable, "-m", "ruff", *step, "--stdin-filename", str(_TARGET), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
