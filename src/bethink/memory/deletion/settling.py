"""Carries out a recorded erasure from wherever it stands, and settles it. Any process may do this, at any time."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from anyio import to_thread

from bethink.base.logs import logger
from bethink.errors import BethinkError, Misconfigured, Moved, NotFound, UnderLegalHold
from bethink.memory.deletion import plan as planning
from bethink.memory.deletion import receipts, sinks
from bethink.memory.deletion.echoes import shown_to
from bethink.memory.documents.files import clear_folder
from bethink.model.erasures import ARTEFACTS, EXPORT, WRITING, Erasure, OpenErasure, OpenErasures
from bethink.model.records import Forgotten
from bethink.store import erasures
from bethink.store.db import Database, Row, Tx
from bethink.store.keys import deployment_key, learner
from bethink.store.sql import Dialect

_LONGEST_WRITE = timedelta(minutes=10)
"""Who has marked a folder as being written to for longer than this is gone."""
_SIGNING_KEY = "receipts"
_log = logger("forget")


class Settler:
    """Removes what an erasure names, waits for no one, and settles it once every place has confirmed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remove(self, space: str, erasure_id: str) -> Forgotten | None:
        """Remove the rows of an erasure. Returns None if there was nothing, or another process has done it.

        Raises `UnderLegalHold` if a hold was placed since it was recorded: nothing goes then.
        """

        def body(tx: Tx) -> Forgotten | None:
            plan = erasures.plan_of(tx, space=space, erasure_id=erasure_id)  # this locks it
            if "steps" not in plan:
                went = plan.get("went")
                return None if went is None else Forgotten(**went)
            done = planning.carry_out(tx, planning.steps_from(plan["steps"]), space=space)
            if done is None:
                return None
            erasure = erasures.find(tx, space=space, erasure_id=erasure_id)
            assert erasure is not None  # noqa: S101 - locked above
            self._note(tx, erasure, plan, done)
            return planning.named(tx, done, space=space)

        return await self._database.transact(body, space=space)

    def _note(self, tx: Tx, erasure: Erasure, plan: dict[str, Any], done: Forgotten) -> None:
        """Write down what went, in the transaction in which it goes."""
        space = erasure.space
        names = [(kind, name) for kind, every in tx.gone.items() for name in every]
        erasures.bury(tx, names, space=space, erasure_id=erasure.id, at=erasure.requested_at)
        erasures.confirm(tx, space=space, erasure_id=erasure.id, sinks=sinks.clean_inside(tx, space=space))
        went = {
            "messages": done.messages, "facts": done.facts, "session_memories": done.session_memories,
            "documents": done.documents, "threads": done.threads, "others": done.others,
            "tests": done.tests,
        }  # fmt: skip
        after = {"went": went, "shown_to": list(shown_to(tx, space=space)), "folder": plan.get("folder", "")}
        erasures.note_receipt(tx, space=space, erasure_id=erasure.id, plan=after, receipt="null")
        tx.forgets = True

    async def settle(self, space: str, erasure_id: str) -> Erasure:
        """Clear what lies outside of the database, and settle the erasure if every place has confirmed."""
        emptied = await self._database.empty_log()
        written = await self._database.transact(lambda tx: erasures.written(tx, space=space), space=space, read=True)
        cleared = [row for row in written if await self._is_clear(row)]

        def body(tx: Tx) -> Erasure:
            confirmed = [sinks.LOG] if emptied else []
            for row in cleared:
                erasures.drop_written(tx, space=space, host=row["host"], path=row["path"])
            left = erasures.written(tx, space=space)
            here = [row for row in left if row["host"] == sinks.this_host()]
            if not any(row["kind"] in (ARTEFACTS, WRITING) for row in here):
                confirmed.append(sinks.FILES)
            erasures.confirm(tx, space=space, erasure_id=erasure_id, sinks=[*confirmed, sinks.EXPORTS])
            return self._settled(tx, space, erasure_id, left)

        return await self._database.transact(body, space=space)

    async def _is_clear(self, row: Row) -> bool:
        """Clear a folder of this machine; return whether nothing is left that should go."""
        if row["host"] != sinks.this_host():
            return False
        path = Path(row["path"])
        if row["kind"] == EXPORT:
            return not await to_thread.run_sync(path.exists)
        await to_thread.run_sync(clear_folder, path)
        return row["kind"] == ARTEFACTS or await self._is_old(row)

    async def _is_old(self, row: Row) -> bool:
        now = await self._database.transact(lambda tx: tx.now, read=True)
        return row["written_at"] < int((now - _LONGEST_WRITE).timestamp() * 1_000_000)

    def _settled(self, tx: Tx, space: str, erasure_id: str, written: list[Row]) -> Erasure:
        plan = erasures.plan_of(tx, space=space, erasure_id=erasure_id)
        found = erasures.find(tx, space=space, erasure_id=erasure_id)
        if found is None:
            raise NotFound(f"no erasure {erasure_id!r} in space {space!r}.")
        if found.settled_at is not None:
            return found
        is_done = not found.open_sinks
        erasure = Erasure(
            space=space,
            id=found.id,
            asked_by=found.asked_by,
            key_prefix=found.key_prefix,
            reason=found.reason,
            requested_at=found.requested_at,
            settled_at=tx.now if is_done else None,
            sinks=found.sinks,
        )
        stones = erasures.tombstones(tx, space=space, erasure_id=erasure_id)
        outside = _out_of_reach(tx, plan, written)
        made = receipts.receipt_of(erasure, plan=plan, stones=stones, out_of_reach=outside)
        text = receipts.signed(made, seed=deployment_key(tx, _SIGNING_KEY))
        if is_done:
            erasures.settle(tx, space=space, erasure_id=erasure_id, receipt=text)
        else:
            erasures.note_receipt(tx, space=space, erasure_id=erasure_id, plan=plan, receipt=text)
        found = erasures.find(tx, space=space, erasure_id=erasure_id)
        assert found is not None  # noqa: S101 - it was written in this transaction
        return found

    async def finish(self) -> int:
        """Finish every open erasure, in any space that no legal hold stands on. Returns how many were settled."""
        waiting = await self._database.transact(erasures.open_sinks, read=True)
        settled = 0
        for (space, erasure_id), names in waiting.items():
            with suppress(Moved):  # the others do not wait for it, and it goes on in its new shard
                if sinks.ROWS in names and not await self._remove_or_confirm(space, erasure_id):
                    continue
                settled += (await self.settle(space, erasure_id)).settled_at is not None
        return settled

    async def _remove_or_confirm(self, space: str, erasure_id: str) -> bool:
        """Remove the rows of an erasure. Returns False if a legal hold forbids it: it waits until that is lifted."""
        try:
            removed = await self.remove(space, erasure_id)
        except UnderLegalHold:
            return False
        if removed is None:
            # It named something that is not there: the caller was told so, or died before.
            def body(tx: Tx) -> None:
                erasures.note_receipt(tx, space=space, erasure_id=erasure_id, plan={"went": {}}, receipt="null")
                erasures.confirm(tx, space=space, erasure_id=erasure_id, sinks=sinks.INSIDE)

            await self._database.transact(body, space=space)
        return True


