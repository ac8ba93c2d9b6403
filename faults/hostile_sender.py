"""Sends hostile requests from a process of its own: what is measured elsewhere does not wait for the sending."""

import http.client
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from faults.hostile_requests import Kind, headers_for, path_of
from faults.places import fork


@contextmanager
def sending(kind: Kind, port: int, key: str, *, at_once: int, log: Path) -> Generator[None]:
    """Send a request again and again, `at_once` times in parallel, until the block ends. The log has the statuses."""
    log.unlink(missing_ok=True)
    child = fork(lambda: _send_all(kind, port, key, at_once, log))
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def statuses(log: Path) -> Counter[int]:
    """Return how often each status was answered."""
    return Counter(map(int, log.read_text(encoding="ascii").split())) if log.exists() else Counter()


def _send_all(kind: Kind, port: int, key: str, at_once: int, log: Path) -> None:
    file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    threads = [threading.Thread(target=_send, args=[kind, port, key, file]) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _send(kind: Kind, port: int, key: str, file: int) -> None:
    headers, path = headers_for(kind, key), path_of(kind)
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    while True:
        with suppress(OSError, http.client.HTTPException):
            link.request("POST", path, kind.body, headers)
            answer = link.getresponse()
            answer.read()
            os.write(file, b"%d\n" % answer.status)
            continue
        link.close()  # the server closes the connection of a body that it refuses
        time.sleep(0.01)
