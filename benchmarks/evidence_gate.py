"""Asks the gate of Bethink about one labelled claim."""

from benchmarks.evidence_cases import Answer, Case, Said
from bethink.memory.learning.extraction.claims import DraftClaim, draft
from bethink.memory.learning.extraction.validation import ClaimValidator, Effect
from bethink.model.records import Message, Record, Role


def check(case: Case) -> Answer:
    """Tell whether the gate lets a claim through, and why not."""
    draft = draft_of(case)
    if draft is None:
        return Answer(passed=False, reason="malformed")
    problem = ClaimValidator(records_of(case), owner=case.owner).check(draft).problem
    if problem is None:
        return Answer(passed=True)
    return Answer(passed=False, doubted=problem.effect is Effect.DOUBT, reason=problem.reason)


def records_of(case: Case) -> dict[int, Record]:
    """Return the messages of the session, by number."""
    return {said.number: _record(said) for said in case.session}


def draft_of(case: Case) -> DraftClaim | None:
    """Return the claim as learning reads it from an answer; None if it is malformed."""
    claim = case.claim
    fields: dict[str, object] = {
        "statement": claim.statement,
        "kind": claim.kind,
        "about": claim.about,
        "stance": claim.stance,
        "scope": claim.scope,
        "happened": claim.happened,
        "since": claim.since,
        "until": claim.until,
        "quotes": [{"message": quote.message, "text": quote.text, "as": quote.use} for quote in claim.quotes],
    }
    return draft(fields)


def _record(said: Said) -> Record:
    name = said.tool if said.role == Role.TOOL else said.speaker
    message = Message(role=said.role, content=said.text, name=name, said_at=said.said_at)
    return Record(session_id="s", number=said.number, recorded_at=said.said_at, message=message)
