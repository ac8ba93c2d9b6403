"""Carries out a recorded erasure from its current state, and settles it. Any process may do this at any time."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from anyio import to_thread

from bethink.base.logs import logger
from bethink.errors import BethinkError, ConfigurationError, LegalHoldError, NotFoundError, SpaceMovedError
from bethink.memory.deletion import plan as planning
from bethink.memory.deletion import receipts, sinks
from bethink.memory.deletion.echoes import exposed_sessions
from bethink.memory.documents.files import clear_folder
from bethink.model.erasures import ARTIFACTS, EXPORT, WRITING, Erasure, OpenErasure
from bethink.model.paging import Page
from bethink.model.records import Deletion
from bethink.store import erasures
from bethink.store.db import Database, Row, Tx
from bethink.store.keys import deployment_key, learner
from bethink.store.sql import Dialect

_MAX_WRITE = timedelta(minutes=10)
"""A process that has marked a folder as being written for longer than this has died."""
_SIGNING_KEY = "receipts"
_log = logger("forget")


class Settler:
    """Removes the items of an erasure, and settles it once every sink has confirmed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remove(self, space: str, erasure_id: str) -> Deletion | None:
        """Remove the rows of an erasure. Return None if there were none, or another process removed them.

        Raises `LegalHoldError` if a hold was placed since the erasure was recorded: nothing is deleted then.
        """

        def body(tx: Tx) -> Deletion | None:
            requested_at, plan = erasures.lock_plan(tx, space=space, erasure_id=erasure_id)
            if "steps" not in plan:
                counts = plan.get("counts")
                return None if counts is None else Deletion(**counts)
            done = planning.carry_out(tx, planning.steps_from(plan["steps"]), space=space)
            if done is None:
                return None
            self._record_deletion(tx, erasure_id, plan, done, space=space, at=requested_at)
            return planning.add_refs(tx, done, space=space)

        return await self._database.transact(body, space=space)

    def _record_deletion(
        self, tx: Tx, erasure_id: str, plan: dict[str, Any], done: Deletion, *, space: str, at: datetime
    ) -> None:  # fmt: skip
        """Record the deleted items in the transaction that deletes them."""
        names = [(kind, name) for kind, names_of_kind in tx.deleted_ids.items() for name in names_of_kind]
        erasures.add_tombstones(tx, names, space=space, erasure_id=erasure_id, at=at)
        erasures.confirm(tx, space=space, erasure_id=erasure_id, sinks=sinks.clean_inside(tx, space=space))
        counts = {
            "messages": done.messages, "facts": done.facts, "session_summaries": done.session_summaries,
            "documents": done.documents, "threads": done.threads, "others": done.others,
            "tests": done.tests,
        }  # fmt: skip
        after = {
            "counts": counts,
            "shown_to": list(exposed_sessions(tx, space=space)),
            "folder": plan.get("folder", ""),
        }
        erasures.note_receipt(tx, space=space, erasure_id=erasure_id, plan=after, receipt="null")
        tx.deletes = True

    async def settle(self, space: str, erasure_id: str) -> Erasure:
        """Clear data outside of the database, and settle the erasure if every sink has confirmed."""
        emptied = await self._database.empty_log()

        def body(tx: Tx, cleared: Sequence[Row] | None) -> Erasure | list[Row]:
            for row in cleared or ():
                erasures.drop_written(tx, space=space, host=row["host"], path=row["path"])
            remaining = erasures.written_files(tx, space=space)
            local = [row for row in remaining if row["host"] == sinks.this_host()]
            if local and cleared is None:
                return local  # their files are cleared first, outside of a transaction
            confirmed = [sinks.LOG] if emptied else []
            if not any(row["kind"] in (ARTIFACTS, WRITING) for row in local):
                confirmed.append(sinks.FILES)
            erasures.confirm(tx, space=space, erasure_id=erasure_id, sinks=[*confirmed, sinks.EXPORTS])
            return self._settle(tx, space, erasure_id, remaining)

        settled = await self._database.transact(lambda tx: body(tx, None), space=space)
        if isinstance(settled, list):
            cleared = [row for row in settled if await self._is_clear(row)]
            settled = await self._database.transact(lambda tx: body(tx, cleared), space=space)
        assert isinstance(settled, Erasure)  # noqa: S101 - the files have been cleared
        return settled

    async def _is_clear(self, row: Row) -> bool:
        """Clear a folder of this machine; return whether it has no more data to delete."""
        path = Path(row["path"])
        if row["kind"] == EXPORT:
            return not await to_thread.run_sync(path.exists)
        await to_thread.run_sync(clear_folder, path)
        return row["kind"] == ARTIFACTS or await self._is_old(row)

    async def _is_old(self, row: Row) -> bool:
        now = await self._database.transact(lambda tx: tx.now, read_only=True)
        return row["written_at"] < int((now - _MAX_WRITE).timestamp() * 1_000_000)

    def _settle(self, tx: Tx, space: str, erasure_id: str, file_rows: list[Row]) -> Erasure:
        recorded, plan = erasures.find_with_plan(tx, space=space, erasure_id=erasure_id)
        if recorded is None:
            raise NotFoundError(f"No erasure {erasure_id!r} in space {space!r}.")
        if recorded.settled_at is not None:
            return recorded
        is_done = not recorded.open_sinks
        erasure = Erasure(
            space=space,
            id=recorded.id,
            requested_by=recorded.requested_by,
            key_prefix=recorded.key_prefix,
            reason=recorded.reason,
            requested_at=recorded.requested_at,
            settled_at=tx.now if is_done else None,
            sinks=recorded.sinks,
        )
        stones = erasures.tombstones(tx, space=space, erasure_id=erasure_id)
        outside = _out_of_reach(tx, plan, file_rows)
        receipt = receipts.receipt_of(erasure, plan=plan, stones=stones, out_of_reach=outside)
        text = receipts.sign_receipt(receipt, seed=deployment_key(tx, _SIGNING_KEY))
        if is_done:
            erasures.settle(tx, space=space, erasure_id=erasure_id, receipt=text)
        else:
            erasures.note_receipt(tx, space=space, erasure_id=erasure_id, plan=plan, receipt=text)
        return replace(erasure, receipt=text)

    async def finish(self) -> int:
        """Finish every open erasure in spaces without a legal hold. Return the number of settled erasures."""
        waiting = await self._database.transact(erasures.open_sinks, read_only=True)
        settled = 0
        for (space, erasure_id), names in waiting.items():
            with suppress(SpaceMovedError):  # the other spaces continue, and this one is finished in its new shard
                if sinks.ROWS in names and not await self._remove_or_confirm(space, erasure_id):
                    continue
                settled += (await self.settle(space, erasure_id)).settled_at is not None
        return settled

    async def _remove_or_confirm(self, space: str, erasure_id: str) -> bool:
        """Remove the rows of an erasure. Return False if a legal hold forbids it: it waits for the end of the hold."""
        try:
            removed = await self.remove(space, erasure_id)
        except LegalHoldError:
            return False
        if removed is None:
            # The items do not exist: the caller got an error, or died before.
            def body(tx: Tx) -> None:
                erasures.note_receipt(tx, space=space, erasure_id=erasure_id, plan={"counts": {}}, receipt="null")
                erasures.confirm(tx, space=space, erasure_id=erasure_id, sinks=sinks.INSIDE)

            await self._database.transact(body, space=space)
        return True


