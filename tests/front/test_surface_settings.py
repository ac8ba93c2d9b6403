"""The size of the settings page, that every setting is on one page, and the units of times."""

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

from bethink.config.settings import Settings, flat_values, load_settings, with_values
from tools.make_settings_docs import DOCUMENTED

MAX_DOCUMENTED = 35
_DOCS = Path(__file__).parents[2] / "docs" / "reference"


def _names(page: str) -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", (_DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_first_page_has_at_most_35_settings() -> None:
    assert len(_names("settings.md")) == sum(len(names) for names in DOCUMENTED.values()) <= MAX_DOCUMENTED


def test_every_setting_is_on_one_page() -> None:
    names = [*_names("settings.md"), *_names("settings-advanced.md")]

    assert len(names) == len(set(names))
    assert set(flat_values(Settings())) - set(names) <= {
        "module",
        "sqlite_path",
        "postgres_dsn",
    }  # `database` replaces them
    assert set(names) - set(flat_values(Settings())) == {"database"}


def test_times_are_in_seconds() -> None:
    settings = load_settings(environ={})

    assert settings.sqlite.busy_timeout == 5.0
    assert (settings.postgres.statement_timeout, settings.postgres.deadline) == (30.0, 35.0)


def test_modules_table_is_in_milliseconds(tmp_path: Path) -> None:
    file = tmp_path / "bethink.toml"
    file.write_text('[modules."memory.sqlite"]\nbusy_timeout = 250\nreaders = 3\n', encoding="utf-8")

    settings = load_settings(file, environ={})

    assert (settings.sqlite.busy_timeout, settings.sqlite.readers) == (0.25, 3)


def test_every_setting_can_stand_in_the_table_of_its_group(tmp_path: Path) -> None:
    file = tmp_path / "bethink.toml"
    for group in fields(Settings):
        table = getattr(Settings(), group.name)
        for field in fields(table) if is_dataclass(table) else ():
            file.write_text(
                f"[{group.name}]\n{field.name} = {json.dumps(getattr(table, field.name))}\n", encoding="utf-8"
            )
            origins = load_settings(file, environ={}).origins
            assert list(origins.values()).count(f"file {file}") == 1, (group.name, field.name)


def test_argument_database_replaces_that_of_given_settings() -> None:
    settings = load_settings(environ={}, database="a.db")

    assert with_values(settings, {"database": "b.db"}).database_path == "b.db"
    assert with_values(settings, {"database": "postgresql://db/bethink"}).module == "memory.postgres"
    assert with_values(settings, {"learn": False}).database_path == "a.db"
