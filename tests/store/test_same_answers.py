"""The same questions in twelve languages match the same on SQLite and on PostgreSQL, in any locale."""

import uuid
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path

import psycopg
import pytest

import bethink
from bethink.model.facts import Fact
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from tests.conftest import DATABASES, KEY, FakeClock, memory_on, said
from tests.length import often
from tests.store.languages_kit import LANGUAGES, questions, statements
from tools import postgres

EACH = often(3, long=1_000)
"""How many questions of a language: all 84, and so 1,008 in total, or a few."""

pytestmark = pytest.mark.skipif("postgres" not in DATABASES, reason="compares both databases")


def create(superuser: str, locale: str) -> str:
    """Create a database with a locale."""
    name = f"locale_{uuid.uuid4().hex[:12]}"
    dsn = postgres.create_database(superuser, name)
    admin = postgres.in_database(superuser, "template1")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name}".encode())
        made = f"CREATE DATABASE {name} OWNER {postgres.APP_ROLE} TEMPLATE template0 ENCODING 'UTF8' LOCALE '{locale}'"
        connection.execute(made.encode())
    return dsn


@pytest.fixture
async def memories(tmp_path: Path, superuser_dsn: str) -> AsyncIterator[list[bethink.Memory]]:
    """A memory on SQLite, and on PostgreSQL with two locales."""
    databases = [SqliteDatabase(SqliteOptions(path=str(tmp_path / "m.db")), clock=FakeClock())]
    databases += [
        PostgresDatabase(PostgresOptions(dsn=create(superuser_dsn, locale), pool_size=1), clock=FakeClock())
        for locale in ("C", "C.UTF-8")
    ]
    for database in databases:
        await database.open()
    yield [memory_on(database) for database in databases]
    for database in databases:
        await database.close()


@pytest.mark.timeout(600)
async def test_questions_in_twelve_languages_find_the_same_everywhere(memories: list[bethink.Memory]) -> None:
    assert len(LANGUAGES) == 12
    asked = right = 0
    for language in LANGUAGES:
        for memory in memories:
            session = await memory.space(language).session(KEY)
            texts = statements(language)
            await session.append(said(*texts[::2]))
            for place, text in enumerate(texts[1::2]):
                await memory.space(language).facts.save(Fact(id=f"f{place:02}", text=text))
        for question, answer in islice(questions(language), EACH):
            every = [await memory.space(language).recall(question, limit=5) for memory in memories]
            first, *others = [
                [(item.text, item.ref.kind, item.ref.number, item.score) for item in found.items] for found in every
            ]
            assert all(other == first for other in others), question
            asked += 1
            right += bool(first) and first[0][0] == answer

    assert asked == 12 * min(EACH, 84)
    assert right / asked >= 0.9
