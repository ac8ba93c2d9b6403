import inspect
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import bethink
import bethink.sync
from bethink import Fact
from bethink.errors import Misconfigured, NotFound, Unavailable
from tests.conftest import KEY, Quiet, many
from tools import make_sync


def test_the_blocking_api_is_what_the_generator_writes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.make_sync", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout


def test_the_generator_notices_a_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stale = tmp_path / "sync.py"
    stale.write_text("old")
    monkeypatch.setattr(make_sync, "_TARGET", stale)
    monkeypatch.setattr(sys, "argv", ["make_sync", "--check"])

    assert make_sync.main() == 1


@pytest.mark.parametrize("name", ["Memory", "History", "LiveHistory", "Facts"])
def test_both_apis_have_the_same_verbs_with_the_same_parameters(name: str) -> None:
    def verbs(owner: object) -> dict[str, list[str]]:
        return {
            verb: list(inspect.signature(method).parameters)
            for verb, method in vars(owner).items()
            if not verb.startswith("_") and callable(method)
        }

    assert verbs(getattr(bethink.sync, name)) == verbs(getattr(bethink, name))


def test_the_blocking_api_does_what_the_other_does(target: str) -> None:
    with bethink.sync.connect(target, redactor=Quiet(), learn=False) as memory:
        session = memory.space("alice").session(KEY)
        assert session.append(many(6)) == [1, 2, 3, 4, 5, 6]
        assert [found.id for found in memory.local().marks().find_invalidated()] == [session.id]
        assert memory.local().marks().mark_processed(session, until=6, expected=6)
        history = memory.local().history("alice")
        assert [record.number for record in history.recent(KEY, 2)] == [5, 6]
        memory.space("alice").facts.save(Fact(id="f", content="tea"))
        assert memory.space("alice").facts.count() == 1
        with memory.local().live("alice", KEY) as live:
            live.append({"role": "user", "content": "seven"})
            assert live.messages[-1].content == "seven"
            assert live.failures == 0
        assert history.length(KEY) == 7
        with pytest.raises(NotFound):
            memory.space("alice").get_session(session_id="ses_nobody")


def test_a_blocking_memory_that_is_not_open_says_so(tmp_path: Path) -> None:
    memory = bethink.sync.connect(":memory:", redactor=Quiet())

    with pytest.raises(Unavailable, match="with block"):
        memory.local().marks().find_invalidated()
    with pytest.raises(Unavailable, match="with block"), memory.local().live("alice", KEY):
        pass


def test_a_blocking_memory_that_failed_to_open_leaves_no_thread_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    memory = bethink.sync.connect(f"{tmp_path}", redactor=Quiet())

    with pytest.raises(Misconfigured):
        memory.open()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)  # on its way out, or it never ends
        assert not thread.is_alive(), thread
    with pytest.raises(Unavailable, match="with block"):
        memory.local().marks().find_invalidated()
    memory.close()


def test_a_blocking_memory_closes_once_and_opens_again(tmp_path: Path) -> None:
    memory = bethink.sync.connect(tmp_path / "m.db", redactor=Quiet())
    for _ in range(2):
        memory.open()
        assert memory.local().marks().find_invalidated() == []
        memory.close()
        memory.close()


def test_a_blocking_memory_that_nobody_closed_lets_the_interpreter_end(tmp_path: Path) -> None:
    code = "import bethink.sync; m = bethink.sync.connect('m.db'); m.open(); print(m.marks().find_invalidated())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout == "[]\n"


def test_a_blocking_memory_opened_before_a_fork_says_so_in_the_child(tmp_path: Path) -> None:
    with bethink.sync.connect(tmp_path / "m.db", redactor=Quiet()) as memory:
        memory._loop._process = -1  # as a child sees it
        with pytest.raises(Unavailable, match="before a fork"):
            memory.local().marks().find_invalidated()
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
    live = memory.local().live("alice", KEY)
    live.__enter__()
    memory.close()

    assert not [thread for thread in threading.enumerate() if thread.name == "bethink-loop"]


def test_a_loop_that_cannot_start_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("too many open files")

    monkeypatch.setattr("bethink.sync.anyio.run", refuse)
    monkeypatch.setattr(threading, "excepthook", print)
    with pytest.raises(Unavailable, match="could not be started"):
        bethink.sync.connect(tmp_path / "m.db", redactor=Quiet()).open()