async def finish_open(database: Database) -> None:
    """Finish erasures that other processes left open. Never raises: the database can be used in the meantime."""
    try:
        await Settler(database).finish()
    except (BethinkError, OSError) as error:
        _log.warning("could not finish an erasure: %s", type(error).__name__)


def open_erasures(tx: Tx) -> Page[OpenErasure]:
    """Return the open erasures of all spaces."""
    return Page(
        items=tuple(
            OpenErasure(space=space, id=erasure_id, sinks=tuple(names))
            for (space, erasure_id), names in erasures.open_sinks(tx).items()
        )
    )


def public_key(tx: Tx) -> str:
    """Return the public key of the installation's receipts, or an empty string without the extra `receipts`."""
    try:
        return receipts.public_key_of(deployment_key(tx, _SIGNING_KEY))
    except ConfigurationError:
        return ""


def _out_of_reach(tx: Tx, plan: Mapping[str, Any], file_rows: list[Row]) -> list[dict[str, str]]:
    """Return the locations that Bethink cannot clear, with the reasons."""
    entries = [("backups", "Copies, replicas and dumps that were made before. Restoring one replays this erasure.")]
    model = learner(tx)
    if model and model != "none":
        entries.append(("model provider", f"Texts that were sent to {model} remain with its provider."))
    if plan.get("shown_to"):
        entries.append(("other sessions", "They were shown the text. Answers there stay, unless repeats are deleted."))
    if tx.dialect is Dialect.POSTGRES:
        entries.append(("PostgreSQL's files", "Freed pages stay until VACUUM FULL, and its log until it is recycled."))
    for row in file_rows:
        elsewhere = row["host"] != sinks.this_host()
        if row["kind"] == EXPORT:
            entries.append(("export", f"{row['path']} on {row['host']} is an earlier export. Remove it yourself."))
        elif elsewhere:
            entries.append(("files", f"{row['path']} is on {row['host']}. Remove it there."))
    return [{"what": location, "why": why} for location, why in entries]
