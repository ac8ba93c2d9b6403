"""The format of an archive: a zip of JSON Lines, one file for each table, with a manifest and digests.

docs/howto/archive.md describes it for readers that are not written in Python.
"""

import hashlib
import json
import os
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, cast

from bethink.base.frozen import frozen
from bethink.errors import CorruptDatabaseError
from bethink.store.archived import tables

FORMAT, VERSION = "bethink-archive", 1
MANIFEST, INDEX = "manifest.json", "index.html"
BLOCK = 1_000
"""Number of lines that share a digest, so that damage is located within one block."""
MAX_LINE = 128 * 1024 * 1024
"""Maximum bytes of a line; a reader holds one line at a time."""
SEAL = 64
"""The comment at the end of the zip: the digest of every byte before it, in hexadecimal digits."""

_MAX_MANIFEST = 64 * 1024 * 1024
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PAGE = re.compile(r"pages/[0-9]{5,}\.html")
_CHUNK = 1 << 20


@frozen
class FileEntry:
    """A file of an archive: its size, its digest, and for a table its columns, rows and the digests of its blocks."""

    name: str
    bytes: int
    sha256: str
    table: str = ""
    columns: tuple[str, ...] = ()
    rows: int = 0
    blocks: tuple[str, ...] = ()


@frozen
class ArchiveManifest:
    """The contents of an archive. `newest` is the time of its newest row, in microseconds; no clock is read."""

    space: str
    created_at: int
    newest: int
    schema: int
    files: tuple[FileEntry, ...]

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows of each table."""
        return {entry.table: entry.rows for entry in self.files if entry.table}

    def text(self) -> bytes:
        """Return the manifest as it is stored in the archive."""
        head = {"format": FORMAT, "version": VERSION, "space": self.space, "created_at": self.created_at}
        files = [
            {name: value for name, value in asdict(entry).items() if value or name in _ALWAYS} for entry in self.files
        ]
        content = {**head, "newest": self.newest, "schema": self.schema, "files": files}
        return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


_ALWAYS = ("name", "bytes", "sha256")


def table_file(table: str) -> str:
    """Return the name of the file with the rows of a table."""
    return f"rows/{table}.jsonl"


def damage_error(path: Path, location: str, why: str) -> CorruptDatabaseError:
    """Return the error for a damaged archive, with the location."""
    hint = "Nothing was written. Download the file again, or export the space again."
    return CorruptDatabaseError(f"{path.name} is damaged: {location}: {why}.", hint=hint)


@contextmanager
def atomic_file(path: Path) -> Generator[BinaryIO]:
    """Open a private file that gets its name only when it is complete."""
    target = path.resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as sink:
        temporary = Path(sink.name)
        try:
            yield cast("BinaryIO", sink)
            sink.flush()
            os.fsync(sink.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


class ZipWriter:
    """Writes an archive to a file, always the same bytes for the same content."""

    def __init__(self, sink: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED)
        self._sink = sink
        self.files: list[FileEntry] = []

    def add(self, name: str, chunks: Iterable[bytes]) -> FileEntry:
        """Add a file that is not a table."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(_info(name), "w", force_zip64=True) as file:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                file.write(chunk)
        entry = FileEntry(name=name, bytes=size, sha256=digest.hexdigest())
        self.files.append(entry)
        return entry

    def add_table(self, table: str, columns: tuple[str, ...], lines: Iterable[bytes]) -> FileEntry:
        """Add the rows of a table, one line each."""
        blocks = Blocks()
        added = self.add(table_file(table), blocks.passing(lines))
        entry = FileEntry(
            name=added.name, bytes=added.bytes, sha256=added.sha256, table=table, columns=columns,
            rows=blocks.lines, blocks=tuple(blocks.digests()),
        )  # fmt: skip
        self.files[-1] = entry
        return entry

    def close(self, manifest: ArchiveManifest) -> None:
        """Add the manifest and seal the archive: every byte counts."""
        self.add(MANIFEST, [manifest.text()])
        self._zip.comment = b"0" * SEAL
        self._zip.close()
        size = self._sink.seek(0, 2) - SEAL
        self._sink.seek(0)
        seal = _digest(self._sink, size)
        self._sink.seek(size)
        self._sink.write(seal.encode())

    def release(self) -> None:
        """Close the file, even if writing it failed."""
        with suppress(ValueError):
            self._zip.close()


class Blocks:
    """The digests of every thousand lines."""

    def __init__(self) -> None:
        self.lines = 0
        self._done: list[str] = []
        self._now = hashlib.sha256()

    def add_line(self, line: bytes) -> str:
        """Count a line, and return the digest of its block if the line ends the block; otherwise an empty text."""
        self._now.update(line)
        self.lines += 1
        if self.lines % BLOCK:
            return ""
        self._done.append(self._now.hexdigest())
        self._now = hashlib.sha256()
        return self._done[-1]

    def passing(self, lines: Iterable[bytes]) -> Iterable[bytes]:
        """Pass lines on, and count them."""
        for line in lines:
            self.add_line(line)
            yield line

    def digests(self) -> list[str]:
        """Return the digests of all blocks, the last of which may be shorter."""
        return [*self._done, self._now.hexdigest()] if self.lines % BLOCK else list(self._done)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, 0o600 << 16, 3
    return info


