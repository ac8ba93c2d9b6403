"""What the feeder of a campaign promised, kept outside the database: meant before the commit, kept after it."""

import os
from pathlib import Path
from typing import NamedTuple

_NAME = "promises"


class Promise(NamedTuple):
    """A memory of something said at a moment. Kept under a session, or only meant: it may be stored or not."""

    space: str
    moment: int
    session: str | None


class Promises:
    """Written a line at a time; a line is whole or not there, whenever the process dies."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / _NAME, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def mean(self, space: str, moment: int) -> None:
        """Write down what may be stored from now on."""
        os.write(self._file, f"{space} {moment}\n".encode())

    def keep(self, space: str, moment: int, session: str) -> None:
        """Write down that it is stored."""
        os.write(self._file, f"{space} {moment} {session}\n".encode())


def read(folder: Path) -> list[Promise]:
    """Return every line, the oldest first."""
    path = folder / _NAME
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return [Promise(space, int(moment), session[0] if session else None) for space, moment, *session in lines]
