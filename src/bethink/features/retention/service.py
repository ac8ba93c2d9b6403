"""The rules of retention: deletes old items and expired facts, and places and lifts legal holds."""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Self

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import BethinkError, Conflict, Moved, NotFound, UnderLegalHold
from bethink.extend import Redactor
from bethink.features.retention import operations as verbs
from bethink.features.retention import queries as rows
from bethink.features.retention.records import RetentionKind, RetentionRule, Swept
from bethink.memory.deletion import plan as planning
from bethink.memory.deletion.forget import AskedBy, ForgetService, asker
from bethink.memory.deletion.plan import Step
from bethink.memory.deletion.settling import finish_open
from bethink.memory.registry import Host, handles
from bethink.model.holds import LegalHold
from bethink.model.ids import new_id
from bethink.model.operations.base import Empty
from bethink.model.recall import RefKind
from bethink.model.records import Forgotten
from bethink.store import holds as held
from bethink.store import jobs
from bethink.store.db import Database, Tx

BY = "retention"
"""Who asked for the erasures of a sweep, in their records."""
_AT_ONCE = 500
"""How much one erasure removes at most."""
_MOST = 40
"""How many erasures one sweep of a space makes at most."""
_SPACES = 100
_PASS = 600.0
"""Seconds from one pass of a worker through all spaces to the next."""
_log = logger("retention")


@frozen
class RetentionOptions:
    """What the settings say for all spaces."""

    message_days: int = 0
    """After how many days messages are erased where a space has no rule for them; 0 for never."""
    expired_days: int = 30
    """How many days after its end a fact that expired is erased."""


class _Due:
    """What is due in a space, rule by rule and in order: what a batch has passed is not looked at again."""

    def __init__(self, options: RetentionOptions, space: str) -> None:
        self._options = options
        self._space = space
        self._place = self._reached = (0, "")

    def next(self, tx: Tx) -> tuple[list[Step], AskedBy] | None:
        """Return the next batch, all of one rule, and why it goes; None if nothing more is due."""
        rules = self._rules(tx)
        start, after = self._place
        for number, rule in enumerate(rules[start:], start):
            found = self._found(tx, rule, after=after if number == start else "", limit=_AT_ONCE)
            if found:
                self._reached = (number, found[-1][0])
                why = f"retention: {'facts that have expired' if rule is None else rule}"
                return _steps(rule, found), AskedBy(by=BY, reason=why)
        return None

    def pass_over(self) -> None:
        """Go on after the last batch, which is gone."""
        self._place = self._reached

    def every(self, tx: Tx) -> list[Step]:
        """Return all that is due, up to what one sweep takes."""
        limit = _AT_ONCE * _MOST
        return [step for rule in self._rules(tx) for step in _steps(rule, self._found(tx, rule, after="", limit=limit))]

    def _rules(self, tx: Tx) -> list[RetentionRule | None]:
        return [*rules_of(tx, self._options, space=self._space), None]

    def _found(self, tx: Tx, rule: RetentionRule | None, *, after: str, limit: int) -> list[tuple[str, int]]:
        if rule is not None:
            return rows.due(tx, rule, space=self._space, after=after, limit=limit)
        ended = tx.now - timedelta(days=self._options.expired_days)
        return rows.expired(tx, space=self._space, before=ended, after=after, limit=limit)


def rules_of(tx: Tx, options: RetentionOptions, *, space: str) -> list[RetentionRule]:
    """Return the rules of a space, with that of the settings where it has none of its own for messages."""
    found = rows.rules(tx, space=space)
    own = any(each.kind is RetentionKind.MESSAGE and each.origin is None for each in found)
    if own or options.message_days < 1:
        return found
    return [RetentionRule(kind=RetentionKind.MESSAGE, older_than=options.message_days, set_by="settings"), *found]


def _steps(rule: RetentionRule | None, found: Sequence[tuple[str, int]]) -> list[Step]:
    """Return what goes, as steps. Without a rule, it is facts that have expired."""
    kind = RetentionKind.FACT if rule is None else rule.kind
    if kind is not RetentionKind.MESSAGE:
        return [Step(kind, each) for each, _ in found]
    sessions: dict[str, list[int]] = {}
    for session_id, number in found:
        sessions.setdefault(session_id, []).append(number)
    return [Step(RefKind.MESSAGE, session_id, tuple(numbers)) for session_id, numbers in sessions.items()]


