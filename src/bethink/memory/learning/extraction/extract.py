"""Learn from a claimed session: ask a model, let its claims be read again, and apply them in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import UTC, timedelta, tzinfo
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.extend import Model, Redactor, Tokens
from bethink.memory.learning.extraction import claims, reading, second
from bethink.memory.learning.extraction.accounts import Account, JobAccount
from bethink.memory.learning.extraction.apply import Extracted, apply
from bethink.memory.learning.extraction.asking import Asker
from bethink.memory.learning.extraction.gate import Gate
from bethink.memory.learning.extraction.idle import IdleRules, look
from bethink.memory.learning.extraction.judge import judge, readable
from bethink.memory.learning.extraction.notes import QUOTING, Notes, quoted
from bethink.memory.learning.model_use import one_line, prompt_budget, redacted
from bethink.memory.learning.prompts import SystemPrompt, shipped
from bethink.model.facts import Maker
from bethink.model.jobs import Claim, JobStatus, Learnt
from bethink.model.moments import EPOCH
from bethink.model.prices import Prices
from bethink.store import jobs, learning, sessions
from bethink.store.db import Database, Tx

EXTRACTOR = "2"
"""The version of the code that turns an answer into facts. A new version may learn a session again."""

PROMPT = "extract-2"
HELD_FLAGS = ("health", "money", "credential", "child", "doubtful")
"""The flags that hold a claim until a person has looked at it."""
_log = logger("learn")

__all__ = ["EXTRACTOR", "PROMPT", "Extractor"]


class _Answered(NamedTuple):
    content: str
    model: str


@frozen
class Extractor:
    """Turns claimed sessions into session memories and facts. Without a model it only quotes, and learns no facts."""

    database: Database
    model: Model | None
    redactor: Redactor
    tokens: Tokens
    reader: Model | None = None
    """The model of the second reading; None for none."""
    prices: Prices = field(default_factory=Prices)
    quiet: IdleRules = field(default_factory=IdleRules)
    zone: tzinfo = UTC
    held_flags: Sequence[str] = HELD_FLAGS
    post: "Callable[[Tx, Claim, reading.ExtractionInput], None] | None" = None
    """Called in the transaction that stores the result, to pass on the transcript."""
    prompt: SystemPrompt = field(default_factory=lambda: shipped(PROMPT))

    async def process(self, claim: Claim) -> Learnt:
        """Learn what is new in the claimed session.

        Raises `ModelError`, and `LostClaim` if another worker has taken over.
        """
        work = await self._begin(claim)
        if not work.prompt:
            return await self._apply(claim, work, Extracted(made_by=Maker(model="", prompt="", extractor="")))
        if self.model is None:
            made_by = Maker(model="none", prompt=QUOTING, extractor=EXTRACTOR)
            return await self._apply(claim, work, Extracted(made_by=made_by, notes=self._quoted(work)))
        account = JobAccount(database=self.database, claim=claim, run=work.run, agent_id=work.agent_id)
        return await self._apply(claim, work, await self.extract(self.model, work, account))

    async def extract(self, model: Model, work: reading.ExtractionInput, account: Account) -> Extracted:
        """Ask for the claims of a session and for their second reading, and judge them. Raises `ModelError`."""
        own = sorted(work.rules.kinds)
        asker = Asker(
            redactor=self.redactor, prices=self.prices, account=account, prompt=self.prompt, own_kinds=own
        )  # fmt: skip
        first = await self._first(model, asker, work)
        answer = claims.parse(first.content, own)
        gate = _gate(work, answer)
        checked = [gate.check(each) for each in answer.claims]
        verdicts = await self._verdicts(asker, work, readable(checked))
        flags = self.held_flags if work.rules.held_flags is None else work.rules.held_flags
        judged = judge(checked, verdicts, gate, held_flags=flags, hold_kinds=work.rules.hold_kinds)
        made_by = Maker(model=first.model, prompt=self.prompt.name, extractor=EXTRACTOR)
        return Extracted(made_by=made_by, judged=judged, answer=answer)

    def budget(self, model: Model) -> int:
        """Return how many tokens a request may take."""
        return prompt_budget(model, self.tokens, self.prompt.text)

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

    async def _begin(self, claim: Claim) -> reading.ExtractionInput:
        budget = None if self.model is None else self.budget(self.model)
        if self.model is not None:  # what was only quoted so far is learnt from with the rest
            await self.database.transact(
                lambda tx: learning.start_over(tx, space=claim.space, session_id=claim.key), space=claim.space
            )
        return await self.database.transact(
            lambda tx: reading.begin(
                tx, claim, budget=budget, tokens=self.tokens, version=f"{EXTRACTOR}/{self.prompt.name}", zone=self.zone
            ),
            space=claim.space,
            read=True,
        )

    async def _first(self, model: Model, asker: Asker, work: reading.ExtractionInput) -> _Answered:
        """Return the extraction: recorded before, or asked for now."""
        if work.recorded:
            return _Answered(work.recorded[0], work.model)
        content, name = await asker.ask_claims(model, work.prompt, lambda answer: _gate(work, answer), work.known)
        return _Answered(content, name)

    async def _verdicts(
        self, asker: Asker, work: reading.ExtractionInput, read: Sequence[second.Checked]
    ) -> list[second.Verdict] | None:
        """Return what the second reading says about each claim, recorded before or asked for now; None for none."""
        if self.reader is None:
            return None
        if not read:
            return []
        count = read[-1].claim.place + 1
        if len(work.recorded) > 1:
            content = work.recorded[1]
        else:
            shown = second.request(read, work.numbered, work.scene)
            content = await asker.ask_verdicts(self.reader, shown, count)
        return await self._closer(self.reader, asker, work, read, second.parse(content, count))

    async def _closer(
        self,
        reader: Model,
        asker: Asker,
        work: reading.ExtractionInput,
        read: Sequence[second.Checked],
        verdicts: Sequence[second.Verdict],
    ) -> list[second.Verdict]:
        """Let the claims that code doubts be read once more, if they were found said: both readings must agree."""
        doubted = [each for each in read if each.doubt and verdicts[each.claim.place].reason is None]
        if not doubted:
            return list(verdicts)
        if len(work.recorded) > 2:
            content = work.recorded[2]
        else:
            shown = second.request(doubted, work.numbered, work.scene, doubts=True)
            content = await asker.ask_verdicts(reader, shown, len(verdicts), closer=True)
        again = second.parse(content, len(verdicts))
        return second.closer(verdicts, {each.claim.place: again[each.claim.place] for each in doubted})

    async def _apply(self, claim: Claim, work: reading.ExtractionInput, result: Extracted) -> Learnt:
        def body(tx: Tx) -> Learnt:
            learnt = apply(tx, claim, work, result)
            if self.post is not None and work.prompt:
                self.post(tx, claim, work)
            return learnt

        learnt = await self.database.transact(body, space=claim.space)
        _log.info(
            "learnt from %s up to %s: %s, facts %s, held %s, refused %s",
            claim.key, work.until, learnt.outcome, dict(learnt.settled), dict(learnt.for_review), dict(learnt.refused),
        )  # fmt: skip
        return learnt

    def _quoted(self, work: reading.ExtractionInput) -> Notes:
        notes = quoted(work.whole)
        return Notes(
            raw_memory=redacted(self.redactor, notes.raw_memory),
            summary=redacted(self.redactor, notes.summary),
            slug=notes.slug,
        )


def _gate(work: reading.ExtractionInput, answer: claims.Answer) -> Gate:
    named = {each for claim in answer.claims for each in claim.known}
    return Gate(
        work.numbered,
        owner=work.scene.owner,
        known=[fact.content for fact in work.known if fact.id in named],
        start=work.start,
        shown=work.shown,
        suspicious=answer.suspicious,
    )
