"""Serve one address with several processes that share its sockets. A Python process uses one core."""

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
_RESTART_PAUSE = 1.0
"""Seconds before a process is restarted, so that one that keeps failing does not overload the machine."""

Run = Callable[..., None]
"""Serves in one process. Its arguments are the settings, the sockets and `ready`."""


@dataclass(slots=True)
class _Child:
    process: SpawnProcess
    pipe: Connection
    is_ready: bool = False


def serve_in_processes(
    run: Run, settings: Settings, sockets: Sequence[socket.socket], *, count: int, ready: Callable[[], None]
) -> None:
    """Serve until SIGTERM or SIGINT, and replace processes that end early.

    `run` must be a module-level function or a partial of one, so that other processes can import it. `ready` is called
    once when all processes listen.

    Raises:
        SystemExit: with 1, if a process could not start.
    """
    plain = replace(settings, origins=dict(settings.origins), agents=dict(settings.agents))  # picklable
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
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it would end this process before its children
            _stop(children)
            signal.signal(signal.SIGTERM, before)
            del os.environ[SHARED_FOLDER]


def _step(children: list[_Child], start: Callable[[], _Child], ready: Callable[[], None]) -> None:
    """Wait until a process listens or ends, and handle it."""
    silent = {child.pipe: child for child in children if not child.is_ready}
    ended = {child.process.sentinel: child for child in children}
    for event in wait([*silent, *ended]):
        if isinstance(event, Connection) and event in silent:
            child = silent[event]
            child.is_ready = _receive_ready(event)
            if child.is_ready and all(other.is_ready for other in children):
                ready()
        elif isinstance(event, int):
            children[children.index(ended[event])] = _replace_child(ended[event], start)


def _receive_ready(pipe: Connection) -> bool:
    try:
        return bool(pipe.recv())
    except EOFError:  # the process has ended; its sentinel reports it
        return False


def _replace_child(child: _Child, start: Callable[[], _Child]) -> _Child:
    child.process.join()
    code = child.process.exitcode
    if child.process.pid is not None:
        multiprocess.mark_process_dead(child.process.pid)  # pyright: ignore[reportUnknownMemberType]
    if not child.is_ready:
        _log.error("a server process could not start (exit code %s)", code)
        raise SystemExit(1)
    _log.error("a server process ended (exit code %s); starting another", code)
    time.sleep(_RESTART_PAUSE)
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
    """Run one server process."""
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
