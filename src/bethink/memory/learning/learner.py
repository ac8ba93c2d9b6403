"""The model that learns from a database, and the sessions that were only quoted for lack of one."""

from contextlib import suppress

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError, SpaceMovedError
from bethink.model.jobs import JobKind
from bethink.store import jobs, keys, learning
from bethink.store.db import Database

NO_MODEL = "none"
"""Model name for learning by quoting, even if a model learned from the database before."""
LEARNING = frozenset(JobKind) - {JobKind.INDEX}
"""The jobs that need the model, if one is set."""
_BATCH = 500


@frozen(kw_only=False)
class Learner:
    """The name of the model that learns in this process; empty if there is none."""

    database: Database
    name: str

    async def blocked_reason(self) -> ConfigurationError | None:
        """Record the model in the database. Without a model, return an error if the database names another one."""
        recorded = await self.database.transact(keys.learner, read_only=True)
        if self.name and self.name != recorded:
            await self.database.transact(lambda tx: keys.set_learner(tx, self.name), repeatable=True)
        if self.name or recorded in ("", NO_MODEL):
            return None
        return ConfigurationError(
            f"The model {recorded!r} learns from this database, but this process has no model. Sessions stay queued.",
            hint=f"Set `model` to it, or set model = {NO_MODEL!r} to continue without a model.",
        )


async def start_over(database: Database, *, space: str | None = None) -> int:
    """Mark sessions that were only quoted, in all spaces or in one, to be learned from; return their number."""
    quoted = await database.transact(
        lambda tx: jobs.quoted_sessions(tx, limit=_BATCH, space=space), space=space, read_only=True
    )
    marked = 0
    for name, key in quoted:
        with suppress(SpaceMovedError):  # the other spaces continue
            marked += await database.transact(
                lambda tx, name=name, key=key: learning.start_over(tx, space=name, session_id=key),
                space=name,
                repeatable=True,
            )
    return marked
