"""Asks the gate of Bethink about one labelled claim."""

from benchmarks.evidence_cases import Answer, Case, Said
from bethink.memory.learning.extraction.claims import draft
from bethink.memory.learning.extraction.validation import ClaimValidator, Effect
from bethink.model.records import Message, Record, Role


def check(case: Case) -> Answer:
    """Tell whether the gate lets a claim through, and why not."""
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
    read = draft(fields)
    if read is None:
        return Answer(passed=False, reason="malformed")
    problem = (
        ClaimValidator({said.number: _record(said) for said in case.session}, owner=case.owner).check(read).problem
    )
    if problem is None:
        return Answer(passed=True)
    return Answer(passed=False, doubted=problem.effect is Effect.DOUBT, reason=problem.reason)


def _record(said: Said) -> Record:
    name = said.tool if said.role == Role.TOOL else said.speaker
    message = Message(role=said.role, content=said.text, name=name, said_at=said.said_at)
    return Record(session_id="s", number=said.number, recorded_at=said.said_at, message=message)
