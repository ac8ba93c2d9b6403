"""Finds the settings and the database that a command works with, and opens the memory they describe."""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from bethink.errors import Misconfigured, NotFound
from bethink.settings import Settings, config_folder, data_folder, load_settings, settings_of

if TYPE_CHECKING:
    from bethink.memory import Memory

SECRETS = ("embedder_api_key", "model_api_key", "redaction_key")
_UNNAMED = "nothing names one, so the usual folder"
_PASSWORD = re.compile(r"(?<=://)([^/@\s:]*):[^/\s]*@")
_QUERY = re.compile(r"([?&][^=&\s]*(?:key|token|secret|pass|sig|auth)[^=&\s]*=)[^&\s]+", re.IGNORECASE)
_PASSWORD_WORD = re.compile(r"(password\s*=\s*)('(?:[^'\\]|\\.)*'|\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The settings in force, the file they came from if any, and how the database was named."""

    settings: Settings
    file: str | None
    named_by: str

    @property
    def target(self) -> str:
        """The database, without its password."""
        postgres = self.settings.module == "memory.postgres"
        return masked(self.settings.postgres_dsn) if postgres else self.settings.database_path

    def must_exist(self) -> None:
        """Raise `NotFound` for a file that is not there, so that who only looks makes none."""
        path = self.settings.database_path
        if not self.settings.enabled or self.settings.module == "memory.postgres" or path == ":memory:":
            return
        if Path(path).expanduser().exists():
            return
        if self.named_by == _UNNAMED:
            usable(Path(path).parent)
            hint = "Begin with 'bethink add' or 'bethink init'; 'bethink demo --keep demo.db' makes one to try out."
            raise NotFound(f"there is no memory yet: no {path}.", hint=hint)
        hint = "Check the path; 'bethink add' with the same options would make it."
        raise NotFound(f"no database at {path} ({self.named_by}).", hint=hint)

    def make(self, *, lasts: bool = False) -> "Memory":
        """Make the memory, for the caller to open. Raises `Misconfigured` if it is switched off or has no place."""
        from bethink.build import memory_from  # noqa: PLC0415 - it loads the databases

        settings = self.settings
        if not settings.enabled:
            raise Misconfigured("memory is switched off.", hint=f"Set enabled = true ({settings.origins['enabled']}).")
        if settings.module == "memory.postgres" and not settings.postgres_dsn:
            raise Misconfigured("memory.postgres has no address.", hint="Set postgres_dsn, or give --database.")
        if self.named_by == _UNNAMED:
            usable(Path(settings.database_path).parent)
        # Most commands end at once: what is to be learnt waits for `worker`, not for a thread that is cut off.
        return memory_from(settings if lasts else replace(settings, learn_at_start=False))


def find_place(config: str | None, database: str | None) -> Place:
    """Read the settings: a file that is named or stands at its usual place, the environment, then --database."""
    file = config or os.environ.get("BETHINK_CONFIG") or _usual_file()
    settings = load_settings(file, **settings_of(database or ""))  # pyright: ignore[reportArgumentType]
    if settings.module == "memory.postgres":
        return Place(settings=settings, file=file, named_by=settings.origins["postgres_dsn"])
    if settings.database_path:
        name = "sqlite_path" if settings.sqlite_path else "data_dir"
        return Place(settings=settings, file=file, named_by=settings.origins[name])
    origins = MappingProxyType({**settings.origins, "data_dir": _UNNAMED})
    return Place(settings=replace(settings, data_dir=str(data_folder()), origins=origins), file=file, named_by=_UNNAMED)


def _usual_file() -> str | None:
    try:
        usual = config_folder() / "bethink.toml"
    except Misconfigured:  # who has no home has no settings there
        return None
    return str(usual) if usual.is_file() else None


def usable(folder: Path) -> None:
    """Raise `Misconfigured` if the usual folder is not there and cannot be made, as where HOME is none."""
    if folder.is_dir():
        return
    there = next((each for each in folder.parents if each.exists()), folder)
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        hint = "Set HOME to a folder you may write to, or name a database with --database."
        raise Misconfigured(f"the usual folder {folder} cannot be made.", hint=hint)


def masked(value: str) -> str:
    """Return an address without the password and the keys in it."""
    return _PASSWORD_WORD.sub(r"\1***", _QUERY.sub(r"\1***", _PASSWORD.sub(r"\1:***@", value)))
