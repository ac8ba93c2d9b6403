"""Asks the gate of Bethink about one labelled claim."""

import importlib
from dataclasses import asdict
from typing import Any

from benchmarks.evidence_cases import Case, Said
from bethink.model.records import Message, Record, Role


def check(case: Case) -> tuple[bool, str]:
    """Tell whether the gate lets a claim through, and why not."""
    gate: Any = importlib.import_module("bethink.learning.extraction.gate")
    answer: Any = importlib.import_module("bethink.learning.extraction.answer")
    claim = asdict(case.claim)
    quotes = tuple(answer.DraftQuote(message=q.message, text=q.text, use=q.use) for q in case.claim.quotes)
    draft = answer.DraftClaim(**claim | {"quotes": quotes})
    records = [_record(said) for said in case.session]
    refused = gate.Gate(records, owner=case.owner, known=(), start=0).check(draft)
    return refused is None, "" if refused is None else str(refused.reason)


def _record(said: Said) -> Record:
    name = said.tool if said.role == Role.TOOL else said.speaker
    message = Message(role=said.role, content=said.text, name=name, said_at=said.said_at)
    return Record(session_id="s", number=said.number, recorded_at=said.said_at, message=message)
