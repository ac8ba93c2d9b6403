"""The format of an archive: a zip of JSON Lines, one file for each table, with a manifest and digests.

docs/reference/archive.md describes it for readers that are not written in Python.
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
from bethink.errors import Corrupt
from bethink.store.archived import tables

FORMAT, VERSION = "bethink-archive", 1
MANIFEST, INDEX = "manifest.json", "index.html"
BLOCK = 1_000
"""How many lines have a digest together, so that damage is found within so many lines."""
LONGEST_LINE = 128 * 1024 * 1024
"""Bytes that a line may have; a reader holds one line at a time."""
SEAL = 64
"""The comment at the end of the zip: the digest of every byte before it, in hexadecimal digits."""

_LARGEST_MANIFEST = 64 * 1024 * 1024
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
    """What an archive holds. `newest`: the time of its newest row, in microseconds; no clock is read."""

    space: str
    created_at: int
    newest: int
    schema: int
    files: tuple[FileEntry, ...]

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {each.table: each.rows for each in self.files if each.table}

    def text(self) -> bytes:
        """Write the manifest as it stands in the archive."""
        head = {"format": FORMAT, "version": VERSION, "space": self.space, "created_at": self.created_at}
        files = [
            {name: value for name, value in asdict(each).items() if value or name in _ALWAYS} for each in self.files
        ]
        whole = {**head, "newest": self.newest, "schema": self.schema, "files": files}
        return (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()


_ALWAYS = ("name", "bytes", "sha256")


def table_file(table: str) -> str:
    """Return the name of the file with the rows of a table."""
    return f"rows/{table}.jsonl"


def damaged(path: Path, place: str, why: str) -> Corrupt:
    """Return the error for a damaged archive, with the place."""
    hint = "Nothing was written. Fetch the file again, or export the space once more."
    return Corrupt(f"{path.name} is damaged: {place}: {why}.", hint=hint)


@contextmanager
def appearing(path: Path) -> Generator[BinaryIO]:
    """Open a private file that takes its name only when all of it is written."""
    target = path.resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as sink:
        beside = Path(sink.name)
        try:
            yield cast("BinaryIO", sink)
            sink.flush()
            os.fsync(sink.fileno())
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


class ZipWriter:
    """Writes an archive to a file, always the same bytes for the same content."""

    def __init__(self, sink: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED)
        self._sink = sink
        self.files: list[FileEntry] = []

    def add(self, name: str, chunks: Iterable[bytes]) -> FileEntry:
        """Add a file that does not hold a table."""
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
        written = self.add(table_file(table), blocks.passing(lines))
        entry = FileEntry(
            name=written.name, bytes=written.bytes, sha256=written.sha256, table=table, columns=columns,
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
        """Let go of the file, also where writing it failed."""
        with suppress(ValueError):
            self._zip.close()


class Blocks:
    """The digests of every thousand lines."""

    def __init__(self) -> None:
        self.lines = 0
        self._done: list[str] = []
        self._now = hashlib.sha256()

    def take(self, line: bytes) -> str:
        """Count a line, and return the digest of its block if the block ends with it, else nothing."""
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
            self.take(line)
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
    """Return whether every byte of an archive is as it was written."""
    if isinstance(source, Path):
        with source.open("rb") as opened:
            return is_sealed(opened)
    size = source.seek(0, 2) - SEAL
    if size <= 0:
        return False
    source.seek(0)
    found = _digest(source, size)
    return source.read(SEAL) == found.encode()


def read_manifest(archive: zipfile.ZipFile, path: Path, *, whole: bool = False) -> ArchiveManifest:
    """Read the manifest, and check that the zip holds exactly what it names. Raises `Corrupt`.

    `whole`: it is that of a space that moves, with more tables.
    """
    infos = archive.infolist()
    names = Counter(info.filename for info in infos)
    for name, times in names.items():
        if times > 1:
            raise damaged(path, repr(name), "it is there twice")
    for info in infos:
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            raise damaged(path, repr(info.filename), "it is encrypted or compressed in another way")
    if MANIFEST not in names:
        raise damaged(path, MANIFEST, "it is missing; this may not be an archive of Bethink")
    if archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
        raise damaged(path, MANIFEST, "it is too large")
    try:
        found = json.loads(archive.read(MANIFEST))
    except (ValueError, RecursionError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise damaged(path, MANIFEST, f"it cannot be read ({told(error)})") from error
    manifest = _manifest(found, path)
    if manifest.text() != archive.read(MANIFEST):
        raise damaged(path, MANIFEST, "it is not written as Bethink writes it")
    _check_files(manifest, {info.filename: info for info in infos}, path, whole=whole)
    return manifest


def _manifest(given: Any, path: Path) -> ArchiveManifest:
    found = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    if found.get("format") != FORMAT:
        raise damaged(path, MANIFEST, "this is not an archive of Bethink")
    if found.get("version") != VERSION:
        hint = "Upgrade: pip install --upgrade bethink."
        raise Corrupt(f"{path.name} has the format version {found.get('version')!r}; this Bethink reads 1.", hint=hint)
    try:
        files = tuple(_file(each) for each in found["files"])
        return ArchiveManifest(
            space=_typed(found["space"], str), created_at=_typed(found["created_at"], int),
            newest=_typed(found["newest"], int), schema=_typed(found["schema"], int), files=files,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, MANIFEST, f"it lacks what an archive has ({told(error)})") from error


def _file(found: Mapping[str, Any]) -> FileEntry:
    def texts(name: str) -> tuple[str, ...]:
        return tuple(_typed(each, str) for each in _typed(found.get(name, []), list))

    return FileEntry(
        name=_typed(found["name"], str),
        bytes=_typed(found["bytes"], int),
        sha256=_typed(found["sha256"], str),
        table=_typed(found.get("table", ""), str),
        columns=texts("columns"),
        rows=_typed(found.get("rows", 0), int),
        blocks=texts("blocks"),
    )


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r:.40} is not of type {kind.__name__}")
    return value


def _check_files(manifest: ArchiveManifest, infos: Mapping[str, zipfile.ZipInfo], path: Path, *, whole: bool) -> None:
    known = {table.name: table for table in tables(whole=whole)}
    wanted = {MANIFEST, *(each.name for each in manifest.files)}
    strange = sorted(wanted ^ set(infos))
    if strange or len(wanted) <= len(manifest.files):
        place = repr(strange[0]) if strange else MANIFEST
        raise damaged(path, place, "the zip and its manifest do not name the same files")
    for each in manifest.files:
        if each.bytes != infos[each.name].file_size:
            raise damaged(path, repr(each.name), "it has another size than the manifest says")
        if not each.table:
            if each.name != INDEX and not _PAGE.fullmatch(each.name):
                raise damaged(path, repr(each.name), "an archive has no such file")
            continue
        table = known.get(each.table)
        if table is None or not set(each.columns) <= set(table.names):
            hint = "Upgrade: pip install --upgrade bethink."
            raise Corrupt(f"{path.name} was written by a newer Bethink: it has {each.name!r:.80}.", hint=hint)
        needed = {column.name for column in table.columns if column.name in table.key}
        if each.name != table_file(each.table) or not needed <= set(each.columns):
            raise damaged(path, repr(each.name), "its name or its columns do not fit its table")


def told(error: BaseException) -> str:
    """Return what an error says, in one short line."""
    return " ".join(str(error).split())[:120] or type(error).__name__


def line_of(row: Mapping[str, Any], columns: tuple[str, ...]) -> bytes:
    """Write a row as a line."""
    text = json.dumps({name: row[name] for name in columns}, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def typed_row(text: bytes) -> dict[str, Any]:
    """Read a line. Raises `ValueError` if it is not an object."""
    found = json.loads(text)
    if isinstance(found, dict):
        return cast("dict[str, Any]", found)
    raise ValueError("it is not a JSON object")
