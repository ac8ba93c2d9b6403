"""A small file of tombstones beside a database: what was forgotten stays forgotten when an old backup is restored.

A line is a JSON object. The first of a database names the key of its digests; no line holds a text.
"""

import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import Invalid
from bethink.model.erasures import Tombstone
from bethink.model.holds import LegalHold
from bethink.model.moments import from_micros, to_micros

_log = logger("store")


@frozen
class Buried:
    """The tombstones of some spaces, and the keys that their digests were made with."""

    keys: frozenset[bytes] = frozenset()
    stones: frozenset[tuple[str, Tombstone]] = frozenset()
    """Each with the name of its space."""
    holds: frozenset[LegalHold] = frozenset()
    """The legal holds of the database. They are not in a file: somebody wrote a reason there."""
    waiting: frozenset[str] = frozenset()
    """Erasures that were recorded before a legal hold, which keeps what they name: it was never gone."""

    def __or__(self, other: "Buried") -> "Buried":
        waiting = self.waiting | other.waiting
        return Buried(
            keys=self.keys | other.keys,
            stones=frozenset(each for each in self.stones | other.stones if each[1].erasure_id not in waiting),
            holds=self.holds | other.holds,
            waiting=waiting,
        )

    @property
    def spaces(self) -> list[str]:
        """The spaces that have any."""
        return sorted({space for space, _ in self.stones})

    def dumped(self) -> str:
        """Return the lines of a file that holds them."""
        keys = [{"key": key.hex()} for key in sorted(self.keys)]
        ordered = sorted(self.stones, key=lambda each: (each[1].at, each[0], each[1].kind, each[1].digest))
        return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in [*keys, *map(_line, ordered)])


def _line(each: tuple[str, Tombstone]) -> dict[str, object]:
    space, stone = each
    found = {"space": space, "kind": stone.kind, "key_id": stone.key_id, "erasure": stone.erasure_id}
    return {**found, "digest": stone.digest, "at": to_micros(stone.at)}


def parsed(text: str, *, name: str) -> Buried:
    """Read the lines of a file. A last line that is not whole is left out: it was written when the power failed."""
    keys: set[bytes] = set()
    stones: set[tuple[str, Tombstone]] = set()
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            values: dict[str, Any] = json.loads(line)
            if "key" in values:
                keys.add(bytes.fromhex(values["key"]))
                continue
            stones.add((values["space"], _stone(values)))
        except (ValueError, KeyError, TypeError) as error:
            raise Invalid(
                f"line {number} of {name} is not a tombstone.", hint="Use a file that Bethink wrote."
            ) from error
    return Buried(keys=frozenset(keys), stones=frozenset(stones))


def _stone(values: dict[str, Any]) -> Tombstone:
    at: datetime = from_micros(values["at"])
    return Tombstone(
        kind=values["kind"], key_id=values["key_id"], digest=values["digest"], erasure_id=values["erasure"], at=at
    )


def read(path: Path) -> Buried:
    """Return the tombstones in a file. Raises `Invalid` if it is another kind of file."""
    return parsed(path.read_text(encoding="utf-8"), name=str(path))


def write(path: Path, buried: Buried) -> None:
    """Write a file anew, whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(buried.dumped())
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def add(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Add lines at the end of a file. It never fails: they are in the database, too."""
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    try:
        with open(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        _log.error("cannot add to %s, the file of tombstones: %s", path, error.strerror)
