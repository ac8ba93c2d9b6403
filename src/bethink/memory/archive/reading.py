"""Reads an archive: checks all of it before anything is used, then yields its rows one at a time."""

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

from bethink.errors import CorruptDatabaseError, InvalidRequestError
from bethink.memory.archive.format import (
    MANIFEST,
    MAX_LINE,
    ArchiveManifest,
    Blocks,
    FileEntry,
    atomic_file,
    damage_error,
    describe_error,
    is_sealed,
    line_of,
    parse_row,
    read_manifest,
)
from bethink.model.records import checked_name
from bethink.store.archived import Table, TableColumn, tables

RowDict = dict[str, Any]

_CHUNK = 1 << 20
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1


class ArchiveReader:
    """An archive on disk, for a `with` block. One line at a time is in memory.

    With `file`, the archive is already open, and `path` is only its name in errors. `for_move`: it is of a space that
    moves.
    """

    def __init__(self, path: Path, *, file: BinaryIO | None = None, for_move: bool = False) -> None:
        self.path = path
        self._source = path if file is None else file
        self.tables = tables(include_moved=for_move)
        self._for_move = for_move
        try:
            self._zip = zipfile.ZipFile(self._source)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise damage_error(
                path, "the end of the file", f"not a complete zip file ({describe_error(error)})"
            ) from error
        try:
            self.manifest = self._load_manifest()
        except BaseException:
            self._zip.close()
            raise
        self._files = {entry.table: entry for entry in self.manifest.files if entry.table}

    def __enter__(self) -> "ArchiveReader":
        return self

    def __exit__(self, *raised: object) -> None:
        self._zip.close()

    def check(self) -> ArchiveManifest:
        """Read everything once, and return the manifest. Raises `CorruptDatabaseError` with the file and the line."""
        sealed = is_sealed(self._source)
        for entry in self.manifest.files:
            if entry.table:
                self._check_table(entry)
            else:
                self._check_file(entry)
        if not sealed:
            raise damage_error(self.path, "between its files", "bytes were changed after writing")
        return self.manifest

    def rows(self, table: Table) -> Iterator[tuple[int, RowDict]]:
        """Yield the rows of a table with their line numbers; none if the archive lacks the table."""
        entry = self._files.get(table.name)
        if entry is None:
            return
        with self._lines(entry) as lines:
            for number, line in enumerate(lines, 1):
                yield number, parse_row(line)

    def pages(self, table: Table, size: int) -> Iterator[tuple[int, list[RowDict]]]:
        """Yield the rows of a table, `size` at a time, with the number of the first line."""
        rows = self.rows(table)
        while page := list(islice(rows, size)):
            yield page[0][0], [row for _, row in page]

    def _load_manifest(self) -> ArchiveManifest:
        try:
            manifest = read_manifest(self._zip, self.path, for_move=self._for_move)
            checked_name(manifest.space, "a space")
        except InvalidRequestError as error:
            raise damage_error(self.path, MANIFEST, "no space can have this name") from error
        except _UNREADABLE as error:
            raise damage_error(self.path, MANIFEST, f"cannot be read ({describe_error(error)})") from error
        return manifest

    @contextmanager
    def _open(self, entry: FileEntry) -> Generator[IO[bytes]]:
        try:
            file = self._zip.open(entry.name)
        except _UNREADABLE as error:
            raise damage_error(self.path, entry.name, f"cannot be read ({describe_error(error)})") from error
        with file:
            yield file

    @contextmanager
    def _lines(self, entry: FileEntry) -> Generator[Iterator[bytes]]:
        with self._open(entry) as file:
            yield self._iterate_lines(entry, io.BufferedReader(file, _CHUNK))  # pyright: ignore[reportArgumentType]

    def _iterate_lines(self, entry: FileEntry, file: io.BufferedReader) -> Iterator[bytes]:
        number = 1
        while True:
            try:
                line = file.readline(MAX_LINE + 1)
            except _UNREADABLE as error:
                raise self._line_error(entry, number, f"cannot be read ({describe_error(error)})") from error
            if not line:
                return
            if not line.endswith(b"\n"):
                raise self._line_error(entry, number, "the line has no end, or is too long")
            yield line
            number += 1

    def _line_error(self, entry: FileEntry, number: int, why: str) -> CorruptDatabaseError:
        return damage_error(self.path, f"{entry.name}, line {number}", why)

    def _check_file(self, entry: FileEntry) -> None:
        digest = hashlib.sha256()
        with self._open(entry) as file:
            try:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
            except _UNREADABLE as error:
                raise damage_error(self.path, entry.name, f"cannot be read ({describe_error(error)})") from error
        if digest.hexdigest() != entry.sha256:
            raise damage_error(self.path, entry.name, "the digest does not match the manifest")

    def _check_table(self, entry: FileEntry) -> None:
        table = next(candidate for candidate in self.tables if candidate.name == entry.table)
        digest, blocks, before = hashlib.sha256(), Blocks(), None
        with self._lines(entry) as lines:
            for line in lines:
                number = blocks.lines + 1
                try:
                    row = _parse_checked_row(line, entry, table)
                except (ValueError, RecursionError) as error:
                    raise self._line_error(entry, number, describe_error(error)) from error
                key = table.key_of(row)
                if before is not None and key <= before:
                    raise self._line_error(entry, number, "the row is out of order or duplicated")
                before = key
                digest.update(line)
                self._check_block(entry, blocks.add_line(line), number)
        block_digests = blocks.digests()
        if len(block_digests) == len(entry.blocks) and block_digests and block_digests[-1] != entry.blocks[-1]:
            raise self._line_error(entry, blocks.lines, "the digest of the last lines does not match the manifest")
        if digest.hexdigest() != entry.sha256 or tuple(block_digests) != entry.blocks or blocks.lines != entry.rows:
            raise self._line_error(entry, blocks.lines, "the rows or the digest do not match the manifest")

    def _check_block(self, entry: FileEntry, digest: str, number: int) -> None:
        if not digest:
            return
        block = (number - 1) // 1_000
        if block >= len(entry.blocks) or entry.blocks[block] != digest:
            raise self._line_error(
                entry, number, "the digest of the 1,000 lines up to here does not match the manifest"
            )


async def download(path: Path, fetch: Callable[[BinaryIO], Awaitable[None]]) -> ArchiveManifest:
    """Write an archive to a file with `fetch`, and return its manifest.

    Raises `CorruptDatabaseError` if it is incomplete.
    """
    with atomic_file(path) as sink:
        await fetch(sink)
        sink.flush()
        temporary = Path(sink.name)
        with ArchiveReader(temporary) as archive:
            if not is_sealed(temporary):
                raise damage_error(path, "the end of the file", "the download is incomplete")
            return archive.manifest


def _parse_checked_row(line: bytes, entry: FileEntry, table: Table) -> RowDict:
    row = parse_row(line)
    if tuple(row) != entry.columns:
        raise ValueError("the columns do not match the manifest")
    for column in table.columns:
        if column.name in row:
            _check_value(column, row[column.name])
    if line_of(row, entry.columns) != line:
        raise ValueError("the row is not formatted as Bethink formats it")
    return row


def _check_value(column: TableColumn, value: object) -> None:
    if value is None and column.optional:
        return
    kind = int if column.integer else str
    if type(value) is not kind:
        raise ValueError(f"{column.name} is not of type {kind.__name__}")
    if isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
        raise ValueError(f"{column.name} is too large")
    if column.json and isinstance(value, str):
        json.loads(value)
