"""Finds the settings and the database or server of a command, and connects to it."""

import os
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from bethink.base.folders import config_folder, data_folder
from bethink.base.frozen import frozen
from bethink.config.masked import masked
from bethink.config.settings import Settings, load_settings, settings_of
from bethink.errors import Misconfigured, NotFound

if TYPE_CHECKING:
    from bethink.api.connect import Memory

_DEFAULT = "the default"


def is_server(address: str | None) -> bool:
    """Return whether a target is the address of a server."""
    return (address or "").startswith(("http://", "https://"))


@frozen
class Target:
    """The settings in force, the file that they come from, and what named the database."""

    settings: Settings
    file: str | None
    named_by: str
    server: str = ""

    @property
    def address(self) -> str:
        """The database or server, without its password."""
        if self.server:
            return masked(self.server)
        on_server = self.settings.module != "memory.sqlite"
        return masked(self.settings.postgres.dsn) if on_server else self.settings.database_path

    def must_exist(self) -> None:
        """Raise `NotFound` if the database file is missing, so that a command that only reads creates none."""
        path = self.settings.database_path
        on_server = self.settings.module != "memory.sqlite"
        if self.server or not self.settings.enabled or on_server or path == ":memory:":
            return
        if Path(path).expanduser().exists():
            return
        if self.named_by == _DEFAULT:
            check_folder(Path(path).parent)
            hint = "Run 'bethink add' or 'bethink init' to create it, or 'bethink demo --keep demo.db' to try Bethink."
            raise NotFound(f"there is no memory yet: {path} does not exist.", hint=hint)
        hint = "Check the path. 'bethink add' with the same options creates the database."
        raise NotFound(f"no database at {path} ({self.named_by}).", hint=hint)

    def make(self, *, stays: bool = False) -> "Memory":
        """Return the memory, for the caller to open. With `stays`, learn in the background while it is open.

        Raises:
            Misconfigured: if memory is switched off, or the database has no address.
        """
        from bethink.api.connect import connect  # noqa: PLC0415 - it loads the databases
        from bethink.model.access import Caller, Door, caller  # noqa: PLC0415

        caller.set(Caller(door=Door.CLI))
        settings = self.settings
        if not settings.enabled:
            raise Misconfigured("memory is switched off.", hint=f"Set enabled = true ({settings.origins['enabled']}).")
        if self.server:
            return self._remote()
        if settings.module != "memory.sqlite" and not settings.postgres.dsn:
            raise Misconfigured(f"{settings.module} has no address.", hint="Set postgres_dsn, or pass --database.")
        if self.named_by == _DEFAULT:
            check_folder(Path(settings.database_path).parent)
        # Most commands end at once: learning is left to `worker`, not to a thread that would be cut off.
        learning = replace(settings.learning, in_background=stays and settings.learning.in_background)
        return connect(settings=replace(settings, learning=learning))

    def _remote(self) -> "Memory":
        from bethink.api.connect import connect  # noqa: PLC0415 - as above

        if not self.settings.key:
            hint = "Pass --key or set BETHINK_KEY. 'bethink keys create' makes a key where the server runs."
            raise Misconfigured(f"{self.address} needs a key.", hint=hint)
        return connect(self.server, key=self.settings.key)


def find_target(config: str | None, database: str | None, key: str | None = None) -> Target:
    """Read the settings from a file and the environment; --database and --key come first."""
    file = config or os.environ.get("BETHINK_CONFIG") or _default_file()
    given = settings_of("" if is_server(database) else database or "") | ({"key": key} if key else {})
    settings = load_settings(file, **given)  # pyright: ignore[reportArgumentType]
    if database is not None and is_server(database):
        return Target(settings=settings, file=file, named_by="argument", server=database)
    if settings.module != "memory.sqlite":
        return Target(settings=settings, file=file, named_by=settings.origins["postgres_dsn"])
    if settings.database_path:
        name = "sqlite_path" if settings.sqlite.path else "data_dir"
        return Target(settings=settings, file=file, named_by=settings.origins[name])
    origins = MappingProxyType({**settings.origins, "data_dir": _DEFAULT})
    settings = replace(settings, data_dir=str(data_folder()), origins=origins)
    return Target(settings=settings, file=file, named_by=_DEFAULT)


def _default_file() -> str | None:
    try:
        path = config_folder() / "bethink.toml"
    except Misconfigured:  # a user without a home folder has no settings there
        return None
    return str(path) if path.is_file() else None


def check_folder(folder: Path) -> None:
    """Raise `Misconfigured` if the default folder does not exist and cannot be created."""
    if folder.is_dir():
        return
    parent = next((each for each in folder.parents if each.exists()), folder)
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        hint = "Set HOME to a folder you can write to, or choose a database with --database."
        raise Misconfigured(f"cannot create the default folder {folder}.", hint=hint)
