"""Long-running commands as real processes: their output and their responses."""

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.doors.cli_kit import environment


class Service:
    """A command that runs until it is stopped, and what it has said."""

    def __init__(self, child: "subprocess.Popen[str]") -> None:
        self.child = child
        self.said: list[str] = []
        self._more = threading.Condition()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.child.stderr
        for line in self.child.stderr:
            with self._more:
                self.said.append(line)
                self._more.notify_all()

    def wait_for(self, words: str, times: int = 1) -> str:
        """Return the line that says this for the n-th time."""

        def found() -> list[str]:
            return [line for line in self.said if words in line]

        with self._more:
            assert self._more.wait_for(lambda: len(found()) >= times, 60), self.said
        return found()[times - 1]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to stop, and return its exit code."""
        self.child.send_signal(number)
        code = self.child.wait(60)
        self.reader.join()
        return code

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged as JSON."""
        return [json.loads(line) for line in self.said if line.startswith("{")]


@contextmanager
def service(home: Path, *words: str, **settings: str) -> Generator[Service]:
    named = {f"BETHINK_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "bethink", *words]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment(home, **named), **streams) as child:
        running = Service(child)
        try:
            yield running
        finally:
            if child.poll() is None:
                child.kill()
            running.reader.join()


def ask(address: str, method: str, path: str, key: str = "", body: object = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    headers |= {"Content-Type": "application/json"} if body is not None else {}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def figure(page: str, name: str) -> float:
    return sum(
        float(line.rpartition(" ")[2]) for line in page.splitlines() if re.match(rf"{re.escape(name)}[ {{]", line)
    )


def until(true: Callable[[], bool]) -> None:
    for _ in range(300):
        if true():
            return
        threading.Event().wait(0.1)
    raise AssertionError("it never came true")
