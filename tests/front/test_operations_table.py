"""The operations table is the only declaration of operations: every backend knows each, and nothing repeats it."""

import ast
import inspect
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import bethink
from bethink.errors import BethinkError, InvalidRequestError
from bethink.host.backend import Backend
from bethink.host.local import Local
from bethink.host.off import Off
from bethink.host.remote.remote import Remote
from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import Operation, Request
from bethink.model.operations.monitoring import ListSpaceJobsRequest
from tests.requests_kit import FULL
from tools.make_api import CLASSES

SOURCE = Path(bethink.__file__).parent
GENERATED = ("sync.py", "api/")
DECLARED_HERE = ("model/operations/", "features/", "cli/", "mcp/", *GENERATED)
"""Where parameters may be declared: the table, what is generated from it, and the interfaces that people use."""

HANDLES = {handle: f"{cls.module}:{cls.name}" for handle, cls in CLASSES.items()} | {
    "memory": "bethink.api.connect:Memory"
}
KNOWN_BY_THE_HANDLE = {"session": {"session_id"}}
ONLY_IN_PYTHON = {"space.ask": {"on_sentence": None}}
"""Parameters that are not sent with the request: a function."""

BLOCKING = ("sync.py", "api/sync_runtime.py")
"""The blocking API has the names of the async one."""

IN_PROCESS_ONLY = {"memory/working/memory.py: open_thread repeats space.threads.open"}
"""`WorkingMemory` is for programs beside the database, and has a default mode of its own."""


def handle_of(operation: Operation[Any, Any]) -> type[Any]:
    module, _, name = HANDLES[operation.handle].partition(":")
    return getattr(import_module(module), name)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_an_operation_goes_by_one_name_and_one_route() -> None:
    for attribute in ("name", "route"):
        found = Counter(getattr(operation, attribute) for operation in OPERATIONS)
        assert [each for each, count in found.items() if count > 1] == []


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
async def test_every_operation_is_carried_out_here_or_refused_with_a_reason(
    memory: bethink.Memory, operation: Operation[Any, Any], request_: Request
) -> None:
    refused = await reason(memory.backend, operation, request_)

    assert refused is None or str(refused)
    local = memory.backend
    assert isinstance(local, Local)
    assert operation.name in local._handlers


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
async def test_every_operation_is_sent_to_a_server(operation: Operation[Any, Any], request_: Request) -> None:
    remote = Remote("http://127.0.0.1:9", key="k", retries=0)
    await remote.open()
    refused = await reason(remote, operation, request_)
    await remote.close()

    assert "Cannot reach the server" in str(refused)


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
async def test_disabled_memory_answers_or_refuses_every_operation(
    operation: Operation[Any, Any], request_: Request
) -> None:
    refused = await reason(Off(), operation, request_)

    assert refused is None or "disabled" in str(refused)


async def reason(backend: Backend, operation: Operation[Any, Any], request: Request) -> BethinkError | None:
    """Carry out an operation, and return why it was refused, if it was."""
    try:
        await backend.run(operation, "alice" if operation.in_space else "", request)
    except BethinkError as error:
        return error
    return None


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_method_asks_for_the_fields_of_its_request(operation: Operation[Any, Any]) -> None:
    method = inspect.signature(getattr(handle_of(operation), operation.method_name))
    asked = {each.name: each.default for each in method.parameters.values() if each.name != "self"}
    known = KNOWN_BY_THE_HANDLE.get(operation.handle, set())
    wanted = {
        each.name: inspect.Parameter.empty if each.default is MISSING else each.default
        for each in fields(operation.request)
        if each.name not in known
    }

    assert asked == wanted | ONLY_IN_PYTHON.get(operation.name, {})


def declared(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[tuple[str, str]]:
    """The parameters of a function that have a default, each with it."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(plain), reversed(given.defaults), strict=False)]
    pairs += [(name, value) for name, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
    return {(name.arg, ast.unparse(value)) for name, value in pairs}


def repeated(tree: ast.Module) -> Iterator[str]:
    """The functions of a module that declare three or more parameters of one request again, with their defaults."""
    tables = {
        operation.name: {
            (each.name, repr(each.default)) for each in fields(operation.request) if each.default is not MISSING
        }
        for operation in OPERATIONS
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for operation, table in tables.items():
                if len(declared(node) & table) >= 3:
                    yield f"{node.name} repeats {operation}"


def test_the_parameters_of_a_operation_are_declared_once() -> None:
    found = {
        f"{path}: {each}" for path, tree in modules() if not path.startswith(DECLARED_HERE) for each in repeated(tree)
    }

    assert found == IN_PROCESS_ONLY


def test_repeated_declaration_is_detected() -> None:
    tree = ast.parse("def log(*, session_id: str | None = None, as_of: int | None = None, limit: int = 20): ...")

    assert "log repeats space.admin.context_log.list" in set(repeated(tree))


def test_the_handles_are_what_the_table_says() -> None:
    for tool in ("tools.make_api", "tools.make_sync"):
        done = subprocess.run([sys.executable, "-m", tool, "--check"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_every_class_name_is_unique() -> None:
    found = Counter(
        node.name
        for path, tree in modules()
        if path not in BLOCKING
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert {name for name, count in found.items() if count > 1} == set()


def test_request_is_validated_on_creation() -> None:
    with pytest.raises(InvalidRequestError, match="limit must be between 1 and 1,000"):
        ListSpaceJobsRequest(limit=0)


def test_every_request_with_as_of_takes_known_at_and_has_a_view() -> None:
    requests = {operation.request: {field.name for field in fields(operation.request)} for operation in OPERATIONS}
    past = {request: names for request, names in requests.items() if "as_of" in names}

    assert len(past) > 10
    for request, names in past.items():
        assert "known_at" in names, request
        assert isinstance(getattr(request, "view", None), property), request
