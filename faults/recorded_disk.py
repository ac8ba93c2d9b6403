# pyright: reportUnknownMemberType=false
"""A disk that is written down: what SQLite writes, syncs and deletes, in order, and what a power cut may leave of it.

SQLite gets a file system of ours through apsw, so this runs wherever apsw does, as anybody and without a compiler. What
is kept after a cut is what was synced before, and any part of the rest: writes are dropped, reordered and torn.

A sync of a new log or journal also syncs its folder: that is SQLite's own doing, below what is recorded here. When a
sync fails, every other handle that is open on the file hears of it once, at its own next sync: Linux does that since
4.13.
"""

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

import apsw

_BASE = "unix"
_NAME = "bethink-recorded"
_SECTOR = 512
_WRITTEN = (0.0, 0.5, 1.0)
_MEMORY = "-shm"
_WITH_FOLDER = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL


class Act(StrEnum):
    """What is done to a file, or said to whoever called."""

    WRITE = "write"
    TRUNCATE = "truncate"
    SYNC = "sync"
    SYNC_FAILED = "sync failed"
    LINK = "link"
    DELETE = "delete"
    SYNC_FOLDER = "sync folder"
    TELL = "tell"


@dataclass(frozen=True, slots=True)
class Event:
    """One act. `at` is an offset, a new size, or how many events a sync covers."""

    act: Act
    file: int = 0
    at: int = 0
    data: bytes = b""
    name: str = ""
    told: tuple[object, ...] = ()


Failing = Callable[[Act, str], None]
"""Called before each act on a named file; what it raises is what the disk says."""


def _well(act: Act, name: str) -> None:
    del act, name


