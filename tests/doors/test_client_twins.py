import inspect
from typing import Any

import pytest
from bethink.client.access import RemoteAccess
from bethink.client.desk import RemoteDesk
from bethink.client.documents import RemoteDocuments
from bethink.client.facts import RemoteFacts

import bethink.sync
from bethink import Client, Memory
from bethink.audit.keys import Access
from bethink.documents.service import Documents
from bethink.facts.service import Facts
from bethink.working.memory import WorkingMemory

TWINS = {
    Memory: Client,
    Facts: RemoteFacts,
    Documents: RemoteDocuments,
    WorkingMemory: RemoteDesk,
    Access: RemoteAccess,
}

_HERE_ONLY = "it is about the process or its database, and a client has neither"
_AUTHORITY = "who wrote something, and how far it is trusted, is for the server to say"
_NO_ROUTE = "agents that need it run beside the database; over a network it would be many small steps"
MISSING = {
    "Memory.enabled": _HERE_ONLY,
    "Memory.work": _HERE_ONLY,
    "Memory.marks": "learning by hand is done beside the database",
    "Memory.vectors": _HERE_ONLY,
    "Memory.learn(only)": _HERE_ONLY,
    "Memory.history": "open_session, append and read do the same over HTTP",
    "Memory.live": "it writes behind; over HTTP append says when a message is durable",
    "Facts.search_by_metadata": _NO_ROUTE,
    "Facts.length": _NO_ROUTE,
    "Documents.archive": "files() has the same; an archive is made of it in a line",
    "Documents.create(by)": _AUTHORITY,
    "Documents.update(by)": _AUTHORITY,
    "Access.find": "the server looks a key up; nobody else needs to",
    "WorkingMemory.thresholds": _HERE_ONLY,
    "WorkingMemory.register_compactor": _HERE_ONLY,
    "WorkingMemory.watch": _HERE_ONLY,
    "WorkingMemory.clear_state_cache": _HERE_ONLY,
    "WorkingMemory.push_event": _NO_ROUTE,
    "WorkingMemory.pop_event": _NO_ROUTE,
    "WorkingMemory.peek_event": _NO_ROUTE,
    "WorkingMemory.queue": _NO_ROUTE,
    "WorkingMemory.queue_length": _NO_ROUTE,
    "WorkingMemory.clear_queue": _NO_ROUTE,
    "WorkingMemory.failed_events": _NO_ROUTE,
    "WorkingMemory.acquire_step_lock": _NO_ROUTE,
    "WorkingMemory.release_step_lock": _NO_ROUTE,
    "WorkingMemory.is_step_locked": _NO_ROUTE,
    "WorkingMemory.current_step_id": _NO_ROUTE,
    "WorkingMemory.trigger_compaction": _NO_ROUTE,
    "WorkingMemory.execute_truncation": _NO_ROUTE,
    "WorkingMemory.emergency": _NO_ROUTE,
    "WorkingMemory.advance": _NO_ROUTE,
    "WorkingMemory.consume_pending_compaction": _NO_ROUTE,
    "WorkingMemory.check_token_usage": _NO_ROUTE,
    "WorkingMemory.replay": _NO_ROUTE,
}
"""What Memory and its parts have and a client has not, and why."""


def public(owner: type) -> dict[str, Any]:
    return {name: each for name, each in vars(owner).items() if not name.startswith("_")}


def parameters(verb: Any) -> dict[str, tuple[Any, ...]]:
    found = inspect.signature(verb).parameters.values()
    return {each.name: (each.kind, each.default, each.annotation) for each in found}


@pytest.mark.parametrize("twin", TWINS.values(), ids=lambda twin: twin.__name__)
def test_every_verb_of_the_client_is_one_of_the_memory_with_the_same_parameters(twin: type) -> None:
    [local] = [each for each, other in TWINS.items() if other is twin]
    for name, verb in public(twin).items():
        wanted = parameters(public(local)[name])
        without = {each for each in wanted if f"{local.__name__}.{name}({each})" in MISSING}
        assert parameters(verb) == {each: kind for each, kind in wanted.items() if each not in without}, name
        assert inspect.iscoroutinefunction(verb) == inspect.iscoroutinefunction(public(local)[name])


def test_what_the_client_has_not_is_known_and_has_a_reason() -> None:
    verbs = {
        f"{local.__name__}.{name}" for local, twin in TWINS.items() for name in set(public(local)) - set(public(twin))
    }
    arguments = {
        f"{local.__name__}.{name}({each})"
        for local, twin in TWINS.items()
        for name in set(public(local)) & set(public(twin))
        for each in set(parameters(public(local)[name])) - set(parameters(public(twin)[name]))
    }

    assert verbs | arguments == set(MISSING)
    assert all(MISSING.values())


def test_the_blocking_client_has_the_same_verbs() -> None:
    for twin in TWINS.values():
        blocking = public(getattr(bethink.sync, twin.__name__))
        assert {name: list(parameters(verb)) for name, verb in blocking.items()} == {
            name: list(parameters(verb)) for name, verb in public(twin).items()
        }