async def finish_open(database: Database) -> None:
    """Finish what another process was interrupted in. It never fails: the database can be used meanwhile."""
    try:
        await Settler(database).finish()
    except (BethinkError, OSError) as error:
        _log.warning("could not finish an erasure: %s", type(error).__name__)


def open_erasures(tx: Tx) -> OpenErasures:
    """Return what is still to be confirmed in any space, and the public key of the installation's receipts."""
    found = erasures.open_sinks(tx)
    waiting = tuple(OpenErasure(space=each[0], id=each[1], sinks=tuple(names)) for each, names in found.items())
    try:
        key = receipts.public_key_of(deployment_key(tx, _SIGNING_KEY))
    except Misconfigured:
        key = ""
    return OpenErasures(waiting=waiting, public_key=key)


def _out_of_reach(tx: Tx, plan: Mapping[str, Any], written: list[Row]) -> list[dict[str, str]]:
    """Say what no process of ours could clear, and why."""
    found = [("backups", "Copies, replicas and dumps that were made before. Restoring one replays this erasure.")]
    model = learner(tx)
    if model and model != "none":
        found.append(("model provider", f"What was sent to {model} is with its provider."))
    if plan.get("shown_to"):
        found.append(("other sessions", "They were shown it; what was answered there stays, unless echoes are taken."))
    if tx.dialect is Dialect.POSTGRES:
        found.append(("PostgreSQL's files", "Freed pages stay until VACUUM FULL, and its log until it is recycled."))
    for row in written:
        elsewhere = row["host"] != sinks.this_host()
        if row["kind"] == EXPORT:
            found.append(("export", f"{row['path']} on {row['host']} was exported before, and is yours to remove."))
        elif elsewhere:
            found.append(("files", f"{row['path']} is on {row['host']}, and yours to remove there."))
    return [{"what": what, "why": why} for what, why in found]
