"""No index reveals a word of a message: it stores keyed hashes."""
# pyright: reportUnknownMemberType=false

from pathlib import Path

import apsw
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

import bethink
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Fact
from tests.conftest import DATABASES, KEY, memory_on, said
from tests.store.test_forgotten_bytes import pieces
from tests.store.test_sqlite import opened
from tools import postgres

TEXTS = [
    "Kavurimote plays the wystxander every Tuesday",
    "Zemquist dopalulumpo bryknsson in Größenwahnstadt",
    "上海的小提琴家喜欢喝乌龙茶",
    "Скрипачка живёт неподалёку от Владивостока",
]


def words() -> set[bytes]:
    """Pieces of six letters of every word, and the words in Han characters as they are."""
    return {piece for piece in pieces(*TEXTS) if len(piece.decode(errors="ignore")) >= 3} | {
        "小提琴".encode(),
        "乌龙茶".encode(),
    }


async def told(memory: bethink.Memory) -> None:
    """Say, state and write the texts."""
    alice = memory.space("alice")
    session = await alice.session(KEY)
    await session.append(said(*TEXTS))
    for place, text in enumerate(TEXTS):
        await alice.facts.save(Fact(id=f"f{place}", text=text))
        await alice.documents.create(DocumentDraft(slug=f"page{place}", title=f"page {place}", body=text))
    assert (await alice.recall("Who plays the wystxander?")).items


async def test_no_word_is_in_the_index_of_a_file(tmp_path: Path) -> None:
    async with memory_on(await opened(tmp_path / "m.db")) as memory:
        await told(memory)

    connection = apsw.Connection(str(tmp_path / "m.db"))
    tables = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'term%' AND type = 'table'")
    ]
    held = b"\0".join(
        value if isinstance(value, bytes) else str(value).lower().encode()
        for table in tables
        if table != "terms_fts"
        for row in connection.execute(f"SELECT * FROM {table}")
        for value in row
    )
    everything = (tmp_path / "m.db").read_bytes().lower()
    connection.close()

    assert {"terms", "term_counts", "terms_fts_data", "terms_fts_idx"} <= set(tables)
    assert sum(piece in everything for piece in words()) > 20  # the texts themselves are there
    assert [piece for piece in words() if piece in held] == []


@pytest.mark.skipif("postgres" not in DATABASES, reason="reads the files of a server")
async def test_no_word_is_in_any_index_of_a_server(fresh_dsn: str, superuser_dsn: str) -> None:
    memory = bethink.connect(fresh_dsn, learn=False)
    async with memory:
        await told(memory)

    name = str(conninfo_to_dict(fresh_dsn)["dbname"])
    with psycopg.connect(postgres.in_database(superuser_dsn, name), autocommit=True) as above:
        above.execute("CHECKPOINT")
        read = """SELECT c.relname, c.relkind::text, pg_read_binary_file(pg_relation_filepath(c.oid)) FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public'
              AND (c.relkind = 'i' OR c.relname IN ('terms', 'term_counts', 'messages_' || %s))"""
        every = above.execute("SELECT right(tableoid::regclass::text, 2) FROM messages LIMIT 1").fetchone()
        assert every is not None
        files = above.execute(read, [every[0]]).fetchall()

    texts = [data.lower() for _, kind, data in files if kind == "r"]
    assert sum(any(piece in data for data in texts) for piece in words()) > 20  # the texts themselves are there
    held = {relation: data.lower() for relation, _, data in files if not relation.startswith("messages_") or _ == "i"}
    assert {"terms", "terms_terms", "terms_pkey"} <= set(held)
    assert {(relation, piece) for relation, data in held.items() for piece in words() if piece in data} == set()
