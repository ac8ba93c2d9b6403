"""Which model learns from a database, and what was only quoted because none was there."""

from contextlib import suppress

from bethink.base.frozen import frozen
from bethink.errors import Misconfigured, Moved
from bethink.model.jobs import JobKind
from bethink.store import jobs, keys, learning
from bethink.store.db import Database

NO_MODEL = "none"
"""The name to give instead of a model's to learn by quoting, also where a model learnt before."""
LEARNING = frozenset(JobKind) - {JobKind.INDEX}
"""The jobs that a model does, if there is one."""
_AT_ONCE = 500


@frozen(kw_only=False)
class Learner:
    """The name of the model that learns in this process; empty if there is none."""

    database: Database
    name: str

    async def hindrance(self) -> Misconfigured | None:
        """Record in the database which model learns. Without one, return why learning is left to the model it names."""
        known = await self.database.transact(keys.learner, read=True)
        if self.name and self.name != known:
            await self.database.transact(lambda tx: keys.set_learner(tx, self.name), repeatable=True)
        if self.name or known in ("", NO_MODEL):
            return None
        return Misconfigured(
            f"the model {known!r} learns from this database, and here no model is named: sessions stay marked for it.",
            hint=f"Name it in the setting 'model', or set model = {NO_MODEL!r} to go on by quoting.",
        )


async def start_over(database: Database, *, space: str | None = None) -> int:
    """Mark sessions that were only quoted, in all spaces or in one, for a model to learn from; return how many."""
    found = await database.transact(lambda tx: jobs.quoted(tx, limit=_AT_ONCE, space=space), space=space, read=True)
    marked = 0
    for name, key in found:
        with suppress(Moved):  # the others do not wait for it
            marked += await database.transact(
                lambda tx, name=name, key=key: learning.start_over(tx, space=name, session_id=key),
                space=name,
                repeatable=True,
            )
    return marked
