import inspect
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import bethink
import bethink.sync
import bethink.types
from bethink import Fact
from bethink.errors import ConfigurationError, DatabaseUnavailableError, NotFoundError
from bethink.features.keys.handle import Keys
from bethink.memory.log.marks import Marks
from bethink.memory.recall.reindex import Vectors
from tests.conftest import KEY, Quiet, many
from tools import make_sync


def test_the_blocking_api_is_what_the_generator_writes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.make_sync", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout


def test_generator_detects_a_stale_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stale = tmp_path / "sync.py"
    stale.write_text("old")
    monkeypatch.setattr(make_sync, "_TARGET", stale)
    monkeypatch.setattr(sys, "argv", ["make_sync", "--check"])

    assert make_sync.main() == 1


HANDLES: list[type[Any]] = [
    bethink.Memory, bethink.Space, bethink.Session, bethink.types.Facts, bethink.types.Documents, bethink.types.Threads,
    Keys, bethink.types.History, bethink.types.LiveHistory, bethink.types.WorkingMemory, Marks, Vectors,
]  # fmt: skip
ASYNC_ONLY = {"Memory": {"backend", "sync"}}


def members(owner: type[Any]) -> dict[str, Any]:
    return {name: getattr(owner, name) for name in dir(owner) if not name.startswith("_")}


@pytest.mark.parametrize("handle", HANDLES, ids=lambda handle: handle.__name__)
def test_both_apis_have_the_same_methods_with_the_same_parameters(handle: type[Any]) -> None:
    wanted, found = members(handle), members(getattr(bethink.sync, handle.__name__))

    assert wanted.keys() - ASYNC_ONLY.get(handle.__name__, set()) <= found.keys()
    for name, each in wanted.items():
        if inspect.isfunction(each) and name in found:
            assert list(inspect.signature(each).parameters.values())[1:] == [
                parameter.replace(annotation=inspect.signature(each).parameters[parameter.name].annotation)
                for parameter in list(inspect.signature(found[name]).parameters.values())[1:]
            ], name
            assert not inspect.iscoroutinefunction(found[name])
        elif isinstance(each, property) and name in found:
            assert isinstance(found[name], property), name


def test_both_ways_to_connect_take_the_same_parameters() -> None:
    def parameters(function: Any) -> list[tuple[str, object]]:
        return [(each.name, each.default) for each in inspect.signature(function).parameters.values()]

    assert parameters(bethink.sync.connect) == parameters(bethink.connect)
    assert "async" not in (bethink.sync.connect.__doc__ or "")


def test_the_blocking_api_does_what_the_other_does(target: str) -> None:
    with bethink.sync.connect(target, redactor=Quiet(), learn=False) as memory:
        alice, local = memory.space("alice"), memory.backend.local()
        session = alice.session(KEY)
        assert session.append(many(6)) == [1, 2, 3, 4, 5, 6]
        assert local.marks().find_invalidated() == [alice.sessions.get(session.id).info]
        assert local.marks().mark_processed(session.info, until=6, expected=6)
        history = alice.sessions.history()
        assert [record.number for record in history.recent(KEY, 2)] == [5, 6]
        alice.facts.save(Fact(id="f", text="tea"))
        assert alice.facts.count() == 1
        assert alice.documents.list() == []
        assert alice.threads.open("t").id == alice.threads.engine().get_thread("t").id == "t"
        assert memory.admin.keys.list() == []
        with alice.sessions.live(KEY) as live:
            live.append({"role": "user", "content": "seven"})
            assert live.messages[-1].content == "seven"
            assert live.failures == 0
        assert history.length(KEY) == 7
        following = session.restart()
        assert (following.space, following.info.ordinal) == ("alice", 2)
        with pytest.raises(NotFoundError):
            alice.sessions.get("ses_nobody")


