"""Migrations that tests bring along. The product has none until the schema of a release changes."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from bethink.store import migrate
from bethink.store.sql import Dialect

Texts = Mapping[Dialect, str]

_MARKS = """ALTER TABLE sessions ADD COLUMN invalidated_at {0};
ALTER TABLE sessions ADD COLUMN processed_until {0};"""
_INDEX = "CREATE INDEX sessions_marked ON sessions (space_id, id) WHERE invalidated_at IS NOT NULL;"

WITHOUT_MARKS = """DROP INDEX sessions_marked;
ALTER TABLE sessions DROP COLUMN processed_until;
ALTER TABLE sessions DROP COLUMN invalidated_at;"""
"""Turns the current schema into the one that `MARKS` starts from."""

MARKS: dict[str, Texts] = {
    "marks": {Dialect.SQLITE: _MARKS.format("INTEGER"), Dialect.POSTGRES: _MARKS.format("bigint")},
    "index_of_marks": dict.fromkeys(Dialect, _INDEX),
}
"""Two migrations that lead to the current schema. The second needs the first."""

TOMORROW: dict[str, Texts] = {"tomorrow": dict.fromkeys(Dialect, "ALTER TABLE facts ADD COLUMN tomorrow TEXT;")}
"""A migration that leads from the current schema to another one."""


def write_migrations(folder: Path, migrations: Mapping[str, Texts], *, first: int = migrate.BASELINE + 1) -> Path:
    """Write migrations as the product has them, numbered from `first` on, and return the folder."""
    for dialect in Dialect:
        (folder / dialect).mkdir(parents=True, exist_ok=True)
        for number, (name, texts) in enumerate(migrations.items(), first):
            (folder / dialect / f"{number:04}_{name}.sql").write_text(texts[dialect], encoding="utf-8")
    return folder


@contextmanager
def using_migrations(folder: Path) -> Generator[None]:
    """Make this process one of a version that has the migrations of a folder."""
    with patch.object(migrate, "MIGRATIONS", folder):
        yield


def numbering_problems() -> list[str]:
    """Return what is wrong with the numbers and names of the migrations in use."""
    sqlite, postgres = ([(number, name) for number, name, _ in migrate.migrations(dialect)] for dialect in Dialect)
    problems = [f"not for both databases: {name}" for _, name in {*sqlite} ^ {*postgres}]
    expected = range(migrate.BASELINE + 1, migrate.BASELINE + 1 + len(sqlite))
    return problems + (
        [] if [number for number, _ in sqlite] == list(expected) else ["a number is missing or repeated"]
    )
