"""Finds the settings and the database or server of a command, and connects to it."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.base.folders import config_folder, data_folder
from bethink.base.frozen import frozen
from bethink.config.addresses import settings_of
from bethink.config.masking import mask_secrets
from bethink.config.settings import Settings, load_settings
from bethink.errors import ConfigurationError, NotFoundError

if TYPE_CHECKING:
    from bethink.api.connect import Memory

_DEFAULT = "the default"


def is_server(address: str | None) -> bool:
    """Return whether a target is the address of a server."""
    return (address or "").startswith(("http://", "https://"))


@frozen
class Target:
    """The settings in force, their file, and the source of the database's address."""

    settings: Settings
    file: str | None
    named_by: str
    server: str = ""

    @property
    def address(self) -> str:
        """The database or server, without its password."""
        if self.server:
            return mask_secrets(self.server)
        on_server = self.settings.module != "memory.sqlite"
        return mask_secrets(self.settings.postgres.dsn) if on_server else self.settings.database_path

    @property
    def is_default(self) -> bool:
        """True if neither an option nor a setting names the database."""
        return self.named_by == _DEFAULT

    def must_exist(self) -> None:
        """Raise `NotFoundError` if the database file is missing, so that reading does not create it."""
        path = self.settings.database_path
        on_server = self.settings.module != "memory.sqlite"
        if self.server or not self.settings.enabled or on_server or path == ":memory:":
            return
        if Path(path).expanduser().exists():
            return
        if self.is_default:
            check_folder(Path(path).parent)
            hint = "Run 'bethink add' or 'bethink connect' to create it, or 'bethink demo' to try Bethink."
            raise NotFoundError(f"No database yet: {path} does not exist.", hint=hint)
        hint = "Check the path. 'bethink add' creates the database."
        raise NotFoundError(f"No database at {path} ({self.named_by}).", hint=hint)

    def make(self, *, stays: bool = False) -> "Memory":
        """Return the memory, for the caller to open. With `stays`, learn in the background while it is open.

        Raises:
            ConfigurationError: if memory is off, or the database has no address.
        """
        from bethink.api.connect import connect  # noqa: PLC0415 - it loads the databases
        from bethink.model.access import Caller, Interface, caller  # noqa: PLC0415

        caller.set(Caller(interface=Interface.CLI))
        settings = self.settings
        if not settings.enabled:
            raise ConfigurationError("Memory is off.", hint=f"Set enabled = true ({settings.origins['enabled']}).")
        if self.server:
            return self._remote()
        if settings.module != "memory.sqlite" and not settings.postgres.dsn:
            raise ConfigurationError(f"{settings.module} has no address.", hint="Set postgres_dsn, or pass --database.")
        if self.is_default:
            check_folder(Path(settings.database_path).parent)
        # Most commands end at once: learning is left to `worker`, not to a thread that would be cut off.
        learning = replace(settings.learning, in_background=stays and settings.learning.in_background)
        return connect(settings=replace(settings, learning=learning))

    def _remote(self) -> "Memory":
        from bethink.api.connect import connect  # noqa: PLC0415 - as above

        if not self.settings.api_key:
            hint = (
                "Pass --api-key or set BETHINK_API_KEY. 'bethink admin keys create' makes a key where the server runs."
            )
            raise ConfigurationError(f"{self.address} needs an API key.", hint=hint)
        return connect(self.server, api_key=self.settings.api_key)


def find_target(config: str | None, database: str | None, api_key: str | None = None) -> Target:
    """Read the settings from a file and the environment; --database and --api-key come first."""
    file = config or os.environ.get("BETHINK_CONFIG") or _default_file()
    values = settings_of("" if is_server(database) else database or "") | ({"api_key": api_key} if api_key else {})
    settings = load_settings(file, **values)  # pyright: ignore[reportArgumentType]
    if database is not None and is_server(database):
        return Target(settings=settings, file=file, named_by="argument", server=database)
    if settings.module != "memory.sqlite":
        return Target(settings=settings, file=file, named_by=settings.origins["postgres_dsn"])
    if settings.database_path:
        name = "sqlite_path" if settings.sqlite.path else "data_dir"
        return Target(settings=settings, file=file, named_by=settings.origins[name])
    settings = replace(settings, data_dir=str(data_folder()))
    return Target(settings=settings, file=file, named_by=_DEFAULT)


def _default_file() -> str | None:
    try:
        path = config_folder() / "bethink.toml"
    except ConfigurationError:  # a user without a home folder has no settings there
        return None
    return str(path) if path.is_file() else None


def check_folder(folder: Path) -> None:
    """Raise `ConfigurationError` if the default folder does not exist and cannot be created."""
    if folder.is_dir():
        return
    parent = next((path for path in folder.parents if path.exists()), folder)
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        hint = "Set HOME to a folder you can write to, or choose a database with --database."
        raise ConfigurationError(f"Cannot create the default folder {folder}.", hint=hint)
