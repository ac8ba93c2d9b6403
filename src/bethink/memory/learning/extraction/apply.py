"""Store what was learned from a session, all or nothing: facts, claims for review, and the session summary."""

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta

from bethink.base.frozen import frozen
from bethink.errors import LeaseLostError
from bethink.memory.facts.decisions import find_decision
from bethink.memory.facts.forget_requests import hide_late, hide_learned, note_requests, store_claimed_request
from bethink.memory.facts.hidden_notes import visible_notes
from bethink.memory.facts.marking import mark_corrections
from bethink.memory.facts.reconcile import Settlement, settle
from bethink.memory.learning.extraction import reading
from bethink.memory.learning.extraction.claim_order import in_order, with_stored_ids
from bethink.memory.learning.extraction.claims import FORGET_SCOPES, DraftClaim, ExtractionAnswer
from bethink.memory.learning.extraction.judge import JudgedClaim
from bethink.memory.learning.extraction.notes import Notes, notes_from_statements
from bethink.memory.learning.extraction.validation import ClaimProblem, ClaimReason, Effect
from bethink.model.facts import Evidence, Fact, Maker, SessionSummary, SourceMessage
from bethink.model.forgetting import ForgetScope
from bethink.model.ids import new_id
from bethink.model.jobs import JobKind, JobResult, JobStatus, Lease, Outcome
from bethink.model.kinds import FactKind
from bethink.model.moments import to_micros
from bethink.model.reviews import ClaimChange, ClaimedFact, ReviewStatus
from bethink.model.rules import CONFIDENTIAL, QUIET_CHECK
from bethink.model.steering import LearningRules
from bethink.store import facts, jobs, learning, reviews
from bethink.store.db import Tx
from bethink.store.learning import LearningProgress

_NOT_FROM_PERSON = frozenset({ClaimReason.ASSISTANT_ONLY, ClaimReason.NOT_FROM_USER})
DISPUTED = ClaimProblem(ClaimReason.OUTRANKED, "it contradicts a more trusted source", Effect.REVIEW)
_OWNERS = frozenset({"owner", "user", "the user"})


@frozen
class Extraction:
    """The result of an extraction: the judged claims of a model, or quoted notes without one."""

    made_by: Maker
    judged: Sequence[JudgedClaim] = ()
    answer: ExtractionAnswer = field(default_factory=ExtractionAnswer)
    notes: Notes | None = None


def apply(tx: Tx, lease: Lease, work: reading.ExtractionInput, result: Extraction) -> JobResult:
    """Store the results of a session and finish the lease, all or nothing.

    Raises `LeaseLostError` if the token or the watermark shows that another worker was faster.
    """
    facts.lock(tx, space=lease.space)
    progress = _advance(tx, lease, work, quoted=result.made_by.is_verbatim)
    report = JobResult(outcome=Outcome.SUCCEEDED)
    report.refused[ClaimReason.MALFORMED] += result.answer.malformed
    accepted = _settle_all(tx, lease, work, result, report)
    _mark_messages(tx, lease, work)
    notes = result.notes or _notes(tx, lease, work, accepted, result.answer)
    notes = visible_notes(tx, notes, space=lease.space, session_id=lease.key)
    if _remember(tx, lease, work, notes, result.made_by):
        kind, key = JobKind.CONSOLIDATE, jobs.SPACE_KEY
        jobs.queue(tx, space=lease.space, kind=kind, key=key, watermark=to_micros(work.updated_at))
    outcome = Outcome.SUCCEEDED if report.settled or notes.has_content else Outcome.SUCCEEDED_NO_OUTPUT
    _finish(tx, lease, progress, outcome=outcome, until=work.until)
    return JobResult(
        outcome=outcome, settled=report.settled, for_review=report.for_review, refused=+report.refused
    )  # fmt: skip


