"""A damaged or forged archive is rejected with the position, and nothing of it is stored or run."""

import json
import random
import re
import shutil
import zipfile
from collections.abc import AsyncIterator, Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import bethink
import bethink.types
from bethink.errors import CorruptDatabaseError
from bethink.memory.archive import format as archive_format
from bethink.memory.archive.format import MANIFEST, SEAL, ArchiveManifest, ZipWriter
from bethink.memory.archive.load import load_archive
from bethink.memory.archive.reading import ArchiveReader
from bethink.memory.archive.write import write_archive
from bethink.store import archived
from bethink.store.db import Database
from tests.conftest import memory_on
from tests.length import often
from tests.rooms.archive_kit import SPACE, opened

FLIPS = often(150, long=2_000)
_NASTY = '<script>alert("x")</script><img src=x onerror=alert(1)> & "quoted"'

_FORGED: list[tuple[Callable[[list[bytes]], list[bytes]], str]] = [
    (lambda lines: [lines[1], lines[0], *lines[2:]], "line 2: the row is out of order"),
    (lambda lines: [lines[0], *lines], "line 2: the row is out of order or duplicated"),
    (lambda lines: [lines[0][:-1]], "line 1: the line has no end"),
    (lambda lines: [lines[0], b"\n"], "line 2: Expecting value"),
    (lambda lines: [lines[0].replace(b'"number":1', b'"number":"1"')], "line 1: number is not of type int"),
    (lambda lines: [lines[0].replace(b'"number":1', b'"number":true')], "line 1: number is not of type int"),
    (lambda lines: [lines[0].replace(b'"number":1', b'"number":1e2')], "line 1: number is not of type int"),
    (lambda lines: [lines[0].replace(b'"number":1', b'"number":%d' % 2**64)], "line 1: number is too large"),
    (lambda lines: [lines[0].replace(b'"number":1', b'"number": 1')], "line 1: the row is not formatted as"),
    (lambda lines: [lines[0].replace(b'"tags":"[]"', b'"tags":"["')], "line 1: Expecting value"),
    (lambda lines: [lines[0].replace(b'"role":"user"', b'"role":null')], "line 1: role is not of type str"),
    (lambda lines: [b"[" * 100_000 + b"\n"], "line 1: maximum recursion"),
    (lambda lines: [b"\xff\xfe\n"], "line 1: "),
]
_OTHERWISE: list[Callable[[dict[str, Any]], None]] = [
    lambda found: found.update(version=2),
    lambda found: found.update(format="other"),
    lambda found: found.update(space=7),
    lambda found: found.update(space=""),
    lambda found: found.update(files=[{}]),
    lambda found: found.update(files=None),
    lambda found: found["files"][0].update(table="nothing"),
    lambda found: found["files"][0].update(columns=["nothing"]),
    lambda found: found["files"].append(found["files"][0]),
]


@pytest.fixture
async def database(template: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """A file: what is damaged here is an archive, which is the same from either database."""
    async with opened(shutil.copy(template, tmp_path / "memory.db")) as found:
        yield found


@pytest.fixture
async def archive(database: Database, tmp_path: Path) -> Path:
    """An archive of a space with a little of everything, whose database is empty again."""
    mira = memory_on(database).space(SPACE)
    session = await mira.session("cli:desk")
    await session.append([bethink.Message(role="user", content=f"{_NASTY} {number}") for number in range(40)])
    await mira.facts.save(bethink.Fact(id="tea", text=f"Mira likes tea. {_NASTY}"))
    await mira.documents.create(bethink.types.DocumentDraft(slug="notes", title=_NASTY, body=_NASTY))
    await write_archive(database, tmp_path / "a.zip", space=SPACE)
    await mira.forget(everything=True)
    return tmp_path / "a.zip"


async def _refused(database: Database, path: Path) -> str:
    with pytest.raises(CorruptDatabaseError) as refused:
        await load_archive(database, path)
    assert await database.transact(lambda tx: archived.created_at(tx, space=SPACE), space=SPACE) is None
    return str(refused.value)


def _rewritten(source: Path, target: Path, change: Callable[[str, list[bytes]], list[bytes]]) -> Path:
    """Write an archive again with other lines in its tables, and with digests that are right."""
    with zipfile.ZipFile(source) as found, ArchiveReader(source) as read, target.open("w+b") as sink:
        manifest, writer = read.manifest, ZipWriter(sink)
        for each in manifest.files:
            lines = found.read(each.name).splitlines(keepends=True)
            if each.table:
                writer.add_table(each.table, each.columns, change(each.table, lines))
            else:
                writer.add(each.name, lines)
        writer.close(
            ArchiveManifest(
                space=manifest.space,
                created_at=manifest.created_at,
                newest=manifest.newest,
                schema=manifest.schema,
                files=tuple(writer.files),
            )
        )
    return target


async def test_whichever_byte_is_flipped_the_archive_is_refused(
    database: Database, archive: Path, tmp_path: Path
) -> None:
    whole, chance = archive.read_bytes(), random.Random(17)
    for place in [0, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(FLIPS))]:
        changed = bytearray(whole)
        changed[place] ^= 1 << chance.randrange(8)
        (tmp_path / "b.zip").write_bytes(changed)
        with pytest.raises(CorruptDatabaseError, match=r"b\.zip"):
            await load_archive(database, tmp_path / "b.zip")
    await _refused(database, tmp_path / "b.zip")


