"""Reads an archive: checks all of it before anything is used, and then gives out its rows, one at a time."""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO

from bethink.errors import Corrupt, Invalid
from bethink.memory.archive.format import (
    LONGEST_LINE,
    MANIFEST,
    ArchiveManifest,
    Blocks,
    FileEntry,
    appearing,
    damaged,
    is_sealed,
    line_of,
    read_manifest,
    told,
    typed_row,
)
from bethink.model.records import checked_name
from bethink.store.archived import Table, TableColumn, tables

RowDict = dict[str, Any]

_CHUNK = 1 << 20
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class ArchiveReader:
    """An archive on disk, for a `with` block; it holds one line at a time.

    `file`: it is open already, and `path` is only what errors call it. `whole`: that of a space that moves.
    """

    def __init__(self, path: Path, *, file: BinaryIO | None = None, whole: bool = False) -> None:
        self.path = path
        self._source = path if file is None else file
        self.tables = tables(whole=whole)
        self._whole = whole
        try:
            self._zip = zipfile.ZipFile(self._source)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise damaged(path, "the end of the file", f"it is not a complete zip ({told(error)})") from error
        try:
            self.manifest = self._checked_manifest()
        except BaseException:
            self._zip.close()
            raise
        self._files = {each.table: each for each in self.manifest.files if each.table}

    def __enter__(self) -> "ArchiveReader":
        return self

    def __exit__(self, *raised: object) -> None:
        self._zip.close()

    def check(self) -> ArchiveManifest:
        """Read everything once, and return the manifest. Raises `Corrupt` with the file and the line."""
        sealed = is_sealed(self._source)
        for each in self.manifest.files:
            if each.table:
                self._check_table(each)
            else:
                self._check_file(each)
        if not sealed:
            raise damaged(self.path, "between its files", "its bytes are not those that were written")
        return self.manifest

    def rows(self, table: Table) -> Iterator[tuple[int, RowDict]]:
        """Yield the rows of a table with the number of their line; nothing if the archive has none."""
        entry = self._files.get(table.name)
        if entry is None:
            return
        with self._lines(entry) as lines:
            for number, line in enumerate(lines, 1):
                yield number, typed_row(line)

    def pages(self, table: Table, size: int) -> Iterator[tuple[int, list[RowDict]]]:
        """Yield the rows of a table, so many at a time, with the number of the first line."""
        rows = self.rows(table)
        while page := list(islice(rows, size)):
            yield page[0][0], [row for _, row in page]

    def _checked_manifest(self) -> ArchiveManifest:
        try:
            manifest = read_manifest(self._zip, self.path, whole=self._whole)
            checked_name(manifest.space, "a space")
        except Invalid as error:
            raise damaged(self.path, MANIFEST, "no space can have this name") from error
        except _UNREADABLE as error:
            raise damaged(self.path, MANIFEST, f"it cannot be read ({told(error)})") from error
        return manifest

    @contextmanager
    def _open(self, entry: FileEntry) -> Generator[IO[bytes]]:
        try:
            file = self._zip.open(entry.name)
        except _UNREADABLE as error:
            raise damaged(self.path, entry.name, f"it cannot be read ({told(error)})") from error
        with file:
            yield file

    @contextmanager
    def _lines(self, entry: FileEntry) -> Generator[Iterator[bytes]]:
        with self._open(entry) as file:
            yield self._each_line(entry, io.BufferedReader(file, _CHUNK))  # pyright: ignore[reportArgumentType]

    def _each_line(self, entry: FileEntry, file: io.BufferedReader) -> Iterator[bytes]:
        number = 1
        while True:
            try:
                line = file.readline(LONGEST_LINE + 1)
            except _UNREADABLE as error:
                raise self._at(entry, number, f"it cannot be read ({told(error)})") from error
            if not line:
                return
            if not line.endswith(b"\n"):
                raise self._at(entry, number, "the line has no end, or is too long")
            yield line
            number += 1

    def _at(self, entry: FileEntry, number: int, why: str) -> Corrupt:
        return damaged(self.path, f"{entry.name}, line {number}", why)

    def _check_file(self, entry: FileEntry) -> None:
        digest = hashlib.sha256()
        with self._open(entry) as file:
            try:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
            except _UNREADABLE as error:
                raise damaged(self.path, entry.name, f"it cannot be read ({told(error)})") from error
        if digest.hexdigest() != entry.sha256:
            raise damaged(self.path, entry.name, "its digest is not that of the manifest")

    def _check_table(self, entry: FileEntry) -> None:
        table = next(each for each in self.tables if each.name == entry.table)
        whole, blocks, before = hashlib.sha256(), Blocks(), None
        with self._lines(entry) as lines:
            for line in lines:
                number = blocks.lines + 1
                try:
                    row = _checked(line, entry, table)
                except (ValueError, RecursionError) as error:
                    raise self._at(entry, number, told(error)) from error
                key = table.key_of(row)
                if before is not None and key <= before:
                    raise self._at(entry, number, "it is not in order, or there twice")
                before = key
                whole.update(line)
                self._check_block(entry, blocks.take(line), number)
        found = blocks.digests()
        if len(found) == len(entry.blocks) and found and found[-1] != entry.blocks[-1]:
            raise self._at(entry, blocks.lines, "the digest of the last lines is not that of the manifest")
        if whole.hexdigest() != entry.sha256 or tuple(found) != entry.blocks or blocks.lines != entry.rows:
            raise self._at(entry, blocks.lines, "its rows or its digest are not those of the manifest")

    def _check_block(self, entry: FileEntry, digest: str, number: int) -> None:
        if not digest:
            return
        place = (number - 1) // 1_000
        if place >= len(entry.blocks) or entry.blocks[place] != digest:
            raise self._at(entry, number, "the digest of the 1,000 lines up to here is not that of the manifest")


async def downloaded(path: Path, fetch: Callable[[BinaryIO], Awaitable[None]]) -> ArchiveManifest:
    """Let an archive be written to a file, and return its manifest. Raises `Corrupt` if not all of it arrived."""
    with appearing(path) as sink:
        await fetch(sink)
        sink.flush()
        beside = Path(sink.name)
        with ArchiveReader(beside) as archive:
            if not is_sealed(beside):
                raise damaged(path, "the end of the file", "not all of it arrived")
            return archive.manifest


def _checked(line: bytes, entry: FileEntry, table: Table) -> RowDict:
    row = typed_row(line)
    if tuple(row) != entry.columns:
        raise ValueError("its columns are not those of the manifest")
    for column in table.columns:
        if column.name in row:
            _check_value(column, row[column.name])
    if line_of(row, entry.columns) != line:
        raise ValueError("it is not written as Bethink writes it")
    return row


def _check_value(column: TableColumn, value: object) -> None:
    if value is None and column.optional:
        return
    kind = int if column.integer else str
    if type(value) is not kind:
        raise ValueError(f"{column.name} is not of type {kind.__name__}")
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        raise ValueError(f"{column.name} is too large")
    if column.json and isinstance(value, str):
        json.loads(value)
