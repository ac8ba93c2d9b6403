"""Records a planned deletion, with its tombstones, before anything is deleted."""

from collections.abc import Sequence

from bethink.base.frozen import frozen
from bethink.memory.deletion import plan as planning
from bethink.memory.deletion import sinks
from bethink.memory.deletion.plan import Step
from bethink.model.erasures import Erasure, SinkState
from bethink.store import erasures
from bethink.store.db import Tx


@frozen
class Requester:
    """The person who requested an erasure, with the key and the reason."""

    name: str
    key_prefix: str | None = None
    reason: str = ""


def record_plan(
    tx: Tx, steps: Sequence[Step], requester: Requester, erasure_id: str, *, space: str, folder: str
) -> None:  # fmt: skip
    """Record the deletion of items. Whoever opened the database, or a worker, then finishes it.

    The name and the reason of the requester must be redacted.
    """
    erasure = Erasure(
        space=space,
        id=erasure_id,
        requested_by=requester.name,
        key_prefix=requester.key_prefix,
        reason=requester.reason,
        requested_at=tx.now,
        settled_at=None,
        sinks=tuple(SinkState(sink=sink) for sink in sinks.sinks_of(tx.dialect)),
    )
    names = planning.names_of(tx, steps, space=space)
    before = erasures.existing_tombstones(tx, names, space=space)
    erasures.record(tx, erasure, plan={"steps": steps, "folder": folder, "before": before})
    erasures.add_tombstones(tx, names, space=space, erasure_id=erasure_id, at=tx.now)