class RetentionService:
    """Handles the operations of retention, and sweeps every space of one database."""

    def __init__(
        self, database: Database, *, redactor: Redactor, files_folder: str = "", options: RetentionOptions
    ) -> None:
        self._database = database
        self._redactor = redactor
        self._options = options
        self._forgetting = ForgetService(database, redactor=redactor, files_folder=files_folder)
        self._after = ""
        self._begins = 0.0

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls.from_settings(host.database, host.settings, redactor=host.redactor)

    @classmethod
    def from_settings(cls, database: Database, settings: Settings | None, *, redactor: Redactor) -> Self:
        """Make it as the settings say."""
        given = settings or Settings()
        rules = given.retention
        options = RetentionOptions(message_days=rules.message_days, expired_days=rules.expired_days)
        return cls(database, redactor=redactor, files_folder=given.learning.artefacts_dir, options=options)

    @handles(verbs.LIST_RETENTION)
    async def all(self, space: str, request: Empty) -> list[RetentionRule]:
        """List the rules of a space."""
        del request
        return await self._database.transact(
            lambda tx: rules_of(tx, self._options, space=space), space=space, read=True
        )

    @handles(verbs.SET_RETENTION)
    async def set(self, space: str, request: verbs.SetRetentionRequest) -> RetentionRule:
        """Set a rule."""

        def body(tx: Tx) -> RetentionRule:
            rule = RetentionRule(
                kind=request.kind,
                older_than=request.older_than,
                origin=request.origin,
                set_by=self._redactor.redact(asker(None).by),
                set_at=tx.now,
            )
            rows.put(tx, rule, space=space)
            return rule

        return await self._database.transact(body, space=space)

    @handles(verbs.REMOVE_RETENTION)
    async def remove(self, space: str, request: verbs.RemoveRetentionRequest) -> None:
        """Remove a rule."""

        def body(tx: Tx) -> None:
            if not rows.drop(tx, space=space, kind=request.kind, origin=request.origin):
                origin = "" if request.origin is None else f" from {request.origin}"
                raise NotFound(
                    f"space {space!r} has no retention rule for {request.kind}{origin}.",
                    hint="List them with 'bethink retention'. One of the settings is changed there.",
                )

        await self._database.transact(body, space=space)

    @handles(verbs.SWEEP)
    async def sweep(self, space: str, request: verbs.SweepRequest) -> Swept:
        """Erase what is due in a space, so much at a time, each time as a recorded erasure."""
        if request.dry_run:
            went = await self._forgetting.would(space, _Due(self._options, space).every)
            return Swept(went=went, dry_run=True)
        due = _Due(self._options, space)
        done: list[Forgotten] = []
        while len(done) < _MOST:
            gone = await self._batch(space, due)
            if gone is None:
                break
            done.append(gone)
        return Swept(
            erasures=tuple(each.erasure_id for each in done if each.erasure_id),
            went=planning.added([*done, Forgotten()]),
            more=len(done) == _MOST,
        )

    async def _batch(self, space: str, due: _Due) -> Forgotten | None:
        def choose(tx: Tx) -> tuple[list[Step], AskedBy] | None:
            # What another process has recorded and not removed yet comes first: a worker finishes it.
            return None if held.rows_open(tx, space=space) else due.next(tx)

        try:
            gone = await self._forgetting.erase(space, choose)
        except NotFound:  # somebody else erased it meanwhile
            gone = Forgotten()
        due.pass_over()
        return gone

    async def sweep_if_due(self) -> None:
        """Sweep the next spaces in turn, if it is time for them. It never fails."""
        if time.monotonic() < self._begins:
            return
        try:
            await self.sweep_next()
        except (BethinkError, OSError) as error:
            _log.warning("could not sweep: %s", type(error).__name__)

    async def sweep_next(self) -> int:
        """Sweep the next spaces in turn, but for those under a legal hold. Returns how many erasures that were.

        A turn ends after some erasures, and the next goes on from there.
        """
        start, count = self._after, 0
        names = await self._database.transact(lambda tx: jobs.spaces(tx, limit=_SPACES, after=start), read=True)
        for name in names:
            try:
                swept = await self.sweep(name, verbs.SweepRequest())
            except (UnderLegalHold, Moved):
                swept = Swept()
            except Conflict as error:
                _log.warning("could not sweep a space: %s", type(error).__name__)
                swept = Swept()
            count += len(swept.erasures)
            if swept.more:
                return count  # this space is not done: the next turn goes on with it
            self._after = name
            if count >= _MOST:
                return count  # jobs wait meanwhile
        if len(names) < _SPACES:
            self._after, self._begins = "", time.monotonic() + _PASS
        return count

    @handles(verbs.HOLD)
    async def hold(self, space: str, request: verbs.HoldRequest) -> LegalHold:
        """Place a legal hold."""

        def body(tx: Tx) -> LegalHold:
            if tx.one("lock_space", space=space) is None:
                raise NotFound(f"no space {space!r}.", hint="List the spaces to see their names.")
            placed = LegalHold(
                space=space,
                id=new_id("hld"),
                reason=self._redactor.redact(request.reason),
                placed_by=self._redactor.redact(asker(request.by).by),
                placed_at=tx.now,
            )
            held.place(tx, placed)
            return placed

        return await self._database.transact(body, space=space)

    @handles(verbs.HOLDS)
    async def holds(self, space: str, request: verbs.HoldsRequest) -> list[LegalHold]:
        """List the legal holds on a space."""
        return await self._database.transact(
            lambda tx: held.holds(tx, space=space, limit=request.limit), space=space, read=True
        )

    @handles(verbs.ALL_HOLDS)
    async def all_holds(self, space: str, request: verbs.HoldsRequest) -> list[LegalHold]:
        """List the legal holds that stand."""
        del space
        return await self._database.transact(lambda tx: held.standing_holds(tx, limit=request.limit), read=True)

    @handles(verbs.LIFT)
    async def lift(self, space: str, request: verbs.LiftRequest) -> LegalHold:
        """Lift a legal hold, and finish what waited for it. One that was lifted before stays as it is."""
        space = request.space

        def body(tx: Tx) -> LegalHold:
            found = held.find_hold(tx, space=space, hold_id=request.hold_id)
            if found is None:
                raise NotFound(f"no legal hold {request.hold_id!r} on space {space!r}.", hint="List them with holds.")
            if found.lifted_at is not None:
                return found
            lifted = replace(
                found,
                lifted_by=self._redactor.redact(asker(request.by).by),
                lifted_at=tx.now,
                lifted_because=self._redactor.redact(request.reason),
            )
            held.place(tx, lifted)
            return lifted

        lifted = await self._database.transact(body, space=space)
        await finish_open(self._database)
        return lifted
