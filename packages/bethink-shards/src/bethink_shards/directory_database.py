"""Database of a directory: PostgreSQL with its own small schema."""

from importlib import resources

from bethink.errors import BethinkError, ConfigurationError
from bethink.extensions.storage import Dialect, PostgresDatabase, Tx, compile_query

_VERSION = compile_query("directory_version", "SELECT version FROM schema_now", Dialect.POSTGRES)


def schemas() -> list[str]:
    """Return the migrations of the directory schema, in order. Their number is the version."""
    folder = resources.files("bethink_shards") / "schema"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(folder / name).read_text(encoding="utf-8") for name in names]


class DirectoryDatabase(PostgresDatabase):
    """The database that maps spaces to shards."""

    def _start(self) -> None:
        super()._start()
        self._schema_version = len(schemas())

    async def _add_restore_hint(self, error: BethinkError) -> None:
        """Do nothing: a directory has no restores."""

    def _prepare(self, tx: Tx) -> None:
        if tx.has_table("schema_version"):
            raise ConfigurationError(
                "This database is a memory, not a directory of shards.",
                hint="Create an empty database for the directory, then add the memory with 'bethink admin shards add'.",
            )
        tx.lock_schema()
        steps = schemas()
        version = tx.all(_VERSION)[0]["version"] if tx.has_table("places") else 0
        if version > len(steps):
            raise ConfigurationError(
                f"This directory has schema {version}, but this version of Bethink supports only {len(steps)}.",
                hint="Install a newer version of Bethink.",
            )
        for step in steps[version:]:
            tx.script(step)
        if version < len(steps):
            tx.script(f"DELETE FROM schema_now; INSERT INTO schema_now (version) VALUES ({len(steps)})")
            tx.script("INSERT INTO directory (id) SELECT gen_random_uuid() WHERE NOT EXISTS (SELECT 1 FROM directory)")
