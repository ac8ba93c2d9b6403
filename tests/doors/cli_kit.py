"""Runs commands in this process and reads their output; a few tests need a real process."""

import io
import json
import os
import subprocess
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from bethink.cli.app import main

ROOT = Path(__file__).parent.parent.parent


class Stream(io.TextIOWrapper):
    """A stream that somebody may be looking at."""

    def __init__(self, content: str = "", *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(content.encode("utf-8", "surrogateescape")), encoding="utf-8")
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        found = json.loads(self.out)
        assert set(found) == {"ok", "data", "error"}
        assert found["ok"] is (self.code == 0)
        assert found["error"] is None or set(found["error"]) == {"code", "message", "hint"}
        return found

    @property
    def data(self) -> Any:
        assert self.code == 0, self.err or self.out
        return self.envelope["data"]


def run(*words: str, stdin: str = "", terminal: bool = False) -> Done:
    """Call the command line as a shell would."""
    out, err = Stream(terminal=terminal), Stream(terminal=terminal)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "stdin", Stream(stdin, terminal=terminal)))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        code = main(words)
    return Done(int(code), out.text(), err.text())


def ok(*words: str, stdin: str = "") -> Any:
    """Call a command with --json and return its data."""
    return run(*words, "--json", stdin=stdin).data


def items(*words: str) -> list[Any]:
    """Call a list command with --json and return the entries of the page."""
    data = ok(*words)
    assert set(data) == {"items", "next"}
    return data["items"]


def at_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a test have a home of its own, and nothing of ours in its environment."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "BETHINK_CONFIG", "BETHINK_API_KEY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)  # not in a repository, whose space commands would use
    return folder


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a process of its own gets: nothing of ours but a home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BETHINK_", "XDG_", "NO_COLOR"))}
    return {**kept, "HOME": str(home), **more}


def process(home: Path, *words: str, **more: Any) -> "subprocess.Popen[str]":
    """Start the command line in a process of its own."""
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | more
    given.setdefault("env", environment(home))
    command = [sys.executable, "-m", "bethink", *words]
    return subprocess.Popen(command, text=True, cwd=home, **given)


def quoted(value: str) -> str:
    """Return a value as hints print it: in double quotes if a shell would read part of it."""
    return f'"{value}"' if "?" in value else value
