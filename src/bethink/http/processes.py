"""Serves one address with several processes, which share its sockets: one of Python uses one core."""

import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from prometheus_client import multiprocess

from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.http.metrics import SHARED_FOLDER

_log = logger("server")
_SPAWN = multiprocessing.get_context("spawn")
_PAUSE = 1.0
"""Seconds before a process that ended is replaced, so that one that cannot live does not use the machine up."""

Run = Callable[..., None]
"""Serves in one process. It is given the settings, the sockets and `ready`."""


@dataclass(slots=True)
class _Child:
    process: SpawnProcess
    pipe: Connection
    is_ready: bool = False


def serve_in_processes(
    run: Run, settings: Settings, sockets: Sequence[socket.socket], *, count: int, ready: Callable[[], None]
) -> None:
    """Serve until told to stop by SIGTERM or SIGINT, and replace a process that ends before.

    `run` must be a function of a module, or a partial of one: a process of its own has to find it. `ready` is called
    once when all processes listen.

    Raises:
        SystemExit: with 1, if a process could not start.
    """
    plain = replace(settings, origins=dict(settings.origins), agents=dict(settings.agents))  # what can be sent
    before = signal.signal(signal.SIGTERM, _exit)
    with tempfile.TemporaryDirectory(prefix="bethink-metrics-") as folder:
        os.environ[SHARED_FOLDER] = folder
        children: list[_Child] = []
        try:
            children += [_start(run, plain, sockets) for _ in range(count)]
            while True:
                _step(children, lambda: _start(run, plain, sockets), ready)
        except KeyboardInterrupt:
            pass
        except SystemExit as error:
            if error.code:
                raise
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it would end this before the children have ended
            _stop(children)
            signal.signal(signal.SIGTERM, before)
            del os.environ[SHARED_FOLDER]


def _step(children: list[_Child], start: Callable[[], _Child], ready: Callable[[], None]) -> None:
    """Wait until a process listens or ends, and see to it."""
    silent = {child.pipe: child for child in children if not child.is_ready}
    ended = {child.process.sentinel: child for child in children}
    for each in wait([*silent, *ended]):
        if isinstance(each, Connection) and each in silent:
            child = silent[each]
            child.is_ready = _told(each)
            if child.is_ready and all(other.is_ready for other in children):
                ready()
        elif isinstance(each, int):
            children[children.index(ended[each])] = _replaced(ended[each], start)


def _told(pipe: Connection) -> bool:
    try:
        return bool(pipe.recv())
    except EOFError:  # it has ended, which its sentinel tells, too
        return False


def _replaced(child: _Child, start: Callable[[], _Child]) -> _Child:
    child.process.join()
    code = child.process.exitcode
    if child.process.pid is not None:
        multiprocess.mark_process_dead(child.process.pid)  # pyright: ignore[reportUnknownMemberType]
    if not child.is_ready:
        _log.error("a server process could not start (exit code %s)", code)
        raise SystemExit(1)
    _log.error("a server process ended (exit code %s); starting another", code)
    time.sleep(_PAUSE)
    return start()


def _start(run: Run, settings: Settings, sockets: Sequence[socket.socket]) -> _Child:
    ours, theirs = Pipe()
    process = _SPAWN.Process(target=_main, args=(run, settings, list(sockets), theirs))
    process.start()
    theirs.close()
    return _Child(process, ours)


def _stop(children: Sequence[_Child]) -> None:
    for child in children:
        if child.process.exitcode is None:
            child.process.terminate()
    for child in children:
        child.process.join()


def _main(run: Run, settings: Settings, sockets: list[socket.socket], pipe: Connection) -> None:
    """What each process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the first process stops the others
    threading.Thread(target=_end_with_parent, args=(pipe,), daemon=True).start()

    def ready(address: str) -> None:
        pipe.send(address)

    run(settings, sockets, ready=ready)


def _end_with_parent(pipe: Connection) -> None:
    try:
        pipe.recv()
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)


def _exit(number: int, frame: Any) -> None:
    del number, frame
    raise SystemExit(0)
