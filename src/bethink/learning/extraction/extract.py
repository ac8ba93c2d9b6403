"""Learn from a claimed session: read it, ask the model, record the answer, and apply it in one transaction."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from anyio import CancelScope

from bethink.errors import BadAnswer, Invalid, LostClaim
from bethink.extend import Model, Redactor, Tokens
from bethink.facts.reconcile import reconcile
from bethink.learning.extraction import reading
from bethink.learning.extraction.answer import SCHEMA, DraftFact, Extraction, loads, parse
from bethink.learning.extraction.extractive import PROMPT as EXTRACTIVE
from bethink.learning.extraction.extractive import extractive
from bethink.learning.extraction.idle import IdleRules, look
from bethink.learning.extraction.proof import Proven, Refusal, prove
from bethink.learning.model_use import one_line, prompt_budget, redacted
from bethink.learning.prompts import prompt
from bethink.logs import logger
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.ids import new_id
from bethink.model.jobs import Claim, JobKind, JobStatus, Learnt, Outcome, Usage
from bethink.model.moments import EPOCH, to_micros
from bethink.model.records import Fact, Maker, SessionMemory, SourceMessage
from bethink.model.rules import QUIET_CHECK
from bethink.model.text import canonical_json
from bethink.store import facts, jobs, learning, sessions
from bethink.store.db import Database, Tx
from bethink.store.learning import Advanced

EXTRACTOR = "1"
"""The version of the code that turns an answer into facts. A new version may learn a session again."""

PROMPT = "extract-1"
_ANSWER_TOKENS = 8_192
_MOST_TOKENS = 10**9
_log = logger("learn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The price of a model, in dollars per million tokens."""

    input: float = 1.0
    output: float = 5.0

    def usage(self, call: ModelCall, answer: ModelAnswer) -> Usage:
        """Return the usage of one answer, estimated at four characters per token if the model reports none."""
        asked, said = (min(max(0, count), _MOST_TOKENS) for count in (answer.input_tokens, answer.output_tokens))
        if not asked + said:
            asked, said = (len(call.system) + len(call.prompt)) // 4, len(answer.text) // 4
        return Usage(1, asked, said, round(asked * self.input + said * self.output))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """Turns claimed sessions into session memories and facts. Without a model it only quotes, and learns no facts."""

    database: Database
    model: Model | None
    redactor: Redactor
    tokens: Tokens
    prices: Prices = field(default_factory=Prices)
    quiet: IdleRules = field(default_factory=IdleRules)
    post: "Callable[[Tx, Claim, reading.ExtractionInput], None] | None" = None
    """Called in the transaction that stores the result, to pass on the transcript."""
    slot: int = 0

    async def process(self, claim: Claim) -> Learnt:
        """Learn what is new in the claimed session.

        Raises `ModelError`, and `LostClaim` if another worker has taken over.
        """
        budget = None if self.model is None else prompt_budget(self.model, self.tokens, PROMPT)
        if self.model is not None:  # what was only quoted so far is learnt from with the rest
            await self.database.transact(
                lambda tx: learning.start_over(tx, space=claim.space, session_id=claim.key), space=claim.space
            )
        work = await self.database.transact(
            lambda tx: reading.begin(tx, claim, budget=budget, tokens=self.tokens, version=f"{EXTRACTOR}/{PROMPT}"),
            space=claim.space,
            read=True,
        )
        if not work.prompt:
            extraction, made_by = (
                Extraction(raw_memory="", summary="", slug=""),
                Maker(model="", prompt="", extractor=""),
            )
            return await self._apply(claim, work, extraction, made_by)
        if self.model is None:
            made_by = Maker(model="none", prompt=EXTRACTIVE, extractor=EXTRACTOR)
            return await self._apply(claim, work, self._redacted(extractive(work.whole)), made_by)
        if work.recorded is not None:
            recorded, name = work.recorded.content, work.recorded.model
        else:
            recorded, name = await self._ask(self.model, claim, work)
        made_by = Maker(model=name, prompt=PROMPT, extractor=EXTRACTOR)
        return await self._apply(claim, work, parse(recorded), made_by)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Mark the session if it is idle and has something to learn; return whether it did."""
        return look(tx, self.quiet, space=space, session_id=key)

    async def fail(
        self, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """Finish a claim that failed. If new messages came in meanwhile, the job is retried at once."""

        def body(tx: Tx) -> None:
            sessions.find(tx, space=claim.space, session_id=claim.key, lock=True)
            job = jobs.find(tx, space=claim.space, kind=claim.kind, key=claim.key)
            said = learning.last_said(tx, space=claim.space, session_id=claim.key)
            newer = job is not None and (said or EPOCH) > (job.started_at or EPOCH)
            reason = one_line(self.redactor, error)
            ended = jobs.fail(tx, claim, newer=newer, status=status, delay=delay, attempts=attempts, error=reason)
            if ended and not newer:
                learning.rest(tx, space=claim.space, session_id=claim.key)

        await self.database.transact(body, space=claim.space, repeatable=True)

    async def _ask(self, model: Model, claim: Claim, work: reading.ExtractionInput) -> tuple[str, str]:
        """Ask the model, twice if the first answer is unusable, and record the answer. Usage is always charged."""
        call = ModelCall(
            system=prompt(PROMPT).replace("{start}", str(work.start)),
            prompt=redacted(self.redactor, work.prompt),
            schema=SCHEMA,
            schema_name="session_memory",
            max_tokens=min(_ANSWER_TOKENS, model.window // 4),
        )
        taken = Usage()
        try:
            answer = await model.answer(call)
            taken += self.prices.usage(call, answer)
            try:
                content = self._content(answer)
            except BadAnswer as problem:
                again = _again(call, problem)
                answer = await model.answer(again)
                taken += self.prices.usage(again, answer)
                content = self._content(answer)
        except BaseException:
            if taken.calls:
                with CancelScope(shield=True):
                    await self.database.transact(
                        lambda tx: jobs.charge(tx, claim, taken, slot=self.slot), space=claim.space
                    )
            raise
        name = one_line(self.redactor, answer.model) or "unnamed"
        await self.database.transact(
            lambda tx: self._record(tx, claim, work, content=content, model=name, taken=taken), space=claim.space
        )
        return content, name

    def _record(
        self, tx: Tx, claim: Claim, work: reading.ExtractionInput, *, content: str, model: str, taken: Usage
    ) -> None:
        if not jobs.charge(tx, claim, taken, slot=self.slot):
            return  # the usage counts for the day; applying the answer will fail, because the claim is lost
        writer = learning.writer_for(tx, space=claim.space, agent_id=work.agent_id)
        learning.record_answer(
            tx, claim, run=work.run, content=content, agent_id=writer.id, model=model, prompt=PROMPT
        )  # fmt: skip

    def _content(self, answer: ModelAnswer) -> str:
        """Return a usable answer as it is stored: redacted, as canonical JSON. Raises `BadAnswer`."""
        if answer.stop is Stop.REFUSED:
            raise BadAnswer("the model refused to answer.")
        if answer.stop is Stop.LENGTH:
            raise BadAnswer("the answer was cut off; it must be shorter.")
        try:
            content = canonical_json(loads(answer.text), partial(redacted, self.redactor))
        except Invalid:
            raise BadAnswer("the answer is nested too deeply.") from None
        parse(content)
        return content

    async def _apply(
        self, claim: Claim, work: reading.ExtractionInput, extraction: Extraction, made_by: Maker
    ) -> Learnt:
        def body(tx: Tx) -> Learnt:
            # Before the first query: this takes a while, and at this point blocks neither a lock nor the event loop.
            proven, refused = prove(extraction.drafts, work.numbered, start=work.start, shown=work.shown)
            refused[Refusal.MALFORMED] += extraction.malformed
            learnt = apply(tx, claim, work, extraction, made_by=made_by, proven=proven, refused=refused)
            if self.post is not None and work.prompt:
                self.post(tx, claim, work)
            return learnt

        learnt = await self.database.transact(body, space=claim.space)
        _log.info(
            "learnt from %s up to %s: %s, facts %s, refused %s",
            claim.key, work.until, learnt.outcome, dict(learnt.settled), dict(+learnt.refused),
        )  # fmt: skip
        return learnt

    def _redacted(self, extraction: Extraction) -> Extraction:
        return Extraction(
            raw_memory=redacted(self.redactor, extraction.raw_memory),
            summary=redacted(self.redactor, extraction.summary),
            slug=extraction.slug,
        )


def apply(
    tx: Tx, claim: Claim, work: reading.ExtractionInput, extraction: Extraction, *,
    made_by: Maker, proven: list[Proven], refused: Counter[str],
) -> Learnt:  # fmt: skip
    """Store the results of a session and finish the claim, all or nothing.

    Raises `LostClaim` if the token or the watermark shows that another worker was faster.
    """
    facts.lock(tx, space=claim.space)
    left = _advance(tx, claim, work, quoted=made_by.quotes)
    settled: Counter[str] = Counter()
    cited = {number for each in proven for number in each.draft.sources}
    existing = learning.existing(tx, space=claim.space, session_id=claim.key, numbers=sorted(cited))
    # In the order they were said, not in that of the model: facts of one call share one time.
    for index, each in enumerate(sorted(proven, key=lambda each: each.draft.sources[-1])):
        if not set(each.draft.sources) <= existing:  # a source was purged meanwhile
            refused[Refusal.NO_SOURCE] += 1
            continue
        sources = [SourceMessage(claim.key, number) for number in each.draft.sources]
        fact = _fact(each, work, claim, made_by)
        effect = f"{claim.key}:{work.until}:{EXTRACTOR}:{index}"
        settled[reconcile(tx, fact, space=claim.space, effect=effect, token=claim.token, sources=sources)] += 1
    if _remember(tx, claim, work, extraction, made_by):
        kind, key = JobKind.CONSOLIDATE, jobs.SPACE_KEY
        jobs.queue(tx, space=claim.space, kind=kind, key=key, watermark=to_micros(work.updated_at))
    outcome = Outcome.SUCCEEDED if settled or extraction.remembers else Outcome.SUCCEEDED_NO_OUTPUT
    _finish(tx, claim, left, outcome=outcome, until=work.until)
    return Learnt(outcome=outcome, settled=settled, refused=refused)


def _advance(tx: Tx, claim: Claim, work: reading.ExtractionInput, *, quoted: bool) -> Advanced | None:
    """Move the watermark, unless it changed since the snapshot. Return None if the session is gone."""
    if not work.exists:
        return None
    left = learning.advance(
        tx, space=claim.space, session_id=claim.key, start=work.start, until=work.until, quoted=quoted
    )
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


def _remember(tx: Tx, claim: Claim, work: reading.ExtractionInput, extraction: Extraction, made_by: Maker) -> bool:
    if not extraction.remembers:
        # If only the new part has nothing worth keeping, the memory of the earlier part stays.
        return work.start == 0 and learning.drop_memory(tx, space=claim.space, session_id=claim.key)
    memory = SessionMemory(
        space=claim.space,
        session_id=claim.key,
        raw_memory=extraction.raw_memory,
        summary=extraction.summary,
        slug=extraction.slug,
        until=work.until,
        source_updated_at=work.updated_at,
        generated_at=tx.now,
        made_by=made_by,
    )
    learning.put_memory(tx, memory, token=claim.token)
    return True


def _fact(each: Proven, work: reading.ExtractionInput, claim: Claim, made_by: Maker) -> Fact:
    draft: DraftFact = each.draft
    said = max(work.said_at(number) for number in draft.sources)
    return Fact(
        id=new_id("fct"),
        content=draft.statement,
        source=claim.key,
        created_at=said,
        kind=draft.kind,
        origin=each.origin,
        entities=draft.entities,
        subject=draft.subject,
        slot=draft.slot,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        made_by=made_by,
    )


def _again(call: ModelCall, problem: BadAnswer) -> ModelCall:
    # The broken answer is not included: a model that sees it tends to repeat it.
    complaint = f"Your last answer could not be used: {problem} Answer again, with the JSON object only."
    return replace(call, prompt=f"{call.prompt}\n\n{complaint}")
