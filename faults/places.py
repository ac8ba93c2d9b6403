"""What campaigns share: a database in a folder of its own, and children that die without tidying up."""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools import postgres

DATABASES = ("sqlite", "postgres")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a campaign happens: what `bethink.connect` takes, a way past row-level security, and a ledger beside."""

    database: str
    target: str
    raw: str
    ledger: Path


@contextmanager
def place(database: str) -> Generator[Place]:
    """Make an empty database of a kind, and remove it afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        ledger.mkdir()
        if database == "sqlite":
            path = str(Path(folder) / "memory.db")
            yield Place(database=database, target=path, raw=path, ledger=ledger)
        else:
            with postgres.running(durable=True) as superuser:
                target = postgres.create_database(superuser, "faults")
                raw = postgres.in_database(superuser, "faults")
                yield Place(database=database, target=target, raw=raw, ledger=ledger)


def chosen(database: str) -> tuple[str, ...]:
    """Say which databases a command line means."""
    return DATABASES if database == "both" else (database,)


def fork(work: Callable[[], None]) -> int:
    """Run `work` in a child that ends without any of Python's tidying up; return its process id."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    code = 1
    threading.Thread(target=_end_with, args=[parent], daemon=True).start()
    try:
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - the child's outermost handler
        print(f"process {os.getpid()}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    os._exit(code)


def _end_with(parent: int) -> None:
    """Let no child outlive a campaign that was itself killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


class AsItIs:
    """A redactor for campaigns that are not about redaction."""

    def redact(self, text: str) -> str:
        return text
