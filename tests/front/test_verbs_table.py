"""The table of operations is the one place that declares them: every backend knows each, and nothing repeats it."""

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
from bethink.errors import BethinkError, Invalid
from bethink.host.local import Local
from bethink.host.off import Off
from bethink.host.remote.remote import Remote
from bethink.model.operations import VERBS
from bethink.model.operations.base import Request, Verb
from bethink.model.operations.memory import JobsRequest
from tests.requests_kit import FULL
from tools.make_api import CLASSES, module_of

SOURCE = Path(bethink.__file__).parent
GENERATED = ("sync.py", "api/")
DECLARED_HERE = ("model/operations/", "features/", "cli/", "mcp/", *GENERATED)
"""Where parameters may be declared: the table, what is generated from it, and the interfaces that people use."""

HANDLES = {handle: f"{module_of(handle)}:{cls.name}" for handle, cls in CLASSES.items()} | {
    "memory": "bethink.api.connect:Memory"
}
KNOWN_BY_THE_HANDLE = {"session": {"session_id"}}

IN_PROCESS_ONLY = {"memory/working/memory.py: open_thread repeats threads.open"}
"""`WorkingMemory` is for programs beside the database, and has a default mode of its own."""


def handle_of(verb: Verb[Any, Any]) -> type[Any]:
    module, _, name = HANDLES[verb.handle].partition(":")
    return getattr(import_module(module), name)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_a_verb_goes_by_one_name_and_one_route() -> None:
    for attribute in ("name", "route"):
        found = Counter(getattr(verb, attribute) for verb in VERBS)
        assert [each for each, count in found.items() if count > 1] == []


@pytest.mark.parametrize(("verb", "request_"), FULL, ids=[verb.name for verb, _ in FULL])
async def test_every_verb_is_carried_out_here_or_refused_with_a_reason(
    memory: bethink.Memory, verb: Verb[Any, Any], request_: Request
) -> None:
    refused = await reason(memory.backend, verb, request_)

    assert refused is None or str(refused)
    local = memory.backend
    assert isinstance(local, Local)
    assert verb.name in local._handlers


@pytest.mark.parametrize(("verb", "request_"), FULL, ids=[verb.name for verb, _ in FULL])
async def test_every_verb_is_sent_to_a_server(verb: Verb[Any, Any], request_: Request) -> None:
    remote = Remote("http://127.0.0.1:9", key="k", retries=0)
    await remote.open()
    refused = await reason(remote, verb, request_)
    await remote.close()

    assert "cannot be reached" in str(refused)


@pytest.mark.parametrize(("verb", "request_"), FULL, ids=[verb.name for verb, _ in FULL])
async def test_every_verb_is_answered_or_refused_where_memory_is_switched_off(
    verb: Verb[Any, Any], request_: Request
) -> None:
    refused = await reason(Off(), verb, request_)

    assert refused is None or "switched off" in str(refused)


async def reason(backend: bethink.Backend, verb: Verb[Any, Any], request: Request) -> BethinkError | None:
    """Carry out a verb, and return why it was refused, if it was."""
    try:
        await backend.run(verb, "alice" if verb.in_space else "", request)
    except BethinkError as error:
        return error
    return None


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_method_asks_for_the_fields_of_its_request(verb: Verb[Any, Any]) -> None:
    method = inspect.signature(getattr(handle_of(verb), verb.method_name))
    asked = {each.name: each.default for each in method.parameters.values() if each.name != "self"}
    known = KNOWN_BY_THE_HANDLE.get(verb.handle, set())
    wanted = {
        each.name: inspect.Parameter.empty if each.default is MISSING else each.default
        for each in fields(verb.request)
        if each.name not in known
    }

    assert asked == wanted


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
        verb.name: {(each.name, repr(each.default)) for each in fields(verb.request) if each.default is not MISSING}
        for verb in VERBS
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for verb, table in tables.items():
                if len(declared(node) & table) >= 3:
                    yield f"{node.name} repeats {verb}"


def test_the_parameters_of_a_verb_are_declared_once() -> None:
    found = {
        f"{path}: {each}" for path, tree in modules() if not path.startswith(DECLARED_HERE) for each in repeated(tree)
    }

    assert found == IN_PROCESS_ONLY


def test_a_second_declaration_is_found() -> None:
    tree = ast.parse("def shown(*, session_id: str | None = None, as_of: int | None = None, limit: int = 100): ...")

    assert "shown repeats space.shown" in set(repeated(tree))


def test_the_handles_are_what_the_table_says() -> None:
    for tool in ("tools.make_api", "tools.make_sync"):
        done = subprocess.run([sys.executable, "-m", tool, "--check"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_a_class_name_stands_for_one_thing() -> None:
    found = Counter(
        node.name
        for path, tree in modules()
        if not path.startswith("sync.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert {name for name, count in found.items() if count > 1} == set()


def test_a_request_is_checked_where_it_is_made() -> None:
    with pytest.raises(Invalid, match="limit must be 1 to 1,000"):
        JobsRequest(limit=0)
