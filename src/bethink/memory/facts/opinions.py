"""Carries out the verbs by which people say what they think of facts: pins and feedback."""

from typing import Self

from bethink.errors import NotFound, Stale
from bethink.extend import Redactor
from bethink.memory.registry import Host, handles
from bethink.model.changes import ChangeKind
from bethink.model.facts import Fact
from bethink.model.framing import text_cleaner
from bethink.model.operations.steering import FEEDBACK, PIN, PINS, UNPIN, FeedbackRequest, PinRequest, PinsRequest
from bethink.model.recall import FactVerdict, Feedback, Ref, RefKind
from bethink.model.reviews import REPORTED_WRONG, ClaimedFact, ReviewStatus
from bethink.store import changes, facts, feedback, ledger, reviews, search
from bethink.store.db import Database, Tx


class OpinionService:
    """Pins and feedback of every space in one database."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._cut = text_cleaner(redactor.redact)

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(PIN)
    async def pin(self, space: str, request: PinRequest) -> Fact:
        """Pin a fact."""
        return await self._pinned(space, request.ref, pin=True)

    @handles(UNPIN)
    async def unpin(self, space: str, request: PinRequest) -> Fact:
        """Take the pin of a fact back."""
        return await self._pinned(space, request.ref, pin=False)

    @handles(PINS)
    async def pins(self, space: str, request: PinsRequest) -> list[Fact]:
        """Return the facts that are pinned, in the order they were."""

        def body(tx: Tx) -> list[Fact]:
            found = search.pinned_facts(tx, space=space, as_of=request.as_of, limit=request.limit)
            return [each.fact for each in found if each.fact is not None]

        return await self._database.transact(body, space=space, read=True)

    @handles(FEEDBACK)
    async def feedback(self, space: str, request: FeedbackRequest) -> Feedback:
        """Keep what somebody says about a fact, and do what follows from it."""
        note = None if request.note is None else self._cut(request.note)
        by = self._cut(request.by)

        def body(tx: Tx) -> Feedback:
            facts.lock(tx, space=space)
            review = None
            if request.verdict is FactVerdict.USEFUL:
                _existing(tx, space, request.ref)
                ledger.use(tx, space=space, refs=[request.ref])
            else:
                fact = _current(tx, space, request.ref)
                if request.verdict is FactVerdict.WRONG:
                    review = _hold(tx, space, fact, note)
                else:
                    facts.end(tx, space=space, fact=fact, at=tx.now, by=None)
            return feedback.put(
                tx, space=space, ref=request.ref, verdict=request.verdict, by=by, note=note, review_id=review
            )  # fmt: skip

        return await self._database.transact(body, space=space)

    async def _pinned(self, space: str, ref: Ref, *, pin: bool) -> Fact:
        def body(tx: Tx) -> Fact:
            facts.lock(tx, space=space)
            known = _found(tx, space, ref)
            changed = (facts.pin if pin else facts.unpin)(tx, space=space, fact_id=ref.id)
            if changed:
                kind = ChangeKind.FACT_PINNED if pin else ChangeKind.FACT_UNPINNED
                changes.record(tx, space=space, kind=kind, ref=Ref(RefKind.FACT, ref.id, known.version))
            return _found(tx, space, ref)

        return await self._database.transact(body, space=space, repeatable=True)


def _hold(tx: Tx, space: str, fact: Fact, note: str | None) -> str:
    """Put a fact under review: it does not hold until a person approves it."""
    said = facts.supports(tx, space=space, fact_id=fact.id)
    claim = ClaimedFact(fact=fact, quotes=said[0].quotes if said else ())
    facts.retire(tx, space=space, fact_id=fact.id, by="")
    return reviews.put(
        tx,
        claim,
        space=space,
        status=ReviewStatus.HELD,
        reason=REPORTED_WRONG,
        detail=note or "",
        effect=f"wrong:{fact.id}:{fact.version}",
        fact_id=fact.id,
    )


def _current(tx: Tx, space: str, ref: Ref) -> Fact:
    fact = _found(tx, space, ref)
    if fact.version != ref.number:
        raise Stale(f"fact {fact.id} is now at version {fact.version}.", current=fact.version)
    return fact


def _existing(tx: Tx, space: str, ref: Ref) -> None:
    if all(each.version != ref.number for each in facts.versions(tx, space=space, fact_id=ref.id)):
        raise _missing(space, ref)


def _found(tx: Tx, space: str, ref: Ref) -> Fact:
    found = facts.find(tx, space=space, fact_id=ref.id)
    if found is None:
        raise _missing(space, ref)
    return found


def _missing(space: str, ref: Ref) -> NotFound:
    return NotFound(
        f"no fact {ref.id!r} in space {space!r}.", hint="Use the ref of a fact that holds, as recall returns it."
    )