def test_two_handles_on_one_session_are_equal(tmp_path: Path) -> None:
    with bethink.sync.connect(tmp_path / "m.db", redactor=Quiet(), learn=False) as memory:
        session, other = memory.space("alice").session(KEY), memory.space("alice").session("elsewhere")
        assert session == memory.space("alice").sessions.get(session.id)
        assert session != other
        assert session != session.info
        assert len({session, other, memory.space("alice").session(KEY)}) == 2
        assert repr(session) == f"Session({session.id!r}, space='alice')"
        assert repr(memory.space("alice")) == "Space('alice')"


def test_blocking_find_session_returns_a_blocking_session(tmp_path: Path) -> None:
    with bethink.sync.connect(tmp_path / "memory.db") as memory:
        alice = memory.space("alice")
        assert alice.sessions.find(KEY) is None
        opened = alice.session(KEY)
        found = alice.sessions.find(KEY)

        assert found == opened
        assert isinstance(found, bethink.sync.Session)


def test_a_blocking_memory_that_is_not_open_says_so(tmp_path: Path) -> None:
    memory = bethink.sync.connect(":memory:", redactor=Quiet())

    with pytest.raises(DatabaseUnavailableError, match="with` block"):
        memory.backend.local().marks().find_invalidated()
    with pytest.raises(DatabaseUnavailableError, match="with` block"), memory.space("alice").sessions.live(KEY):
        pass


def test_a_blocking_memory_that_failed_to_open_leaves_no_thread_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    memory = bethink.sync.connect(f"{tmp_path}", redactor=Quiet())

    with pytest.raises(ConfigurationError):
        memory.open()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)  # on its way out, or it never ends
        assert not thread.is_alive(), thread
    with pytest.raises(DatabaseUnavailableError, match="with` block"):
        memory.backend.local().marks().find_invalidated()
    memory.close()


def test_a_blocking_memory_closes_once_and_opens_again(tmp_path: Path) -> None:
    memory = bethink.sync.connect(tmp_path / "m.db", redactor=Quiet())
    for _ in range(2):
        memory.open()
        assert memory.backend.local().marks().find_invalidated() == []
        memory.close()
        memory.close()


def test_unclosed_blocking_memory_lets_the_interpreter_exit(tmp_path: Path) -> None:
    code = "import bethink.sync; m = bethink.sync.connect('m.db'); m.open(); print(len(m.space('a').sessions.list()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout == "0\n"


def test_a_blocking_memory_opened_before_a_fork_says_so_in_the_child(tmp_path: Path) -> None:
    with bethink.sync.connect(tmp_path / "m.db", redactor=Quiet()) as memory:
        memory._loop._process = -1  # as a child sees it
        with pytest.raises(DatabaseUnavailableError, match="before a fork"):
            memory.backend.local().marks().find_invalidated()
        portal = memory._loop._portal
        memory.close()  # a child has nothing to close, and does not wait for it
        memory._loop._portal, memory._loop._process = portal, os.getpid()


def test_a_blocking_memory_that_is_open_is_not_opened_twice(tmp_path: Path) -> None:
    with bethink.sync.connect(tmp_path / "m.db", redactor=Quiet()) as memory:
        loops = [thread for thread in threading.enumerate() if thread.name == "bethink-loop"]
        memory.open()
        assert [thread for thread in threading.enumerate() if thread.name == "bethink-loop"] == loops


def test_a_blocking_memory_closes_while_a_live_history_is_left_open(tmp_path: Path) -> None:
    memory = bethink.sync.connect(tmp_path / "m.db", redactor=Quiet())
    memory.open()
    live = memory.space("alice").sessions.live(KEY)
    live.__enter__()
    memory.close()

    assert not [thread for thread in threading.enumerate() if thread.name == "bethink-loop"]


def test_event_loop_start_failure_raises_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("too many open files")

    monkeypatch.setattr("bethink.api.sync_runtime.anyio.run", refuse)
    monkeypatch.setattr(threading, "excepthook", print)
    with pytest.raises(DatabaseUnavailableError, match="could not be started"):
        bethink.sync.connect(tmp_path / "m.db", redactor=Quiet()).open()
