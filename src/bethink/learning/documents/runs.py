"""Lets a memory writer work for a job: what it says is charged and kept under the job's claim before it is acted on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bethink.extend import Model, Redactor, Tokens
from bethink.learning.documents.sandbox import SandboxedTree
from bethink.learning.documents.writer import PROMPT, Writer
from bethink.learning.extraction.extract import Prices
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.consolidation import Change, DocumentTree
from bethink.model.documents import DocumentSource
from bethink.model.jobs import Claim, JobStatus
from bethink.model.text import clean
from bethink.store import jobs, learning
from bethink.store.db import Database, Tx

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What every job that writes documents needs: the database, the model, and what a call costs."""

    database: Database
    model: Model | None
    redactor: Redactor
    tokens: Tokens
    prices: Prices = field(default_factory=Prices)
    slot: int = 0

    async def written(
        self,
        claim: Claim,
        *,
        run: str,
        shelf: DocumentTree,
        sources: Mapping[str, DocumentSource],
        assignment: str,
        recorded: Sequence[str],
        agent_id: str,
    ) -> list[Change]:
        """Let the writer work on a copy of the tree, and return what it wants changed."""
        bench = SandboxedTree(shelf, sources, cut=self.cut)

        async def keep(turn: int, call: ModelCall, answer: ModelAnswer, content: str) -> None:
            taken = self.prices.usage(call, answer)
            name = self.named(answer.model)

            def body(tx: Tx) -> None:
                if jobs.charge(tx, claim, taken, slot=self.slot) and content:
                    learning.record_answer(
                        tx, claim, run=run, position=turn, content=content, agent_id=agent_id, model=name, prompt=PROMPT
                    )  # fmt: skip

            await self.database.transact(body, space=claim.space)

        await self.writer().work(bench, assignment, recorded=recorded, keep=keep)
        return bench.changes()

    def writer(self) -> Writer:
        """Return the writer that works with this model."""
        assert self.model is not None  # noqa: S101 - whoever has none does not ask
        return Writer(model=self.model, tokens=self.tokens, cut=self.cut)

    async def fail(
        self, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """End a claim that came to nothing; what was promised since is reason enough to try again at once."""

        def body(tx: Tx) -> None:
            newer = (jobs.hold(tx, claim) or 0) > claim.input_watermark
            reason = self.named(error)
            jobs.fail(tx, claim, newer=newer, status=status, delay=delay, attempts=attempts, error=reason)

        await self.database.transact(body, space=claim.space, repeatable=True)

    def cut(self, text: str) -> str:
        """Clean and redact a text."""
        return self.redactor.redact(clean(text))

    def named(self, text: str) -> str:
        """Make a line of a name or an error that can be kept."""
        return " ".join(self.cut(text).split())[:_LONGEST_NAME] or "unnamed"