async def test_truncated_archive_is_rejected(database: Database, archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    for size in [0, 1, 21, SEAL, len(whole) // 2, len(whole) - SEAL, len(whole) - 1]:
        (tmp_path / "b.zip").write_bytes(whole[:size])
        assert "damaged" in await _refused(database, tmp_path / "b.zip")
    (tmp_path / "b.zip").write_bytes(whole + b"\0")
    assert "damaged" in await _refused(database, tmp_path / "b.zip")


async def test_the_file_and_the_line_are_named(database: Database, archive: Path, tmp_path: Path) -> None:
    def spoil(table: str, lines: list[bytes]) -> list[bytes]:
        return [*lines[:6], b'{"session_id":1}\n', *lines[7:]] if table == "messages" else lines

    told = await _refused(database, _rewritten(archive, tmp_path / "b.zip", spoil))
    assert "rows/messages.jsonl, line 7: the columns do not match the manifest" in told


@pytest.mark.parametrize(("change", "why"), _FORGED)
async def test_a_forged_line_is_refused_though_its_digests_are_right(
    database: Database, archive: Path, tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], why: str
) -> None:
    forged = _rewritten(
        archive, tmp_path / "b.zip", lambda table, lines: change(lines) if table == "messages" else lines
    )
    assert f"rows/messages.jsonl, {why}" in await _refused(database, forged)


async def test_rows_that_contradict_each_other_leave_nothing_behind(
    database: Database, archive: Path, tmp_path: Path
) -> None:
    orphaned = _rewritten(archive, tmp_path / "b.zip", lambda table, lines: [] if table == "conversations" else lines)
    assert "rows/sessions.jsonl, lines 1 to 1" in await _refused(database, orphaned)


async def test_changed_line_under_an_old_manifest_is_detected(
    database: Database, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forged(table: str, lines: list[bytes]) -> list[bytes]:
        return [lines[0], lines[1].replace(b"alert", b"ALERT"), *lines[2:]] if table == "messages" else lines

    with ArchiveReader(archive) as read:
        was = {each.name: each for each in read.manifest.files}
    real = ZipWriter.close

    def closed(self: ZipWriter, manifest: ArchiveManifest) -> None:
        old = tuple(was[each.name] for each in manifest.files)
        real(self, ArchiveManifest(space=SPACE, created_at=1, newest=1, schema=1, files=old))

    monkeypatch.setattr(ZipWriter, "close", closed)
    monkeypatch.setattr(archive_format, "BLOCK", 10)
    path = _rewritten(archive, tmp_path / "b.zip", forged)
    assert "rows/messages.jsonl, line" in await _refused(database, path)


async def test_zip_bomb_is_rejected(database: Database, archive: Path, tmp_path: Path) -> None:
    def blown_up(table: str, lines: list[bytes]) -> list[bytes]:
        return [b" " * (1 << 20)] * 300 if table == "messages" else lines

    assert "the line has no end, or is too long" in await _refused(
        database, _rewritten(archive, tmp_path / "b.zip", blown_up)
    )


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "rows/../../x.jsonl", "C:\\x", "pages/1.html\n"])
async def test_a_file_of_a_strange_name_is_refused(
    database: Database, archive: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(archive) as found, zipfile.ZipFile(path, "w") as target:
        for each in found.namelist():
            target.writestr(each, found.read(each))
        target.writestr(name, "x")
    assert "list different files" in await _refused(database, path)

    with ArchiveReader(archive) as read, path.open("w+b") as sink:
        manifest, writer = read.manifest, ZipWriter(sink)
        entry = writer.add(name, [b"x"])
        writer.close(ArchiveManifest(space=SPACE, created_at=1, newest=1, schema=manifest.schema, files=(entry,)))
    assert "an archive does not have this file" in await _refused(database, path)


@pytest.mark.parametrize("change", _OTHERWISE)
async def test_a_manifest_that_says_something_else_is_refused(
    database: Database, archive: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(archive) as found, zipfile.ZipFile(path, "w") as target:
        for each in found.namelist():
            if each != MANIFEST:
                target.writestr(each, found.read(each))
        told = json.loads(found.read(MANIFEST))
        change(told)
        target.writestr(MANIFEST, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    assert "b.zip" in await _refused(database, path)


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all", b"\0" * 1_000])
async def test_file_that_is_not_an_archive_is_rejected(database: Database, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b.zip").write_bytes(content)
    assert "damaged" in await _refused(database, tmp_path / "b.zip")


async def test_duplicate_archive_entry_is_rejected(database: Database, archive: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(archive, tmp_path / "b.zip"))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as target:
        target.writestr("index.html", "again")
    assert "appears twice" in await _refused(database, path)


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


async def test_archive_is_readable_html_without_scripts(archive: Path) -> None:
    with zipfile.ZipFile(archive) as found:
        pages = {name: found.read(name).decode() for name in found.namelist() if name.endswith(".html")}
    assert sorted(pages) == ["index.html", "pages/00001.html"]
    for text in pages.values():
        seen = _Seen()
        seen.feed(text)
        assert seen.tags.isdisjoint({"script", "img", "iframe", "object", "link", "form"})
        assert seen.attributes <= {"lang", "charset", "http-equiv", "content", "name", "id", "href", "class"}
        assert "default-src 'none'" in text
    assert "Mira likes tea." in pages["index.html"]
    assert "&lt;script&gt;" in pages["index.html"]
    assert pages["pages/00001.html"].count('class="said"') == 40
    [link] = re.findall(r'href="(pages/[^"]+)"', pages["index.html"])
    page, _, anchor = link.partition("#")
    assert f'id="{anchor}"' in pages[page]


def test_an_entry_of_a_table_keeps_its_digests_by_thousands() -> None:
    blocks = archive_format.Blocks()
    for _ in range(2_001):
        blocks.add_line(b"x\n")
    assert len(blocks.digests()) == 3
