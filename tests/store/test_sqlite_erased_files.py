# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Deleted text leaves every file of an open SQLite database."""

from pathlib import Path

import anyio
import apsw

from tests.conftest import memory_on
from tests.store.test_sqlite import opened


def _bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def test_deleted_text_is_in_no_file_while_database_is_open(tmp_path: Path) -> None:
    async with memory_on(await opened(tmp_path / "m.db")) as memory:
        await memory.space("alice").remember("canarycanary")
        assert b"canarycanary" in _bytes_in(tmp_path)

        await memory.space("alice").forget(everything=True)

        assert b"canarycanary" not in _bytes_in(tmp_path)


async def test_open_reader_delays_file_erasure_only_until_it_ends(tmp_path: Path) -> None:
    async with memory_on(await opened(tmp_path / "m.db")) as memory:
        await memory.space("alice").remember("canarycanary")
        reader = apsw.Connection(str(tmp_path / "m.db"))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchall()

        await memory.space("alice").forget(everything=True)
        assert b"canarycanary" in _bytes_in(tmp_path)
        reader.execute("COMMIT")
        reader.close()

        for _ in range(600):
            if b"canarycanary" not in _bytes_in(tmp_path):
                break
            await anyio.sleep(0.1)
        assert b"canarycanary" not in _bytes_in(tmp_path)
