"""Learn from a leased session: ask a model, verify its claims, and apply them in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import UTC, timedelta, tzinfo
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.extend import Model, Redactor, Tokens
from bethink.memory.learning.extraction import claims, reading, second
from bethink.memory.learning.extraction.accounts import Account, JobAccount
from bethink.memory.learning.extraction.apply import Extraction, apply
from bethink.memory.learning.extraction.asking import Asker
from bethink.memory.learning.extraction.compounds import split_compounds
from bethink.memory.learning.extraction.idle import IdleRules, look
from bethink.memory.learning.extraction.judge import find_unsettled, judge, readable
from bethink.memory.learning.extraction.notes import QUOTING, Notes, notes_from_quotes
from bethink.memory.learning.extraction.validation import CheckedClaim, ClaimValidator
from bethink.memory.learning.model_use import one_line, prompt_budget, redact_text
from bethink.memory.learning.prompts import SystemPrompt, builtin_prompt
from bethink.model.facts import Maker
from bethink.model.jobs import JobResult, JobStatus, Lease
from bethink.model.moments import EPOCH
from bethink.model.prices import Prices
from bethink.store import jobs, learning, sessions
from bethink.store.db import Database, Tx

EXTRACTOR = "4"
"""The version of the code that turns an answer into facts. A new version may learn from a session again."""

PROMPT = "extract-4"
REVIEW_FLAGS = ("credential", "doubtful")
"""Claim flags that require review."""
_log = logger("learn")

__all__ = ["EXTRACTOR", "PROMPT", "Extractor"]


class _ModelAnswer(NamedTuple):
    content: str
    model: str


@frozen
class Extractor:
    """Turns leased sessions into session summaries and facts. Without a model it only quotes."""

    database: Database
    model: Model | None
    redactor: Redactor
    tokens: Tokens
    reader: Model | None = None
    """The model of the second pass; None to skip it."""
    prices: Prices = field(default_factory=Prices)
    quiet: IdleRules = field(default_factory=IdleRules)
    zone: tzinfo = UTC
    review_flags: Sequence[str] = REVIEW_FLAGS
    post: "Callable[[Tx, Lease, reading.ExtractionInput], None] | None" = None
    """Called in the transaction that stores the result, to post the transcript."""
    prompt: SystemPrompt = field(default_factory=lambda: builtin_prompt(PROMPT))

    async def process(self, lease: Lease) -> JobResult:
        """Learn from the new messages of the leased session.

        Raises `ModelError`, and `LeaseLostError` if another worker has taken over.
        """
        work = await self._begin(lease)
        if not work.prompt:
            return await self._apply(lease, work, Extraction(made_by=Maker(model="", prompt="", extractor="")))
        if self.model is None:
            made_by = Maker(model="none", prompt=QUOTING, extractor=EXTRACTOR)
            return await self._apply(lease, work, Extraction(made_by=made_by, notes=self._quote_session(work)))
        account = JobAccount(database=self.database, lease=lease, run=work.run, agent_id=work.agent_id)
        return await self._apply(lease, work, await self.extract(self.model, work, account))

    async def extract(self, model: Model, work: reading.ExtractionInput, account: Account) -> Extraction:
        """Extract claims from a session, verify them in a second pass, and judge them. Raises `ModelError`."""
        own = sorted(work.rules.kinds)
        asker = Asker(
            redactor=self.redactor, prices=self.prices, account=account, prompt=self.prompt, own_kinds=own
        )  # fmt: skip
        first = await self._first(model, asker, work)
        answer = split_compounds(claims.parse(first.content, own), {fact.id: fact.text for fact in work.known_facts})
        gate = _validator_for(work, answer)
        checked = [gate.check(draft) for draft in answer.claims]
        verdicts = await self._verdicts(asker, work, checked, gate)
        flags = self.review_flags if work.rules.review_flags is None else work.rules.review_flags
        judged = judge(checked, verdicts, gate, review_flags=flags, review_kinds=work.rules.review_kinds)
        made_by = Maker(model=first.model, prompt=self.prompt.name, extractor=EXTRACTOR)
        return Extraction(made_by=made_by, judged=judged, answer=answer)

    def budget(self, model: Model) -> int:
        """Return the token budget of a request."""
        return prompt_budget(model, self.tokens, self.prompt.text)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Queue the session if it is idle and has new messages. Return whether it was queued."""
        return look(tx, self.quiet, space=space, session_id=key)

    async def fail(
        self, lease: Lease, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """Finish a failed lease. If new messages have arrived since, the job is retried at once."""

        def body(tx: Tx) -> None:
            sessions.find(tx, space=lease.space, session_id=lease.key, lock=True)
            job = jobs.find(tx, space=lease.space, kind=lease.kind, key=lease.key)
            last_said = learning.last_said(tx, space=lease.space, session_id=lease.key)
            newer = job is not None and (last_said or EPOCH) > (job.started_at or EPOCH)
            reason = one_line(self.redactor, error)
            ended = jobs.fail(tx, lease, newer=newer, status=status, delay=delay, attempts=attempts, error=reason)
            if ended and not newer:
                learning.note_failure(tx, space=lease.space, session_id=lease.key)

        await self.database.transact(body, space=lease.space, repeatable=True)

    async def _begin(self, lease: Lease) -> reading.ExtractionInput:
        budget = None if self.model is None else self.budget(self.model)
        if self.model is not None:  # also learn from messages that were only quoted so far
            await self.database.transact(
                lambda tx: learning.start_over(tx, space=lease.space, session_id=lease.key), space=lease.space
            )
        return await self.database.transact(
            lambda tx: reading.begin(
                tx, lease, budget=budget, tokens=self.tokens, version=f"{EXTRACTOR}/{self.prompt.name}", zone=self.zone
            ),
            space=lease.space,
            read_only=True,
        )

    async def _first(self, model: Model, asker: Asker, work: reading.ExtractionInput) -> _ModelAnswer:
        """Return the recorded extraction, or request it now."""
        if work.recorded:
            return _ModelAnswer(work.recorded[0], work.model)
        content, name = await asker.ask_claims(
            model, work.prompt, lambda answer: _validator_for(work, answer), work.known_facts
        )
        return _ModelAnswer(content, name)

    async def _verdicts(
        self, asker: Asker, work: reading.ExtractionInput, checked: Sequence[CheckedClaim], validator: ClaimValidator
    ) -> list[second.Verdict] | None:
        """Return the recorded verdict on each claim, or request it now. Return None without a reader."""
        if self.reader is None:
            return None
        claims_to_read = readable(checked)
        if not claims_to_read:
            return []
        count = max(claim.claim.position for claim in claims_to_read) + 1
        verdicts = second.parse(await self._ask_reader(self.reader, asker, work, claims_to_read, count), count)
        doubted = find_unsettled(claims_to_read, verdicts, validator)
        if not doubted:
            return verdicts
        again = second.parse(await self._ask_reader(self.reader, asker, work, doubted, count, closer=True), count)
        return second.merge_verdicts(verdicts, {claim.claim.position: again[claim.claim.position] for claim in doubted})

    async def _ask_reader(
        self,
        reader: Model,
        asker: Asker,
        work: reading.ExtractionInput,
        checked: Sequence[CheckedClaim],
        count: int,
        *,
        closer: bool = False,
    ) -> str:
        """Return the recorded answer of a reader on some claims, or request it now."""
        position = 2 if closer else 1
        if len(work.recorded) > position:
            return work.recorded[position]
        prompt = second.request(checked, work.by_number, work.scene, work.known_facts)
        return await asker.ask_verdicts(reader, prompt, count, closer=closer)

    async def _apply(self, lease: Lease, work: reading.ExtractionInput, result: Extraction) -> JobResult:
        def body(tx: Tx) -> JobResult:
            report = apply(tx, lease, work, result)
            if self.post is not None and work.prompt:
                self.post(tx, lease, work)
            return report

        report = await self.database.transact(body, space=lease.space)
        _log.info(
            "learned from %s up to %s: %s, facts %s, for review %s, rejected %s",
            lease.key, work.until, report.outcome, dict(report.settled), dict(report.for_review), dict(report.refused),
        )  # fmt: skip
        return report

    def _quote_session(self, work: reading.ExtractionInput) -> Notes:
        notes = notes_from_quotes(work.records)
        return Notes(
            raw_memory=redact_text(self.redactor, notes.raw_memory),
            summary=redact_text(self.redactor, notes.summary),
            slug=notes.slug,
        )


def _validator_for(work: reading.ExtractionInput, answer: claims.ExtractionAnswer) -> ClaimValidator:
    cited_ids = {fact_id for claim in answer.claims for fact_id in (*claim.fact_ids, *claim.base_ids)}
    return ClaimValidator(
        work.by_number,
        owner=work.scene.owner,
        known_texts=[fact.text for fact in work.known_facts if fact.id in cited_ids],
        start=work.start,
        shown_texts=work.shown_texts,
        suspicious=answer.suspicious,
    )