@dataclass(slots=True)
class Disk:
    """The files of one folder, and all that is done to them from now on."""

    folder: Path
    failing: Failing = _well
    heard_late: int = 0
    """How often a handle heard of a sync that failed on another one."""
    lies: bool = False
    """A seeded bug: a sync returns, and nothing was synced."""
    events: list[Event] = field(default_factory=list[Event])
    before: dict[str, bytes] = field(default_factory=dict[str, bytes])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _files: dict[str, int] = field(default_factory=dict[str, int])
    _handles: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    _unheard: set[int] = field(default_factory=set[int])
    _made: int = 0

    def __post_init__(self) -> None:
        for path in sorted(self.folder.iterdir()):
            if path.is_file() and not path.name.endswith(_MEMORY):
                self.before[path.name] = path.read_bytes()
                self._files[path.name] = self._number()

    def tell(self, *what: object) -> None:
        """Note what a caller was told, or is about to ask for."""
        self.add(Event(Act.TELL, told=what))

    def add(self, event: Event) -> None:
        """Write an act down."""
        with self._lock:
            self.events.append(event)

    def opened(self, name: str) -> int:
        """Return the number of a file; one that was not there is a new one in the folder."""
        with self._lock:
            if name not in self._files:
                self._files[name] = self._number()
                self.events.append(Event(Act.LINK, self._files[name], name=name))
            return self._files[name]

    def holds(self, number: int, handle: object) -> None:
        """Note that a handle is open on a file."""
        with self._lock:
            self._handles[number].add(id(handle))

    def lets_go(self, number: int, handle: object) -> None:
        """Note that a handle was closed."""
        with self._lock:
            self._handles[number].discard(id(handle))
            self._unheard.discard(id(handle))

    def sync_failed(self, number: int, handle: object, began: int) -> None:
        """Note that a sync failed, for every other handle to hear."""
        with self._lock:
            self.events.append(Event(Act.SYNC_FAILED, number, began))
            self._unheard |= self._handles[number] - {id(handle)}

    def hears(self, handle: object) -> bool:
        """Return whether a sync failed that this handle has not heard of."""
        with self._lock:
            late = id(handle) in self._unheard
            self._unheard.discard(id(handle))
            self.heard_late += late
        return late

    def deleted(self, name: str, *, synced: bool) -> None:
        """Note that a file has lost its name."""
        with self._lock:
            self._files.pop(name, None)
            self.events.append(Event(Act.DELETE, name=name))
            if synced and not self.lies:
                self.events.append(Event(Act.SYNC_FOLDER, at=len(self.events)))

    def _number(self) -> int:
        self._made += 1
        return self._made


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str, filename: Any, flags: list[int]) -> None:
        super().__init__(_BASE, filename, flags)
        self._disk, self._name = disk, name
        self._number = disk.opened(name)
        self._brings_folder = bool(flags[0] & _WITH_FOLDER)
        disk.holds(self._number, self)

    def xClose(self) -> None:  # noqa: N802 - SQLite's name
        self._disk.lets_go(self._number, self)
        super().xClose()

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.failing(Act.WRITE, self._name)
        super().xWrite(data, offset)
        # Noted afterwards: a sync that another thread has begun meanwhile does not cover it.
        self._disk.add(Event(Act.WRITE, self._number, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.failing(Act.TRUNCATE, self._name)
        super().xTruncate(newsize)
        self._disk.add(Event(Act.TRUNCATE, self._number, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        began = len(self._disk.events)
        try:
            self._disk.failing(Act.SYNC, self._name)
        except apsw.Error:
            self._disk.sync_failed(self._number, self, began)
            raise
        # The files are in memory or will be thrown away: only the order counts, so the real disk is left alone.
        del flags
        if self._disk.lies:
            return
        self._disk.add(Event(Act.SYNC, self._number, began))
        if self._brings_folder:
            self._disk.add(Event(Act.SYNC_FOLDER, at=began))
            self._brings_folder = False
        if self._disk.hears(self):
            raise failed(apsw.SQLITE_IOERR_FSYNC)


def failed(code: int) -> apsw.IOError:
    """Return what SQLite's own file system raises for a disk that failed."""
    error: Any = apsw.IOError("the disk failed")
    error.extendedresult = code
    return error


class _FileSystem(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        super().__init__(_NAME, _BASE, makedefault=True)
        self._disk = disk

    def _own(self, name: str | None) -> str | None:
        path = None if name is None else Path(name)
        return path.name if path is not None and path.parent == self._disk.folder else None

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        own = self._own(path)
        return apsw.VFSFile(_BASE, name, flags) if own is None else _File(self._disk, own, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802, FBT001
        own = self._own(filename)
        if own is not None:
            self._disk.failing(Act.DELETE, own)
        super().xDelete(filename, False)  # noqa: FBT003 - SQLite's own signature
        if own is not None:
            self._disk.deleted(own, synced=bool(syncdir))


@contextlib.contextmanager
def recording(disk: Disk) -> Generator[Disk]:
    """Let every database that this process opens in the folder of a disk be recorded."""
    system = _FileSystem(disk)
    try:
        yield disk
    finally:
        system.unregister()
        apsw.set_default_vfs(_BASE)


class Left(StrEnum):
    """What a cut leaves of what was not synced."""

    NOTHING = "nothing"
    EVERYTHING = "everything"
    BEGINNING = "the beginning"
    SOME = "some, in any order"
    TORN = "some, and parts of others"


class Replay:
    """Goes through what happened to a disk, and says at any moment what a cut would leave."""

    def __init__(self, disk: Disk, dice: Random) -> None:
        self._events = disk.events
        self._dice = dice
        self._next = 0
        self._synced: dict[int, bytearray] = {}
        self._names: dict[str, int] = {}
        for number, (name, data) in enumerate(disk.before.items(), 1):
            self._synced[number] = bytearray(data)
            self._names[name] = number
        self._waiting: dict[int, list[tuple[int, Event]]] = {}
        self._renamed: list[tuple[int, Event]] = []
        self.told: list[tuple[object, ...]] = []

    def go(self, to: int) -> None:
        """Go on to a moment, so many events after the beginning."""
        while self._next < to:
            self._see(self._next, self._events[self._next])
            self._next += 1

    def _see(self, index: int, event: Event) -> None:
        match event.act:
            case Act.TELL:
                self.told.append(event.told)
            case Act.WRITE | Act.TRUNCATE:
                self._waiting.setdefault(event.file, []).append((index, event))
            case Act.LINK | Act.DELETE:
                self._renamed.append((index, event))
            case Act.SYNC | Act.SYNC_FAILED:
                waiting = self._waiting.pop(event.file, [])
                content = self._synced.setdefault(event.file, bytearray())
                # When a sync fails, none, some or all of it is written, and nobody tries again with the rest.
                written = 1.0 if event.act is Act.SYNC else self._dice.choice(_WRITTEN)
                for _, each in filter(lambda entry: entry[0] < event.at, waiting):
                    if self._dice.random() < written:
                        _apply(content, each)
                self._waiting[event.file] = [entry for entry in waiting if entry[0] >= event.at]
            case Act.SYNC_FOLDER:
                for _, each in filter(lambda entry: entry[0] < event.at, self._renamed):
                    _rename(self._names, each)
                self._renamed = [entry for entry in self._renamed if entry[0] >= event.at]

    def cut(self, left: Left, dice: Random) -> dict[str, bytes]:
        """Return the files after a power cut now, by name."""
        names, last = dict(self._names), self._next
        if left is Left.BEGINNING:
            waiting = sorted(index for each in self._waiting.values() for index, _ in each)
            last = dice.choice([*waiting, self._next])
        # Names change in order, as file systems with a journal keep it; of contents anything may be missing.
        kept = {Left.NOTHING: 0, Left.EVERYTHING: len(self._renamed)}.get(left, dice.randint(0, len(self._renamed)))
        for _, event in self._renamed[:kept]:
            _rename(names, event)
        return {name: bytes(self._content(number, left, last, dice)) for name, number in names.items()}

    def _content(self, number: int, left: Left, last: int, dice: Random) -> bytearray:
        content = bytearray(self._synced.get(number, b""))
        chance = dice.choice((0.1, 0.5, 0.9))
        for index, event in self._waiting.get(number, []):
            if left is Left.NOTHING or (left is Left.BEGINNING and index > last):
                break
            if left in {Left.EVERYTHING, Left.BEGINNING} or dice.random() < chance:
                _apply(content, event)
            elif left is Left.TORN and event.act is Act.WRITE:
                _tear(content, event, dice)
        return content


def _rename(names: dict[str, int], event: Event) -> None:
    if event.act is Act.LINK:
        names[event.name] = event.file
    else:
        names.pop(event.name, None)


def _apply(content: bytearray, event: Event) -> None:
    if event.act is Act.TRUNCATE:
        del content[event.at :]
        return
    content.extend(bytes(max(0, event.at - len(content))))
    content[event.at : event.at + len(event.data)] = event.data


def _tear(content: bytearray, event: Event, dice: Random) -> None:
    """Write some sectors of it, and let the bytes that change in others be rubbish.

    Bytes that stay the same are safe, as those beside a write are: SQLite counts on that ("powersafe overwrite").
    """
    at, end = event.at, event.at + len(event.data)
    while at < end:
        until = min(end, (at // _SECTOR + 1) * _SECTOR)
        fate, data = dice.random(), event.data[at - event.at : until - event.at]
        if fate < 0.5:
            _apply(content, Event(Act.WRITE, event.file, at, data))
        elif fate < 0.6:
            before = bytes(content[at:until]).ljust(until - at, b"\0")
            rubbish = zip(before, data, dice.randbytes(until - at), strict=True)
            mixed = bytes(old if old == new else other for old, new, other in rubbish)
            _apply(content, Event(Act.WRITE, event.file, at, mixed))
        at = until
