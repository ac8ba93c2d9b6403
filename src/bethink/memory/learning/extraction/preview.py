"""Learn from messages without storing anything: the same questions to the same models, and the same judgement."""

import json
from dataclasses import dataclass, field, replace

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.extend import Redactor
from bethink.memory.facts.reconcile import Settlement, foreseen
from bethink.memory.learning.extraction import reading
from bethink.memory.learning.extraction.accounts import DayAccount
from bethink.memory.learning.extraction.apply import DISPUTED, Extracted, claimed_fact
from bethink.memory.learning.extraction.extract import Extractor
from bethink.memory.learning.extraction.gate import ClaimProblem, Force
from bethink.memory.learning.model_use import check_cap
from bethink.memory.learning.steering import cleaned
from bethink.model.framing import text_cleaner
from bethink.model.operations.steering import PreviewRequest
from bethink.model.preview import Preview, PreviewedClaim
from bethink.model.records import Message, Role
from bethink.model.text import canonical_json
from bethink.store.db import Tx


@dataclass(slots=True)
class _Found:
    stands: list[PreviewedClaim] = field(default_factory=list[PreviewedClaim])
    held: list[PreviewedClaim] = field(default_factory=list[PreviewedClaim])
    refused: list[PreviewedClaim] = field(default_factory=list[PreviewedClaim])
    notes: list[str] = field(default_factory=list[str])
    suspicious: set[int] = field(default_factory=set[int])
    malformed: int = 0
    model: str = ""


@frozen
class Previewer:
    """Carries out the verb `preview`."""

    extractor: Extractor
    daily_cap: int | None

    async def preview(self, space: str, request: PreviewRequest) -> Preview:
        """Ask about the messages, in as many parts as it takes, and say what would become of each claim."""
        extractor, model = self.extractor, self.extractor.model
        if model is None:
            raise Invalid("no model is configured.", hint="Set model, such as 'openai:NAME'.")
        rules = None if request.rules is None else cleaned(request.rules, extractor.redactor)
        messages = [_cut(message, extractor.redactor) for message in request.messages]
        given = reading.Unstored(space, request.conversation, messages, rules, request.agent)
        account, found, start = DayAccount(database=extractor.database), _Found(), 0
        budget, tokens, zone = extractor.budget(model), extractor.tokens, extractor.zone
        while start < len(messages):
            await check_cap(extractor.database, self.daily_cap)
            work = await extractor.database.transact(
                lambda tx, start=start: reading.unstored(
                    tx, given, start=start, budget=budget, tokens=tokens, zone=zone
                ),
                space=space,
                read=True,
            )
            start = work.until
            if work.prompt:
                extracted = await extractor.extract(model, work, account)
                await extractor.database.transact(
                    lambda tx, work=work, extracted=extracted: _sort(tx, work, extracted, found, space=space),
                    space=space,
                    read=True,
                )
        return Preview(
            stands=tuple(found.stands),
            held=tuple(found.held),
            refused=tuple(found.refused),
            notes=tuple(found.notes),
            malformed=found.malformed,
            suspicious=tuple(sorted(found.suspicious)),
            model=found.model,
            usage=account.usage,
        )


def _sort(tx: Tx, work: reading.ExtractionInput, extracted: Extracted, found: _Found, *, space: str) -> None:
    found.model = extracted.made_by.model
    found.malformed += extracted.answer.malformed
    found.suspicious |= extracted.answer.suspicious & work.numbered.keys()
    for each in extracted.judged:
        problem, settlement = each.problem, None
        if problem is None and each.checked.claim.kind is None:
            found.notes.append(each.statement)
            continue
        claim = claimed_fact(each, work, extracted.made_by, source="")
        if problem is None:
            settlement = foreseen(tx, claim, space=space)
            problem = DISPUTED if settlement is Settlement.DISPUTED else None
        if problem is None:
            found.stands.append(PreviewedClaim(claim=claim, settlement=settlement))
        else:
            _aside(found, problem).append(
                PreviewedClaim(claim=claim, reason=problem.reason, detail=problem.detail)
            )  # fmt: skip


def _aside(found: _Found, problem: ClaimProblem) -> list[PreviewedClaim]:
    return found.refused if problem.force is Force.REFUSES else found.held


def _cut(message: Message, redactor: Redactor) -> Message:
    """Return a message as the log would hold it."""
    cut = text_cleaner(redactor.redact)
    return replace(
        message,
        role=Role(message.role),
        content=cut(message.content),
        name=None if message.name is None else cut(message.name),
        tool_calls=json.loads(canonical_json(message.tool_calls, cut)),
        metadata=json.loads(canonical_json(message.metadata, cut)),
    )
