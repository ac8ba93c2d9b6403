"""Learn from messages without storing anything: the same prompts, models and checks."""

import json
from dataclasses import dataclass, field, replace

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.extend import Redactor
from bethink.memory.facts.reconcile import Settlement, predict_settlement
from bethink.memory.learning.extraction import reading
from bethink.memory.learning.extraction.accounts import DayAccount
from bethink.memory.learning.extraction.apply import DISPUTED, Extraction, claimed_fact
from bethink.memory.learning.extraction.claim_order import with_stored_ids
from bethink.memory.learning.extraction.extract import Extractor
from bethink.memory.learning.extraction.validation import ClaimProblem, Effect
from bethink.memory.learning.model_use import check_cap
from bethink.memory.learning.steering import redact_rules
from bethink.model.framing import text_cleaner
from bethink.model.operations.steering import PreviewRulesRequest
from bethink.model.preview import Preview, PreviewedClaim
from bethink.model.records import Message, Role
from bethink.model.reviews import ClaimChange
from bethink.model.text import canonical_json
from bethink.store.db import Tx


@dataclass(slots=True)
class _PreviewResult:
    accepted: list[PreviewedClaim] = field(default_factory=list[PreviewedClaim])
    for_review: list[PreviewedClaim] = field(default_factory=list[PreviewedClaim])
    rejected: list[PreviewedClaim] = field(default_factory=list[PreviewedClaim])
    notes: list[str] = field(default_factory=list[str])
    suspicious: set[int] = field(default_factory=set[int])
    malformed: int = 0
    model: str = ""


@frozen
class Previewer:
    """Handles the `preview` operation."""

    extractor: Extractor
    daily_cap: int | None

    async def preview(self, space: str, request: PreviewRulesRequest) -> Preview:
        """Return the outcome that each claim of the messages would have. Long input is sent in parts."""
        extractor, model = self.extractor, self.extractor.model
        if model is None:
            raise InvalidRequestError("No model is configured.", hint="Set `model`, for example 'openai:gpt-5-mini'.")
        rules = None if request.rules is None else redact_rules(request.rules, extractor.redactor)
        messages = [_redact_message(message, extractor.redactor) for message in request.messages]
        unstored = reading.UnstoredMessages(space, request.conversation, messages, rules, request.agent)
        account, result, start = DayAccount(database=extractor.database), _PreviewResult(), 0
        budget, tokens, zone = extractor.budget(model), extractor.tokens, extractor.zone
        while start < len(messages):
            await check_cap(extractor.database, self.daily_cap)
            work = await extractor.database.transact(
                lambda tx, start=start: reading.begin_unstored(
                    tx, unstored, start=start, budget=budget, tokens=tokens, zone=zone
                ),
                space=space,
                read_only=True,
            )
            start = work.until
            if work.prompt:
                extracted = await extractor.extract(model, work, account)
                await extractor.database.transact(
                    lambda tx, work=work, extracted=extracted: _sort(tx, work, extracted, result, space=space),
                    space=space,
                    read_only=True,
                )
        return Preview(
            accepted=tuple(result.accepted),
            pending=tuple(result.for_review),
            rejected=tuple(result.rejected),
            notes=tuple(result.notes),
            malformed=result.malformed,
            suspicious=tuple(sorted(result.suspicious)),
            model=result.model,
            usage=account.usage,
        )


def _sort(tx: Tx, work: reading.ExtractionInput, extracted: Extraction, result: _PreviewResult, *, space: str) -> None:
    result.model = extracted.made_by.model
    result.malformed += extracted.answer.malformed
    result.suspicious |= extracted.answer.suspicious & work.by_number.keys()
    for judged in extracted.judged:
        problem, settlement = judged.problem, None
        if problem is None and judged.checked.claim.kind is None:
            result.notes.append(judged.statement)
            continue
        claim = with_stored_ids(claimed_fact(judged, work, extracted.made_by, source=""), {})
        if problem is None and claim.change is not ClaimChange.FORGET:
            settlement = predict_settlement(tx, claim, space=space)
            problem = DISPUTED if settlement is Settlement.DISPUTED else None
        if problem is None:
            result.accepted.append(PreviewedClaim(claim=claim, settlement=settlement))
        else:
            _list_for(result, problem).append(
                PreviewedClaim(claim=claim, reason=problem.reason, detail=problem.detail)
            )  # fmt: skip


def _list_for(result: _PreviewResult, problem: ClaimProblem) -> list[PreviewedClaim]:
    return result.rejected if problem.effect is Effect.REJECT else result.for_review


def _redact_message(message: Message, redactor: Redactor) -> Message:
    """Return a message as it would be stored."""
    cut = text_cleaner(redactor.redact)
    return replace(
        message,
        role=Role(message.role),
        content=cut(message.content),
        name=None if message.name is None else cut(message.name),
        tool_calls=json.loads(canonical_json(message.tool_calls, cut)),
        metadata=json.loads(canonical_json(message.metadata, cut)),
    )
