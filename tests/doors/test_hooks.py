"""The hook script and the resident process that answers it."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bethink.agents.folder import AgentFolder, free_port, hook_file, hook_module
from bethink.agents.payloads import EVENTS, read_payload
from tests import transcripts_kit as kit
from tests.length import often

SECRET = "hunter2-of-the-user"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
NAMES = (*hook_module().POINTERS, "prompt", "last_assistant_message", "turn_id", "hook_event_name")
PAYLOADS = st.one_of(
    st.binary(max_size=200),
    JSON.map(lambda tree: json.dumps(tree).encode()),
    st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON)).map(lambda tree: json.dumps(tree).encode()),
)


@pytest.fixture
def folder(tmp_path: Path) -> AgentFolder:
    found = AgentFolder(tmp_path / "state" / ("deep" * 30))  # a socket's path may not be as long as that
    found.make()
    shutil.copy(hook_file(), found.path / "hook.py")
    (found.path / "hook.json").write_text(json.dumps({"start": ["true"]}))
    return found


def hook(folder: AgentFolder, event: str, body: bytes, *, agent: str = "claude-code", **environment: str) -> str:
    script = [sys.executable, "-I", "-S", str(folder.path / "hook.py"), agent, event]
    done = subprocess.run(script, input=body, capture_output=True, timeout=300, check=False, env=environment or None)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def payload(session: str = "s1", **more: Any) -> bytes:
    return json.dumps({"session_id": session, "cwd": "/", "prompt": SECRET, **more}).encode()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"session_id": 3}', payload()]
)
def test_a_hook_never_fails(folder: AgentFolder, body: bytes) -> None:
    assert hook(folder, "Stop", body) == ""


def test_a_hook_without_a_folder_or_words_never_fails(tmp_path: Path) -> None:
    lone = shutil.copy(hook_file(), tmp_path / "hook.py")
    for words in ([], ["claude-code"], ["claude-code", "Stop"], ["x", "\udcff"]):
        done = subprocess.run(
            [sys.executable, "-I", "-S", lone, *words], input=payload(), capture_output=True, check=False,
            env={"HOME": str(tmp_path / "none"), "PATH": ""},
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_spool_note_contains_no_content(folder: AgentFolder) -> None:
    hook(
        folder, "UserPromptSubmit", payload(transcript_path="/x/s1.jsonl", tool_input={"a": SECRET}, reason=SECRET * 9)
    )
    [note] = list(folder.spool.iterdir())
    assert note.stat().st_mode & 0o777 == 0o600
    assert json.loads(note.read_text()) == {
        "agent": "claude-code",
        "event": "UserPromptSubmit",
        "session_id": "s1",
        "cwd": "/",
        "transcript_path": "/x/s1.jsonl",
    }


def test_hook_imports_only_the_standard_library(folder: AgentFolder) -> None:
    code = "import sys, runpy, os; sys.argv[1:] = ['codex', 'Stop']; os._exit = lambda _: print(sorted(sys.modules))"
    run = f"{code}; runpy.run_path({str(folder.path / 'hook.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-c", run], input=payload(), capture_output=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout.decode().replace("'", '"'))}
    assert loaded - {"__main__", "__mp_main__", "sitecustomize", "usercustomize"} <= {*sys.stdlib_module_names} | {
        name for name in loaded if name.startswith("_")
    }


@settings(max_examples=often(100, long=1_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=PAYLOADS, event=st.sampled_from([*EVENTS, "Unknown", ""]))
def test_payloads_of_all_kinds_are_read_or_passed_over(folder: AgentFolder, body: bytes, event: str) -> None:
    found = read_payload("claude-code", event, body)
    pointers = hook_module().pointers(body)
    assert all(isinstance(value, str) for value in pointers.values())
    if found is not None:
        assert found.session == json.loads(body)["session_id"].encode("utf-8", "replace").decode()
        json.dumps(found.note())


@pytest.fixture
def resident(folder: AgentFolder, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process that a hook would start, in a home of its own."""
    (folder.path / "port").write_text(str(free_port()))
    running = start(folder, tmp_path)
    yield running
    stop(running)


def start(folder: AgentFolder, home: Path) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "BETHINK_"))}
    environment |= {"HOME": str(home)}
    run = [sys.executable, "-m", "bethink", "serve", "--agents", str(folder.path), "--database", str(home / "m.db")]
    running = subprocess.Popen(run, env=environment, stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not (folder.path / "socket").exists() and time.monotonic() < until and running.poll() is None:
        time.sleep(0.02)
    return running


def stop(running: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> None:
    with suppress(ProcessLookupError):
        running.send_signal(number)
    running.communicate(timeout=300)


def test_spooled_messages_are_shown_at_the_next_start(folder: AgentFolder, tmp_path: Path) -> None:
    cwd = tmp_path / "project"
    (cwd / ".git").mkdir(parents=True)
    path = kit.claude_path(tmp_path, "s1")
    about = {"transcript_path": str(path), "cwd": str(cwd)}
    kit.write(path, kit.claude_code(kit.turns(4), session="s1", cwd=str(cwd)))
    hook(folder, "SessionEnd", payload(**about))
    assert len(list(folder.spool.iterdir())) == 1

    running = start(folder, tmp_path)
    try:
        answer = json.loads(hook(folder, "SessionStart", payload("s2", **about)))
        assert "I prefer small commits" in answer["hookSpecificOutput"]["additionalContext"]
        assert hook(folder, "UserPromptSubmit", payload("s2", **about)) == ""
        stop(running, signal.SIGKILL)
        assert hook(folder, "Stop", payload("s2", **about)) == ""
    finally:
        stop(running)


def test_only_one_process_serves_a_folder(
    folder: AgentFolder, tmp_path: Path, resident: subprocess.Popen[bytes]
) -> None:
    second = subprocess.run(
        [sys.executable, "-m", "bethink", "serve", "--agents", str(folder.path), "--database", str(tmp_path / "m.db")],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert "already" in second.stderr
    assert resident.poll() is None


def test_http_hooks_need_the_token_and_come_from_no_web_page(
    folder: AgentFolder, resident: subprocess.Popen[bytes]
) -> None:
    right = {"Authorization": f"Bearer {folder.token}"}

    def status(headers: dict[str, str], body: bytes = b"{}", path: str = "/hooks/claude-code/Stop") -> int:
        link = http.client.HTTPConnection("127.0.0.1", folder.port, timeout=30)
        try:
            link.request("POST", path, body, headers)
            return link.getresponse().status
        finally:
            link.close()

    assert status({}) == 401
    assert status({"Authorization": "Bearer wrong"}) == 401
    assert status({**right, "Origin": "https://evil.example"}) == 401
    assert status({**right, "Host": "evil.example"}) == 401
    assert status(right) == 200
    for body in (b"", b"{", b"\xff", b"[" * 10_000, payload()):
        assert status(right, body) == 200
    assert status(right, path="/hooks/unknown/Unknown") == 200
    assert status(right, path="/elsewhere") == 200
    assert (folder.path / "token").stat().st_mode & 0o777 == 0o600
    assert (folder.path / "socket").stat().st_mode & 0o777 == 0o600
    assert resident.poll() is None
