"""The database of a directory: PostgreSQL like a shard, with a small schema of its own."""

from importlib import resources

from bethink.errors import BethinkError, Misconfigured
from bethink.extensions.storage import Dialect, PostgresDatabase, Tx, spelt

_VERSION = spelt("directory_version", "SELECT version FROM schema_now", Dialect.POSTGRES)


def schemas() -> list[str]:
    """Return the steps that make the schema of a directory, in order; the version is how many there are."""
    folder = resources.files("bethink_shards") / "schema"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(folder / name).read_text(encoding="utf-8") for name in names]


class DirectoryDatabase(PostgresDatabase):
    """The database that says which shard holds which space."""

    def _start(self) -> None:
        super()._start()
        self._knows = len(schemas())

    async def _name_restore(self, error: BethinkError) -> None:
        """Add nothing: a directory does not know of restores."""

    def _prepare(self, tx: Tx) -> None:
        if tx.has_table("schema_version"):
            raise Misconfigured(
                "this database is a memory, not a directory of shards.",
                hint="Create an empty database for the directory; a memory joins it with 'bethink shards add'.",
            )
        tx.lock_schema()
        steps = schemas()
        version = tx.all(_VERSION)[0]["version"] if tx.has_table("places") else 0
        if version > len(steps):
            raise Misconfigured(
                f"this directory was made by a newer Bethink: its schema is {version}, and this version knows "
                f"{len(steps)}.",
                hint="Upgrade: pip install --upgrade bethink.",
            )
        for step in steps[version:]:
            tx.script(step)
        if version < len(steps):
            tx.script(f"DELETE FROM schema_now; INSERT INTO schema_now (version) VALUES ({len(steps)})")
            tx.script("INSERT INTO directory (id) SELECT gen_random_uuid() WHERE NOT EXISTS (SELECT 1 FROM directory)")