def _mark_messages(tx: Tx, lease: Lease, work: reading.ExtractionInput) -> None:
    """Mark what the new messages correct, hide what they ask to forget, and what an earlier request named."""
    new = [record for record in work.records if record.number > work.start]
    if not new:
        return
    messages = [SourceMessage(record.session_id, record.number) for record in work.records]
    hide_learned(tx, space=lease.space, messages=messages)  # what earlier requests hid, if it was learned again
    mark_corrections(tx, space=lease.space, session_id=lease.key, records=new)
    note_requests(tx, space=lease.space, session_id=lease.key, records=new, rules=work.rules)
    hide_late(tx, space=lease.space, session_id=lease.key, records=new)


def _settle_all(
    tx: Tx, lease: Lease, work: reading.ExtractionInput, result: Extraction, report: JobResult
) -> list[JudgedClaim]:  # fmt: skip
    """Store every claim as a fact or for review, and return the accepted ones."""
    numbers = {quote.number for judged in result.judged for quote in judged.checked.quotes}
    existing = learning.existing(tx, space=lease.space, session_id=lease.key, numbers=sorted(numbers))
    accepted: list[JudgedClaim] = []
    fact_ids: dict[int, str] = {}
    for judged in in_order(result.judged):
        draft = judged.checked.claim
        if not {quote.number for quote in judged.checked.quotes} <= existing:  # a source was purged in the meantime
            report.refused[ClaimReason.NO_QUOTE] += 1
            continue
        # Its position in the answer, so that an answer that is applied again after a crash has the same effects.
        effect = f"{lease.key}:{work.until}:{result.made_by.extractor}:{draft.position}"
        claimed = with_stored_ids(claimed_fact(judged, work, result.made_by, source=lease.key), fact_ids)
        problem = judged.problem
        if problem is None and draft.change is ClaimChange.FORGET:
            scope = draft.forget or FORGET_SCOPES[0]
            store_claimed_request(
                tx, claimed, space=lease.space, fact_ids=claimed.existing_ids, rules=work.rules,
                scope=ForgetScope(scope),
            )  # fmt: skip
            continue
        if problem is None and draft.kind is None:
            accepted.append(judged)
            continue
        if problem is None:
            settled = settle(tx, claimed, space=lease.space, effect=effect, token=lease.token, position=draft.position)
            if settled.settlement is not Settlement.DISPUTED:
                report.settled[settled.settlement] += 1
                accepted.append(judged)
                if settled.fact_id is not None:
                    fact_ids[draft.position] = settled.fact_id
                continue
            problem = DISPUTED
        if find_decision(tx, claimed, space=lease.space) is not None:
            report.settled[Settlement.DECIDED] += 1
            continue
        if problem.reason not in _NOT_FROM_PERSON or not _is_proposed(tx, claimed, space=lease.space):
            _store_for_review(tx, lease, claimed, problem, effect=effect, report=report)
    return accepted


def _is_proposed(tx: Tx, claimed: ClaimedFact, *, space: str) -> bool:
    """Return whether the messages of a claim are proposed for review themselves: one decision is enough."""
    words = [quote for quote in claimed.quotes if not quote.context]
    keys = [reviews.proposal_key(quote.session_id, quote.number) for quote in words]
    return all(reviews.find_by_effect(tx, space=space, effect=key) is not None for key in keys)


def _store_for_review(
    tx: Tx, lease: Lease, claimed: ClaimedFact, problem: ClaimProblem, *, effect: str, report: JobResult
) -> None:  # fmt: skip
    refused = problem.effect is Effect.REJECT
    (report.refused if refused else report.for_review)[problem.reason] += 1
    reviews.put(
        tx,
        claimed,
        space=lease.space,
        status=ReviewStatus.REFUSED if refused else ReviewStatus.PENDING,
        reason=problem.reason,
        detail=problem.detail,
        effect=effect,
    )