def _digest(source: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size and (chunk := source.read(min(size, _CHUNK))):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()


def is_sealed(source: Path | BinaryIO) -> bool:
    """Return whether every byte of an archive is unchanged."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            return is_sealed(file)
    size = source.seek(0, 2) - SEAL
    if size <= 0:
        return False
    source.seek(0)
    digest = _digest(source, size)
    return source.read(SEAL) == digest.encode()


def read_manifest(archive: zipfile.ZipFile, path: Path, *, for_move: bool = False) -> ArchiveManifest:
    """Read the manifest, and check that the zip contains exactly the files in it. Raises `CorruptDatabaseError`.

    With `for_move`, the archive is of a space that moves, with more tables.
    """
    infos = archive.infolist()
    names = Counter(info.filename for info in infos)
    for name, times in names.items():
        if times > 1:
            raise damage_error(path, repr(name), "appears twice")
    for info in infos:
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            raise damage_error(path, repr(info.filename), "is encrypted or has an unsupported compression")
    if MANIFEST not in names:
        raise damage_error(path, MANIFEST, "is missing, so this may not be a Bethink archive")
    if archive.getinfo(MANIFEST).file_size > _MAX_MANIFEST:
        raise damage_error(path, MANIFEST, "is too large")
    try:
        content = json.loads(archive.read(MANIFEST))
    except (ValueError, RecursionError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise damage_error(path, MANIFEST, f"cannot be read ({describe_error(error)})") from error
    manifest = _manifest(content, path)
    if manifest.text() != archive.read(MANIFEST):
        raise damage_error(path, MANIFEST, "is not formatted as Bethink formats it")
    _check_files(manifest, {info.filename: info for info in infos}, path, for_move=for_move)
    return manifest


def _manifest(value: Any, path: Path) -> ArchiveManifest:
    content = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if content.get("format") != FORMAT:
        raise damage_error(path, MANIFEST, "is not the manifest of a Bethink archive")
    if content.get("version") != VERSION:
        hint = "Install a newer version of Bethink."
        raise CorruptDatabaseError(
            f"{path.name} has format version {content.get('version')!r}; supported: 1.", hint=hint
        )
    try:
        files = tuple(_file(entry) for entry in content["files"])
        return ArchiveManifest(
            space=_require_type(content["space"], str), created_at=_require_type(content["created_at"], int),
            newest=_require_type(content["newest"], int), schema=_require_type(content["schema"], int), files=files,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise damage_error(path, MANIFEST, f"lacks a required field ({describe_error(error)})") from error


def _file(fields: Mapping[str, Any]) -> FileEntry:
    def texts(name: str) -> tuple[str, ...]:
        return tuple(_require_type(item, str) for item in _require_type(fields.get(name, []), list))

    return FileEntry(
        name=_require_type(fields["name"], str),
        bytes=_require_type(fields["bytes"], int),
        sha256=_require_type(fields["sha256"], str),
        table=_require_type(fields.get("table", ""), str),
        columns=texts("columns"),
        rows=_require_type(fields.get("rows", 0), int),
        blocks=texts("blocks"),
    )


def _require_type(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r:.40} is not of type {kind.__name__}")
    return value


def _check_files(
    manifest: ArchiveManifest, infos: Mapping[str, zipfile.ZipInfo], path: Path, *, for_move: bool
) -> None:
    tables_by_name = {table.name: table for table in tables(include_moved=for_move)}
    expected = {MANIFEST, *(entry.name for entry in manifest.files)}
    mismatched = sorted(expected ^ set(infos))
    if mismatched or len(expected) <= len(manifest.files):
        location = repr(mismatched[0]) if mismatched else MANIFEST
        raise damage_error(path, location, "the zip and its manifest list different files")
    for entry in manifest.files:
        if entry.bytes != infos[entry.name].file_size:
            raise damage_error(path, repr(entry.name), "its size does not match the manifest")
        if not entry.table:
            if entry.name != INDEX and not _PAGE.fullmatch(entry.name):
                raise damage_error(path, repr(entry.name), "an archive does not have this file")
            continue
        table = tables_by_name.get(entry.table)
        if table is None or not set(entry.columns) <= set(table.names):
            hint = "Install a newer version of Bethink."
            raise CorruptDatabaseError(
                f"{path.name} was written by a newer version of Bethink: {entry.name!r:.80}.", hint=hint
            )
        needed = {column.name for column in table.columns if column.name in table.key}
        if entry.name != table_file(entry.table) or not needed <= set(entry.columns):
            raise damage_error(path, repr(entry.name), "its name or columns do not match its table")


def describe_error(error: BaseException) -> str:
    """Return the message of an error as one short line."""
    return " ".join(str(error).split())[:120] or type(error).__name__


def line_of(row: Mapping[str, Any], columns: tuple[str, ...]) -> bytes:
    """Return a row as a line."""
    text = json.dumps({name: row[name] for name in columns}, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def parse_row(text: bytes) -> dict[str, Any]:
    """Parse a line. Raises `ValueError` if it is not an object."""
    row = json.loads(text)
    if isinstance(row, dict):
        return cast("dict[str, Any]", row)
    raise ValueError("is not a JSON object")
