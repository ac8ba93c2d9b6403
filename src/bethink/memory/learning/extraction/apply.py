"""Store what was learnt from a session, all or nothing: facts, what is held or refused, the memory of the session."""

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta

from bethink.base.frozen import frozen
from bethink.errors import LostClaim
from bethink.memory.facts.reconcile import Settlement, reconcile
from bethink.memory.learning.extraction import reading
from bethink.memory.learning.extraction.claims import Answer, DraftClaim
from bethink.memory.learning.extraction.gate import ClaimProblem, ClaimReason, Force
from bethink.memory.learning.extraction.judge import Judged
from bethink.memory.learning.extraction.notes import Notes, noted
from bethink.model.facts import Evidence, Fact, Maker, SessionMemory
from bethink.model.ids import new_id
from bethink.model.jobs import Claim, JobKind, JobStatus, Learnt, Outcome
from bethink.model.kinds import FactKind
from bethink.model.moments import to_micros
from bethink.model.reviews import ClaimedFact, ReviewStatus
from bethink.model.rules import CONFIDENTIAL, QUIET_CHECK
from bethink.model.steering import LearningRules
from bethink.store import facts, jobs, learning, reviews
from bethink.store.db import Tx
from bethink.store.learning import Advanced

_NO_PERSONS = frozenset({ClaimReason.ASSISTANT_ONLY, ClaimReason.NOT_A_PERSONS_WORD})
DISPUTED = ClaimProblem(ClaimReason.OUTRANKED, "what it would change was said by someone more trusted", Force.HOLDS)
_OWNERS = frozenset({"owner", "user", "the user"})


@frozen
class Extracted:
    """What an extraction came to: the judged claims of a model, or without one the notes of quoting."""

    made_by: Maker
    judged: Sequence[Judged] = ()
    answer: Answer = field(default_factory=Answer)
    notes: Notes | None = None


def apply(tx: Tx, claim: Claim, work: reading.ExtractionInput, result: Extracted) -> Learnt:
    """Store the results of a session and finish the claim, all or nothing.

    Raises `LostClaim` if the token or the watermark shows that another worker was faster.
    """
    facts.lock(tx, space=claim.space)
    left = _advance(tx, claim, work, quoted=result.made_by.quotes)
    learnt = Learnt(outcome=Outcome.SUCCEEDED)
    learnt.refused[ClaimReason.MALFORMED] += result.answer.malformed
    stands = _settle_all(tx, claim, work, result, learnt)
    notes = result.notes or _notes(tx, claim, work, stands, result.answer)
    if _remember(tx, claim, work, notes, result.made_by):
        kind, key = JobKind.CONSOLIDATE, jobs.SPACE_KEY
        jobs.queue(tx, space=claim.space, kind=kind, key=key, watermark=to_micros(work.updated_at))
    outcome = Outcome.SUCCEEDED if learnt.settled or notes.remembers else Outcome.SUCCEEDED_NO_OUTPUT
    _finish(tx, claim, left, outcome=outcome, until=work.until)
    return Learnt(
        outcome=outcome, settled=learnt.settled, for_review=learnt.for_review, refused=+learnt.refused
    )  # fmt: skip


def _settle_all(
    tx: Tx, claim: Claim, work: reading.ExtractionInput, result: Extracted, learnt: Learnt
) -> list[Judged]:  # fmt: skip
    """Store every claim as a fact or for review, and return those that stand."""
    numbers = {quote.number for each in result.judged for quote in each.checked.quotes}
    existing = learning.existing(tx, space=claim.space, session_id=claim.key, numbers=sorted(numbers))
    stands: list[Judged] = []
    # In the order they were said, not in that of the model: facts of one call share one time.
    ordered = sorted(result.judged, key=lambda each: max((quote.number for quote in each.checked.quotes), default=0))
    for place, each in enumerate(ordered):
        if not {quote.number for quote in each.checked.quotes} <= existing:  # a source was purged meanwhile
            learnt.refused[ClaimReason.NO_QUOTE] += 1
            continue
        effect = f"{claim.key}:{work.until}:{result.made_by.extractor}:{place}"
        claimed = claimed_fact(each, work, result.made_by, source=claim.key)
        problem = each.problem
        if problem is None and each.checked.claim.kind is None:
            stands.append(each)
            continue
        if problem is None:
            settlement = reconcile(tx, claimed, space=claim.space, effect=effect, token=claim.token)
            if settlement is not Settlement.DISPUTED:
                learnt.settled[settlement] += 1
                stands.append(each)
                continue
            problem = DISPUTED
        if problem.reason not in _NO_PERSONS or not _proposed(tx, claimed, space=claim.space):
            _keep_for_review(tx, claim, claimed, problem, effect=effect, learnt=learnt)
    return stands


def _proposed(tx: Tx, claimed: ClaimedFact, *, space: str) -> bool:
    """Return whether the messages of a claim are in the inbox themselves: a person need not decide about them twice."""
    words = [quote for quote in claimed.quotes if not quote.context]
    keys = [reviews.proposal_key(quote.session_id, quote.number) for quote in words]
    return all(reviews.find_by_effect(tx, space=space, effect=key) is not None for key in keys)


