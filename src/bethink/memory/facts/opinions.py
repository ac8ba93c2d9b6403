"""Handles pins and feedback on facts."""

from typing import Self

from bethink.errors import NotFoundError, VersionConflictError
from bethink.extend import Redactor
from bethink.memory.registry import Host, handles
from bethink.model.changes import ChangeKind
from bethink.model.facts import Fact
from bethink.model.framing import text_cleaner
from bethink.model.operations.steering import PIN_FACT, RATE_FACT, UNPIN_FACT, PinFactRequest, RateFactRequest
from bethink.model.recall import FactVerdict, Feedback
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import REPORTED_WRONG, ClaimedFact, ReviewStatus
from bethink.store import changes, facts, feedback, ledger, reviews, statements, views
from bethink.store.db import Database, Tx


class OpinionService:
    """Pins and feedback of every space in one database."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._cut = text_cleaner(redactor.redact)

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(PIN_FACT)
    async def pin(self, space: str, request: PinFactRequest) -> Fact:
        """Pin a fact."""
        return await self._set_pin(space, request.ref, pin=True)

    @handles(UNPIN_FACT)
    async def unpin(self, space: str, request: PinFactRequest) -> Fact:
        """Unpin a fact."""
        return await self._set_pin(space, request.ref, pin=False)

    @handles(RATE_FACT)
    async def feedback(self, space: str, request: RateFactRequest) -> Feedback:
        """Store feedback on a fact, and apply it."""
        note = None if request.note is None else self._cut(request.note)
        actor = self._cut(request.actor)

        def body(tx: Tx) -> Feedback:
            facts.lock(tx, space=space)
            review = None
            if request.verdict is FactVerdict.USEFUL:
                _check_exists(tx, space, request.ref)
                ledger.use(tx, space=space, refs=[request.ref])
            else:
                fact = _current(tx, space, request.ref)
                if request.verdict is FactVerdict.WRONG:
                    review = _put_under_review(tx, space, fact, note)
                else:
                    facts.end(tx, space=space, fact=fact, at=tx.now)
            return feedback.put(
                tx, space=space, ref=request.ref, verdict=request.verdict, actor=actor, note=note, review_id=review
            )  # fmt: skip

        return await self._database.transact(body, space=space)

    async def _set_pin(self, space: str, ref: Ref, *, pin: bool) -> Fact:
        def body(tx: Tx) -> Fact:
            facts.lock(tx, space=space)
            fact = _get_fact(tx, space, ref)
            changed = (facts.pin if pin else facts.unpin)(tx, space=space, fact_id=ref.id)
            if changed:
                kind = ChangeKind.FACT_PINNED if pin else ChangeKind.FACT_UNPINNED
                changes.record(tx, space=space, kind=kind, ref=Ref(RefKind.FACT, ref.id, fact.version))
            return _get_fact(tx, space, ref)

        return await self._database.transact(body, space=space, repeatable=True)


def _put_under_review(tx: Tx, space: str, fact: Fact, note: str | None) -> str:
    """Put a fact under review: it is not valid until a person approves it."""
    supports = facts.supports(tx, space=space, fact_id=fact.id)
    claim = ClaimedFact(fact=fact, quotes=supports[0].quotes if supports else ())
    affected = views.neighbors(tx, space=space, fact_ids=[fact.id])
    facts.retire(tx, space=space, fact_id=fact.id, successor_id="")
    statements.drop(tx, space=space, fact_id=fact.id)  # what it had replaced is true again
    views.refresh(tx, space=space, fact_ids=affected)
    return reviews.put(
        tx,
        claim,
        space=space,
        status=ReviewStatus.PENDING,
        reason=REPORTED_WRONG,
        detail=note or "",
        effect=f"wrong:{fact.id}:{fact.version}",
        fact_id=fact.id,
    )


def _current(tx: Tx, space: str, ref: Ref) -> Fact:
    fact = _get_fact(tx, space, ref)
    if fact.version != ref.number:
        raise VersionConflictError(f"Fact {fact.id} is now at version {fact.version}.", current=fact.version)
    return fact


def _check_exists(tx: Tx, space: str, ref: Ref) -> None:
    if all(version.version != ref.number for version in facts.versions(tx, space=space, fact_id=ref.id)):
        raise _missing(space, ref)


def _get_fact(tx: Tx, space: str, ref: Ref) -> Fact:
    fact = facts.find(tx, space=space, fact_id=ref.id)
    if fact is None:
        raise _missing(space, ref)
    return fact


def _missing(space: str, ref: Ref) -> NotFoundError:
    return NotFoundError(
        f"No fact {ref.id!r} in space {space!r}.", hint="Use the ref of a current fact, as `recall` returns it."
    )
