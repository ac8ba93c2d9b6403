"""Applies retention rules: deletes old items and expired facts, and places and lifts legal holds."""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Self

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import BethinkError, ConflictError, LegalHoldError, NotFoundError, SpaceMovedError
from bethink.extend import Redactor
from bethink.features.retention import operations
from bethink.features.retention import queries as rows
from bethink.features.retention.records import RetentionKind, RetentionReport, RetentionRule
from bethink.memory.deletion import plan as planning
from bethink.memory.deletion.forget import ForgetService, requester_of
from bethink.memory.deletion.plan import Step
from bethink.memory.deletion.recording import Requester
from bethink.memory.deletion.settling import finish_open
from bethink.memory.registry import Host, handles
from bethink.model.holds import LegalHold
from bethink.model.ids import new_id
from bethink.model.operations.base import Empty
from bethink.model.paging import Page
from bethink.model.records import Deletion
from bethink.model.refs import RefKind
from bethink.store import holds as stored_holds
from bethink.store import jobs
from bethink.store.db import Database, Tx

ACTOR = "retention"
"""Actor recorded for erasures by retention."""
_BATCH = 500
"""Maximum number of items per erasure."""
_MAX_ERASURES = 40
"""Maximum number of erasures per sweep of a space."""
_SPACES = 100
_PASS = 600.0
"""Seconds between passes of a worker through all spaces."""
_log = logger("retention")


@frozen
class RetentionOptions:
    """Default rules from the settings, for all spaces."""

    message_days: int = 0
    """Days after which messages are deleted in a space without its own rule; 0 for never."""
    expired_days: int = 30
    """Days after which an expired fact is deleted."""


class _DueItems:
    """Items due in a space, rule by rule and in order. Finished batches are not read again."""

    def __init__(self, options: RetentionOptions, space: str) -> None:
        self._options = options
        self._space = space
        self._position = self._last_position = (0, "")

    def next(self, tx: Tx) -> tuple[list[Step], Requester] | None:
        """Return the next batch of one rule with the reason, or None if nothing is due."""
        rules = self._rules(tx)
        start, after = self._position
        for number, rule in enumerate(rules[start:], start):
            items = self._list_items(tx, rule, after=after if number == start else "", limit=_BATCH)
            if items:
                self._last_position = (number, items[-1][0])
                reason = f"retention: {'facts that have expired' if rule is None else rule}"
                return _steps(rule, items), Requester(name=ACTOR, reason=reason)
        return None

    def advance(self) -> None:
        """Continue after the last batch, which has been deleted."""
        self._position = self._last_position

    def all_steps(self, tx: Tx) -> list[Step]:
        """Return all due steps, up to the limit of one sweep."""
        limit = _BATCH * _MAX_ERASURES
        return [
            step for rule in self._rules(tx) for step in _steps(rule, self._list_items(tx, rule, after="", limit=limit))
        ]

    def _rules(self, tx: Tx) -> list[RetentionRule | None]:
        return [*rules_of(tx, self._options, space=self._space), None]

    def _list_items(self, tx: Tx, rule: RetentionRule | None, *, after: str, limit: int) -> list[tuple[str, int]]:
        if rule is not None:
            return rows.list_due(tx, rule, space=self._space, after=after, limit=limit)
        cutoff = tx.now - timedelta(days=self._options.expired_days)
        return rows.list_expired(tx, space=self._space, before=cutoff, after=after, limit=limit)


def rules_of(tx: Tx, options: RetentionOptions, *, space: str) -> list[RetentionRule]:
    """Return the rules of a space. The default from the settings is added if there is no message rule."""
    rules = rows.rules(tx, space=space)
    own = any(rule.kind is RetentionKind.MESSAGE and rule.origin is None for rule in rules)
    if own or options.message_days < 1:
        return rules
    return [RetentionRule(kind=RetentionKind.MESSAGE, older_than=options.message_days, set_by="settings"), *rules]