def claimed_fact(judged: JudgedClaim, work: reading.ExtractionInput, made_by: Maker, *, source: str) -> ClaimedFact:
    """Return a judged claim as the fact it would become."""
    draft, checked = judged.checked.claim, judged.checked
    words = [quote.number for quote in checked.quotes if not quote.context]
    said_at = max((work.said_at(number) for number in words), default=work.updated_at)
    happened_from, happened_to = draft.happened
    fact = Fact(
        id=new_id("fct"),
        text=judged.statement,
        source=source,
        created_at=said_at,
        kind=draft.kind or FactKind.KNOWLEDGE,
        origin=checked.origin,
        entities=() if _is_owner(draft, work) or not draft.about else (draft.about,),
        subject=_subject(draft, work),
        slot=draft.slot,
        # An event stays true: its topic may begin or end, but the fact that it happened does not change.
        valid_from=None if draft.kind is FactKind.EVENT and draft.since is None else draft.since,
        valid_to=None if draft.kind is FactKind.EVENT else draft.until,
        event_from=happened_from,
        event_to=happened_to,
        speaker=checked.speaker or None,
        scope=draft.scope,
        expires_at=_expires_at(draft, work.rules, said_at),
        flags=() if draft.review is None else (draft.review,),
        evidence=judged.evidence if judged.problem is None else Evidence.QUOTED,
        created_by=made_by,
    )
    return ClaimedFact(
        fact=fact,
        quotes=checked.quotes,
        change=draft.change,
        existing_ids=draft.fact_ids,
        later_ids=draft.later_ids,
        rests_on=draft.base_ids,
    )


def _expires_at(draft: DraftClaim, rules: LearningRules, said_at: datetime) -> datetime | None:
    days = None if draft.kind is None else rules.expires_after.get(draft.kind)
    return None if days is None else said_at + timedelta(days=days)


def _is_owner(draft: DraftClaim, work: reading.ExtractionInput) -> bool:
    name = draft.about.casefold()
    return name in _OWNERS or (work.scene.owner is not None and name == work.scene.owner.casefold())


def _subject(draft: DraftClaim, work: reading.ExtractionInput) -> str | None:
    return "user" if _is_owner(draft, work) else draft.about.casefold() or None


def _notes(
    tx: Tx, lease: Lease, work: reading.ExtractionInput, accepted: Sequence[JudgedClaim], answer: ExtractionAnswer
) -> Notes:  # fmt: skip
    before = learning.find_memory(tx, space=lease.space, session_id=lease.key) if work.start else None
    statements = [judged.statement for judged in accepted if judged.checked.claim.review != CONFIDENTIAL]
    return notes_from_statements(
        statements,
        title=answer.title,
        slug="" if before is None else before.slug,
        before="" if before is None or before.created_by.is_verbatim else before.raw_memory,
    )


def _advance(tx: Tx, lease: Lease, work: reading.ExtractionInput, *, quoted: bool) -> LearningProgress | None:
    """Move the watermark, unless it changed since the snapshot. Return None if the session was deleted."""
    if not work.exists:
        return None
    progress = learning.advance(
        tx, space=lease.space, session_id=lease.key, start=work.start, until=work.until, quoted=quoted
    )  # fmt: skip
    if progress is None:
        raise LeaseLostError(f"Another worker has already learned from session {lease.key}.")
    return progress


def _finish(tx: Tx, lease: Lease, progress: LearningProgress | None, *, outcome: Outcome, until: int) -> None:
    """Finish the lease. An open session is checked again later. Raises `LeaseLostError`."""
    status, due = JobStatus.DONE, None
    if progress is not None and progress.invalidated_at is not None:
        status, due = JobStatus.QUEUED, tx.now
    elif progress is not None and progress.ended_at is None:
        status, due = JobStatus.WAITING, tx.now + QUIET_CHECK
    if not jobs.finish(tx, lease, status=status, outcome=outcome, due=due, attempts=0, watermark=until):
        raise jobs.lease_lost(lease)


def _remember(tx: Tx, lease: Lease, work: reading.ExtractionInput, notes: Notes, made_by: Maker) -> bool:
    if not notes.has_content:
        # If only the new part has nothing to remember, the summary of the earlier part stays.
        return work.start == 0 and learning.drop_memory(tx, space=lease.space, session_id=lease.key)
    memory = SessionSummary(
        space=lease.space,
        session_id=lease.key,
        raw_memory=notes.raw_memory,
        summary=notes.summary,
        slug=notes.slug,
        until=work.until,
        source_updated_at=work.updated_at,
        generated_at=tx.now,
        created_by=made_by,
    )
    learning.put_memory(tx, memory, token=lease.token)
    return True
