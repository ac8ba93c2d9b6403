"""Writes `bethink/sync.py`, the blocking API, from the signatures and docstrings of the async one."""

import argparse
import ast
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_SOURCE = _ROOT / "src" / "bethink"
_TARGET = _SOURCE / "sync.py"
_CLASSES = {
    "History": "log/history.py",
    "LiveHistory": "log/live.py",
    "Marks": "log/marks.py",
    "Facts": "facts/service.py",
    "Vectors": "recall/reindex.py",
    "Documents": "documents/service.py",
    "Desk": "working/desk.py",
    "Access": "audit/keys.py",
    "Memory": "memory.py",
    "RemoteFacts": "client/facts.py",
    "RemoteDocuments": "client/documents.py",
    "RemoteDesk": "client/desk.py",
    "RemoteAccess": "client/access.py",
    "Client": "client/client.py",
}
_OPENED = ("Memory", "Client")
"""What has a loop of its own, from `open` to `close`."""

_HEAD = '''"""The blocking API: the same verbs for code without an event loop.

Written by tools/make_sync.py; change the async source and run it again.
"""

'''

_BODY = '''
T = TypeVar("T")
ContextT = TypeVar("ContextT")


class _Loop:
    """A private event loop on a thread of its own. Open it after a fork, never before."""

    def __init__(self) -> None:
        self._portal: BlockingPortal | None = None
        self._process = 0

    def start(self, opening: Callable[[], Awaitable[None]]) -> None:
        if self._portal is not None and self._process == os.getpid():
            return
        ready = threading.Event()
        # A daemon: a memory that nobody closed must not keep the interpreter from ending.
        self._thread = threading.Thread(target=self._live, args=(ready,), name="bethink-loop", daemon=True)
        self._thread.start()
        ready.wait()
        if self._portal is None:
            raise Unavailable("the event loop could not be started.", hint="Is the limit of open files reached?")
        try:
            self.run(opening)
        except BaseException:
            self._end()
            raise

    def stop(self, closing: Callable[[], Awaitable[None]]) -> None:
        if self._process != os.getpid():
            self._portal = None  # the loop stayed behind in the process that opened it
        if self._portal is not None:
            try:
                self.run(closing)
            finally:
                self._end()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        return self._open_portal().call(call)

    def context(self, inner: AbstractAsyncContextManager[ContextT]) -> AbstractContextManager[ContextT]:
        return self._open_portal().wrap_async_context_manager(inner)

    def _open_portal(self) -> BlockingPortal:
        if self._portal is None:
            raise Unavailable("the memory is not open.", hint="Use it inside a with block.")
        if self._process != os.getpid():
            raise Unavailable("the memory was opened before a fork.", hint="Open it in the process that uses it.")
        return self._portal

    def _live(self, ready: threading.Event) -> None:
        try:
            anyio.run(self._serve, ready)
        finally:
            ready.set()

    async def _serve(self, ready: threading.Event) -> None:
        async with BlockingPortal() as portal:
            self._portal, self._process = portal, os.getpid()
            ready.set()
            await portal.sleep_until_stopped()

    def _end(self) -> None:
        portal, self._portal = self._portal, None
        if portal is not None:
            portal.call(partial(portal.stop, cancel_remaining=True))  # what is still open has lost its database
            self._thread.join()


def connect(
    target: str | Path = "",
    *,
    redactor: Redactor | None = None,
    engine: Engine | None = None,
    compactor: Compactor | None = None,
    model: Model | str | None = None,
    embedder: Embedder | str | None = None,
    **arguments: object,
) -> "Memory":
    """Return a blocking Memory on a file, on `:memory:`, or on a `postgresql://` address; open it with `with`."""
    inner = build.connect(
        target, redactor=redactor, engine=engine, compactor=compactor, model=model, embedder=embedder, **arguments
    )
    return Memory(inner, _Loop())
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if sync.py is not what would be written")
    options = parser.parse_args()
    wanted = _formatted(generate())
    if options.check:
        if not _TARGET.exists() or _TARGET.read_text(encoding="utf-8") != wanted:
            print("src/bethink/sync.py is out of date: run python -m tools.make_sync")
            return 1
        print("src/bethink/sync.py is up to date")
        return 0
    _TARGET.write_text(wanted, encoding="utf-8")
    print("wrote src/bethink/sync.py")
    return 0


def generate() -> str:
    imports = [
        "import os",
        "import threading",
        "from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping",
        "from contextlib import AbstractAsyncContextManager, AbstractContextManager",
        "from functools import partial",
        "from pathlib import Path",
        "from types import TracebackType",
        "from typing import TypeVar",
        "",
        "import anyio",
        "from anyio.from_thread import BlockingPortal",
        "",
        "from bethink import build",
        *(
            f"from bethink.{path.removesuffix('.py').replace('/', '.')} import {name} as Async{name}"
            for name, path in _CLASSES.items()
        ),
        "from bethink.errors import Unavailable",
        "from bethink.extend import Embedder, Model, Redactor",
        "from bethink.model.access import KeyInfo, NewKey, Scope",
        "from bethink.model.consolidation import ChangeSet",
        "from bethink.model.documents import Document, DocumentSource, Draft, Provenance",
        "from bethink.model.jobs import Job, JobKind",
        "from bethink.model.recall import Block, Lineage, Recall, Ref, RefKind, Remembered, Showing",
        "from bethink.model.records import AgentKind, ConversationKey, Fact, Forgotten, Message, Record, Session",
        "from bethink.model.records import SessionEntry, SessionMemory, SourceMessage",
        "from bethink.model.moments import When",
        "from bethink.model.working import Chunk, Event, FailedEvent, Mode, QueuedEvent, State, StateInfo, Thread",
        "from bethink.store import vectors",
        "from bethink.store.vectors import VectorIndex",
        "from bethink.worker import Audit, RunReport",
        "from bethink.working.desk import DispatchResult, StepResult",
        "from bethink.working.ladder import Compactor, Thresholds, TokenUsage",
        "from bethink.working.observers import Watch",
        "from bethink.working.process import Engine",
        "from bethink.working.prompt import Prompt",
        "from bethink.working.travel import StateDiff",
    ]
    classes = [_class(name, _SOURCE / path) for name, path in _CLASSES.items()]
    return _HEAD + "\n".join(imports) + "\n" + _BODY + "\n\n" + "\n\n".join(classes)


def _class(name: str, path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    source = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    lines = [f"class {name}:", f'    """{ast.get_docstring(source, clean=True)}"""'.replace("\n", "\n    ")]
    lines += ["", *_beginning(name, source), ""]
    for node in source.body:
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef) and not node.name.startswith("_"):
            lines += [_method(node), ""]
    if any(getattr(node, "name", "") == "__aenter__" for node in source.body):
        lines.append(_context(name))
    return "\n".join(lines)


def _beginning(name: str, source: ast.ClassDef) -> list[str]:
    if name != "Client":
        head = f"    def __init__(self, inner: Async{name}, loop: _Loop) -> None:"
        return [head, "        self._inner = inner", "        self._loop = loop"]
    # A client is made by whoever uses it, not by `connect`.
    made = next(node for node in source.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    head = f"    def __init__({ast.unparse(made.args)}) -> None:"
    return [head, f"        self._inner = Async{name}({_passed_on(made.args)})", "        self._loop = _Loop()"]


def _method(node: ast.AsyncFunctionDef | ast.FunctionDef) -> str:
    returns = ast.unparse(node.returns).strip("'") if node.returns else "None"
    decorators = [f"    @{ast.unparse(each)}" for each in node.decorator_list]
    head = [*decorators, f"    def {node.name}({ast.unparse(node.args)}) -> {returns}:"]
    doc = f'        """{ast.get_docstring(node, clean=True)}"""'.replace("\n", "\n        ").replace(
        "\n        \n", "\n\n"
    )
    call = f"self._inner.{node.name}"
    if not decorators:
        call += f"({_passed_on(node.args)})"
    return "\n".join([*head, doc, f"        {_result(node, call, returns)}"])


def _result(node: ast.AsyncFunctionDef | ast.FunctionDef, call: str, returns: str) -> str:
    if isinstance(node, ast.AsyncFunctionDef):
        if node.name == "open":
            return "self._loop.start(self._inner.open)"
        if node.name == "close":
            return "self._loop.stop(self._inner.close)"
        return f"return self._loop.run(lambda: {call})"
    return f"return {returns}({call}, self._loop)" if returns in _CLASSES else f"return {call}"


def _passed_on(arguments: ast.arguments) -> str:
    positional = [each.arg for each in arguments.args if each.arg != "self"]
    keywords = [f"{each.arg}={each.arg}" for each in arguments.kwonlyargs]
    return ", ".join(positional + keywords)


def _context(name: str) -> str:
    types = "kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None"
    if name in _OPENED:
        enter, leave = "self.open()", "self.close()"
    else:
        enter = "self._context = self._loop.context(self._inner)\n        self._context.__enter__()"
        leave = "self._context.__exit__(kind, error, trace)"
    return f'''    def __enter__(self) -> "{name}":
        {enter}
        return self

    def __exit__(self, {types}) -> None:
        {leave}
'''


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff"]
    steps = (["check", "--select", "I", "--fix", "--quiet"], ["format"])
    for step in steps:
        call = [*command, *step, "--stdin-filename", str(_TARGET), "-"]
        text = subprocess.run(call, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