def _steps(rule: RetentionRule | None, items: Sequence[tuple[str, int]]) -> list[Step]:
    """Return due items as deletion steps. Without a rule, they are expired facts."""
    kind = RetentionKind.FACT if rule is None else rule.kind
    if kind is not RetentionKind.MESSAGE:
        return [Step(kind, item_id) for item_id, _ in items]
    sessions: dict[str, list[int]] = {}
    for session_id, number in items:
        sessions.setdefault(session_id, []).append(number)
    return [Step(RefKind.MESSAGE, session_id, tuple(numbers)) for session_id, numbers in sessions.items()]


class RetentionService:
    """Handles retention operations, and sweeps all spaces of one database."""

    def __init__(
        self, database: Database, *, redactor: Redactor, files_folder: str = "", options: RetentionOptions
    ) -> None:
        self._database = database
        self._redactor = redactor
        self._options = options
        self._forgetting = ForgetService(database, redactor=redactor, files_folder=files_folder)
        self._after = ""
        self._next_pass = 0.0

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls.from_settings(host.database, host.settings, redactor=host.redactor)

    @classmethod
    def from_settings(cls, database: Database, settings: Settings | None, *, redactor: Redactor) -> Self:
        """Build the service from the settings."""
        effective = settings or Settings()
        rules = effective.retention
        options = RetentionOptions(message_days=rules.message_days, expired_days=rules.expired_days)
        return cls(database, redactor=redactor, files_folder=effective.learning.artifacts_dir, options=options)

    @handles(operations.LIST_RETENTION)
    async def list_rules(self, space: str, request: Empty) -> Page[RetentionRule]:
        """List the rules of a space."""
        del request
        rules = await self._database.transact(
            lambda tx: rules_of(tx, self._options, space=space), space=space, read_only=True
        )
        return Page(items=tuple(rules))

    @handles(operations.SET_RETENTION)
    async def set(self, space: str, request: operations.SetRetentionRequest) -> RetentionRule:
        """Set a rule."""

        def body(tx: Tx) -> RetentionRule:
            rule = RetentionRule(
                kind=request.kind,
                older_than=request.older_than,
                origin=request.origin,
                set_by=self._redactor.redact(requester_of(None).name),
                set_at=tx.now,
            )
            rows.put(tx, rule, space=space)
            return rule

        return await self._database.transact(body, space=space)

    @handles(operations.REMOVE_RETENTION)
    async def remove(self, space: str, request: operations.RemoveRetentionRequest) -> None:
        """Remove a rule."""

        def body(tx: Tx) -> None:
            if not rows.drop(tx, space=space, kind=request.kind, origin=request.origin):
                origin = "" if request.origin is None else f" from {request.origin}"
                raise NotFoundError(
                    f"Space {space!r} has no retention rule for {request.kind}{origin}.",
                    hint="List rules with 'bethink admin retention'. Change a default rule in the settings.",
                )

        await self._database.transact(body, space=space)

    @handles(operations.RUN_RETENTION)
    async def sweep(self, space: str, request: operations.RunRetentionRequest) -> RetentionReport:
        """Delete due items of a space in batches, each a recorded erasure."""
        if request.dry_run:
            deletion = await self._forgetting.preview(space, _DueItems(self._options, space).all_steps)
            return RetentionReport(deletion=deletion, dry_run=True)
        due = _DueItems(self._options, space)
        done: list[Deletion] = []
        while len(done) < _MAX_ERASURES:
            deletion = await self._batch(space, due)
            if deletion is None:
                break
            done.append(deletion)
        return RetentionReport(
            erasures=tuple(item.erasure_id for item in done if item.erasure_id),
            deletion=planning.sum_deletions([*done, Deletion()]),
            more=len(done) == _MAX_ERASURES,
        )

    async def _batch(self, space: str, due: _DueItems) -> Deletion | None:
        def choose(tx: Tx) -> tuple[list[Step], Requester] | None:
            # Erasures that another process recorded but has not finished come first: a worker finishes them.
            return None if stored_holds.open_erasures(tx, space=space) else due.next(tx)

        try:
            deletion = await self._forgetting.erase(space, choose)
        except NotFoundError:  # another process deleted it in the meantime
            deletion = Deletion()
        due.advance()
        return deletion

    async def sweep_if_due(self) -> None:
        """Sweep the next spaces if due. Errors are logged, never raised."""
        if time.monotonic() < self._next_pass:
            return
        try:
            await self.sweep_next()
        except (BethinkError, OSError) as error:
            _log.warning("Retention sweep failed: %s", type(error).__name__)

    async def sweep_next(self) -> int:
        """Sweep the next spaces, except those under a legal hold. Returns the number of erasures.

        A turn ends after `_MAX_ERASURES` erasures, and the next turn continues from there.
        """
        start, count = self._after, 0
        names = await self._database.transact(lambda tx: jobs.spaces(tx, limit=_SPACES, after=start), read_only=True)
        for name in names:
            try:
                swept = await self.sweep(name, operations.RunRetentionRequest())
            except (LegalHoldError, SpaceMovedError):
                swept = RetentionReport()
            except ConflictError as error:
                _log.warning("Retention sweep of a space failed: %s", type(error).__name__)
                swept = RetentionReport()
            count += len(swept.erasures)
            if swept.more:
                return count  # this space is unfinished: the next turn continues with it
            self._after = name
            if count >= _MAX_ERASURES:
                return count  # jobs are waiting
        if len(names) < _SPACES:
            self._after, self._next_pass = "", time.monotonic() + _PASS
        return count

    @handles(operations.PLACE_HOLD)
    async def hold(self, space: str, request: operations.PlaceHoldRequest) -> LegalHold:
        """Place a legal hold."""

        def body(tx: Tx) -> LegalHold:
            if not tx.lock_space(space):
                raise NotFoundError(f"No space {space!r}.", hint="List the spaces to see their names.")
            placed = LegalHold(
                space=space,
                id=new_id("hld"),
                reason=self._redactor.redact(request.reason),
                placed_by=self._redactor.redact(requester_of(request.actor).name),
                placed_at=tx.now,
            )
            stored_holds.put_hold(tx, placed)
            return placed

        return await self._database.transact(body, space=space)

    @handles(operations.LIST_HOLDS)
    async def holds(self, space: str, request: operations.ListHoldsRequest) -> Page[LegalHold]:
        """List the legal holds on a space."""
        holds = await self._database.transact(
            lambda tx: stored_holds.holds(tx, space=space, limit=request.limit), space=space, read_only=True
        )
        return Page(items=tuple(holds))

    @handles(operations.LIST_ALL_HOLDS)
    async def all_holds(self, space: str, request: operations.ListHoldsRequest) -> Page[LegalHold]:
        """List the legal holds that are in force."""
        del space
        holds = await self._database.transact(
            lambda tx: stored_holds.active_holds(tx, limit=request.limit), read_only=True
        )
        return Page(items=tuple(holds))

    @handles(operations.LIFT_HOLD)
    async def lift(self, space: str, request: operations.LiftHoldRequest) -> LegalHold:
        """Lift a legal hold and finish deletions it blocked. A hold that is already lifted stays unchanged."""
        space = request.space

        def body(tx: Tx) -> LegalHold:
            hold = stored_holds.find_hold(tx, space=space, hold_id=request.hold_id)
            if hold is None:
                raise NotFoundError(
                    f"No legal hold {request.hold_id!r} on space {space!r}.", hint="List the legal holds."
                )
            if hold.lifted_at is not None:
                return hold
            lifted = replace(
                hold,
                lifted_by=self._redactor.redact(requester_of(request.actor).name),
                lifted_at=tx.now,
                lift_reason=self._redactor.redact(request.reason),
            )
            stored_holds.put_hold(tx, lifted)
            return lifted

        lifted = await self._database.transact(body, space=space)
        await finish_open(self._database)
        return lifted