def _keep_for_review(
    tx: Tx, claim: Claim, claimed: ClaimedFact, problem: ClaimProblem, *, effect: str, learnt: Learnt
) -> None:  # fmt: skip
    refused = problem.force is Force.REFUSES
    (learnt.refused if refused else learnt.for_review)[problem.reason] += 1
    reviews.put(
        tx,
        claimed,
        space=claim.space,
        status=ReviewStatus.REFUSED if refused else ReviewStatus.HELD,
        reason=problem.reason,
        detail=problem.detail,
        effect=effect,
    )


def claimed_fact(each: Judged, work: reading.ExtractionInput, made_by: Maker, *, source: str) -> ClaimedFact:
    """Return a judged claim as the fact it would be, learnt from a session."""
    draft, checked = each.checked.claim, each.checked
    words = [quote.number for quote in checked.quotes if not quote.context]
    said = max((work.said_at(number) for number in words), default=work.updated_at)
    happened_from, happened_to = draft.happened
    fact = Fact(
        id=new_id("fct"),
        content=each.statement,
        source=source,
        created_at=said,
        kind=draft.kind or FactKind.KNOWLEDGE,
        origin=checked.origin,
        entities=() if _is_owner(draft, work) or not draft.about else (draft.about,),
        subject=_subject(draft, work),
        slot=draft.slot,
        # An event stays true: what it is about may begin or end, but that it happened does not.
        valid_from=None if draft.kind is FactKind.EVENT and draft.since is None else draft.since,
        valid_to=None if draft.kind is FactKind.EVENT else draft.until,
        happened_from=happened_from,
        happened_to=happened_to,
        speaker=checked.speaker or None,
        scope=draft.scope,
        expires_at=_expires(draft, work.rules, said),
        flags=() if draft.review is None else (draft.review,),
        evidence=each.evidence if each.problem is None else Evidence.QUOTED,
        made_by=made_by,
    )
    return ClaimedFact(fact=fact, quotes=checked.quotes, change=draft.change, known=draft.known)


def _expires(draft: DraftClaim, rules: LearningRules, said: datetime) -> datetime | None:
    days = None if draft.kind is None else rules.expires_after.get(draft.kind)
    return None if days is None else said + timedelta(days=days)


def _is_owner(draft: DraftClaim, work: reading.ExtractionInput) -> bool:
    name = draft.about.casefold()
    return name in _OWNERS or (work.scene.owner is not None and name == work.scene.owner.casefold())


def _subject(draft: DraftClaim, work: reading.ExtractionInput) -> str | None:
    return "user" if _is_owner(draft, work) else draft.about.casefold() or None


def _notes(
    tx: Tx, claim: Claim, work: reading.ExtractionInput, stands: Sequence[Judged], answer: Answer
) -> Notes:  # fmt: skip
    before = learning.find_memory(tx, space=claim.space, session_id=claim.key) if work.start else None
    told = [each.statement for each in stands if each.checked.claim.review != CONFIDENTIAL]
    return noted(
        told,
        title=answer.title,
        slug="" if before is None else before.slug,
        before="" if before is None or before.made_by.quotes else before.raw_memory,
    )


def _advance(tx: Tx, claim: Claim, work: reading.ExtractionInput, *, quoted: bool) -> Advanced | None:
    """Move the watermark, unless it changed since the snapshot. Return None if the session is gone."""
    if not work.exists:
        return None
    left = learning.advance(
        tx, space=claim.space, session_id=claim.key, start=work.start, until=work.until, quoted=quoted
    )  # fmt: skip
    if left is None:
        raise LostClaim(f"another worker has already learnt from session {claim.key}.")
    return left


def _finish(tx: Tx, claim: Claim, left: Advanced | None, *, outcome: Outcome, until: int) -> None:
    """Finish the claim. An open session is checked again later. Raises `LostClaim`."""
    status, due = JobStatus.DONE, None
    if left is not None and left.invalidated_at is not None:
        status, due = JobStatus.QUEUED, tx.now
    elif left is not None and left.ended_at is None:
        status, due = JobStatus.WAITING, tx.now + QUIET_CHECK
    if not jobs.finish(tx, claim, status=status, outcome=outcome, due=due, attempts=0, watermark=until):
        raise jobs.lost(claim)


def _remember(tx: Tx, claim: Claim, work: reading.ExtractionInput, notes: Notes, made_by: Maker) -> bool:
    if not notes.remembers:
        # If only the new part has nothing worth keeping, the memory of the earlier part stays.
        return work.start == 0 and learning.drop_memory(tx, space=claim.space, session_id=claim.key)
    memory = SessionMemory(
        space=claim.space,
        session_id=claim.key,
        raw_memory=notes.raw_memory,
        summary=notes.summary,
        slug=notes.slug,
        until=work.until,
        source_updated_at=work.updated_at,
        generated_at=tx.now,
        made_by=made_by,
    )
    learning.put_memory(tx, memory, token=claim.token)
    return True
