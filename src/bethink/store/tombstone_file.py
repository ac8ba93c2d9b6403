"""A file of tombstones next to a database: deleted data stays deleted when an old backup is restored.

Each line is a JSON object. The first one of a database has the key of its digests; no line contains a text.
"""

import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import InvalidRequestError
from bethink.model.erasures import Tombstone
from bethink.model.holds import LegalHold
from bethink.model.moments import from_micros, to_micros

_log = logger("store")


@frozen
class TombstoneSet:
    """The tombstones of some spaces, and the keys that their digests were made with."""

    keys: frozenset[bytes] = frozenset()
    stones: frozenset[tuple[str, Tombstone]] = frozenset()
    """Each with the name of its space."""
    holds: frozenset[LegalHold] = frozenset()
    """The legal holds of the database. They are not in a file, because their reasons are free text."""
    waiting: frozenset[str] = frozenset()
    """Erasures that a legal hold stopped: their data was never deleted."""

    def __or__(self, other: "TombstoneSet") -> "TombstoneSet":
        waiting = self.waiting | other.waiting
        return TombstoneSet(
            keys=self.keys | other.keys,
            stones=frozenset(entry for entry in self.stones | other.stones if entry[1].erasure_id not in waiting),
            holds=self.holds | other.holds,
            waiting=waiting,
        )

    @property
    def spaces(self) -> list[str]:
        """Spaces with tombstones."""
        return sorted({space for space, _ in self.stones})

    def to_text(self) -> str:
        """Return the content of a tombstone file."""
        keys = [{"key": key.hex()} for key in sorted(self.keys)]
        ordered = sorted(self.stones, key=lambda entry: (entry[1].at, entry[0], entry[1].kind, entry[1].digest))
        return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in [*keys, *map(_line, ordered)])


def _line(entry: tuple[str, Tombstone]) -> dict[str, object]:
    space, stone = entry
    fields = {"space": space, "kind": stone.kind, "key_id": stone.key_id, "erasure": stone.erasure_id}
    return {**fields, "digest": stone.digest, "at": to_micros(stone.at)}


def parse(text: str, *, name: str) -> TombstoneSet:
    """Parse the content of a tombstone file. An incomplete last line, as after a power failure, is ignored."""
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
            raise InvalidRequestError(
                f"Line {number} of {name} is not a tombstone.", hint="Use a file that Bethink wrote."
            ) from error
    return TombstoneSet(keys=frozenset(keys), stones=frozenset(stones))


def _stone(values: dict[str, Any]) -> Tombstone:
    at: datetime = from_micros(values["at"])
    return Tombstone(
        kind=values["kind"], key_id=values["key_id"], digest=values["digest"], erasure_id=values["erasure"], at=at
    )


def read_file(path: Path) -> TombstoneSet:
    """Return the tombstones in a file. Raises `InvalidRequestError` if it is another kind of file."""
    return parse(path.read_text(encoding="utf-8"), name=str(path))


def write(path: Path, tombstones: TombstoneSet) -> None:
    """Replace a tombstone file atomically."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(tombstones.to_text())
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def add(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Append lines to a file. This never fails, because the database has them, too."""
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    try:
        with open(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        _log.error("cannot write to tombstone file %s: %s", path, error.strerror)
