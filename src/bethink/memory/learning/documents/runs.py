"""Run the memory writer for a job. Every answer is charged and recorded under the lease before it takes effect."""

from collections.abc import Sequence
from dataclasses import field
from datetime import timedelta

from bethink.base.frozen import frozen
from bethink.extend import Model, Redactor, Tokens
from bethink.memory.learning.documents.pages import PAGE_SCHEMA
from bethink.memory.learning.documents.sandbox import SandboxedTree
from bethink.memory.learning.documents.writer import PAGES_PROMPT, Writer
from bethink.memory.learning.model_use import one_line, redact_text
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.consolidation import DocumentChange
from bethink.model.jobs import JobStatus, Lease
from bethink.model.prices import Prices
from bethink.store import jobs, learning
from bethink.store.db import Database, Tx


@frozen
class Runs:
    """Shared parts of the jobs that write documents: database, model, and prices of calls."""

    database: Database
    model: Model | None
    redactor: Redactor
    tokens: Tokens
    prices: Prices = field(default_factory=Prices)

    async def write_changes(
        self,
        lease: Lease,
        *,
        run: str,
        sandbox: SandboxedTree,
        writer: Writer,
        assignment: str,
        recorded: Sequence[str],
        agent_id: str,
        again: str = "",
    ) -> list[DocumentChange]:
        """Let the writer work on a copy of the tree, and return its changes. Raises `ModelError`."""

        async def keep(turn: int, call: ModelCall, answer: ModelAnswer, content: str) -> None:
            usage = self.prices.usage(call, answer)
            name = self.to_line(answer.model)

            def body(tx: Tx) -> None:
                if jobs.charge(tx, lease, usage, model=name) and content:
                    learning.record_answer(
                        tx, lease, run=run, position=turn, content=content, agent_id=agent_id, model=name,
                        prompt=writer.prompt,
                    )  # fmt: skip

            await self.database.transact(body, space=lease.space)

        await writer.work(sandbox, assignment, recorded=recorded, keep=keep, again=again)
        return sandbox.changes()

    def writer(self, *, pages: bool = False) -> Writer:
        """Return the writer that works with this model: on transcripts, or with `pages` on facts."""
        assert self.model is not None  # noqa: S101 - callers check this first
        if not pages:
            return Writer(model=self.model, tokens=self.tokens, redact=self.redact)
        return Writer(
            model=self.model, tokens=self.tokens, redact=self.redact, prompt=PAGES_PROMPT, schema=PAGE_SCHEMA
        )  # fmt: skip

    async def fail(
        self, lease: Lease, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """Finish a failed lease. If more work was queued in the meantime, the job is retried at once."""

        def body(tx: Tx) -> None:
            newer = (jobs.lock_job(tx, lease) or 0) > lease.input_watermark
            reason = self.to_line(error)
            jobs.fail(tx, lease, newer=newer, status=status, delay=delay, attempts=attempts, error=reason)

        await self.database.transact(body, space=lease.space, repeatable=True)

    def redact(self, text: str) -> str:
        """Return a text cleaned and redacted."""
        return redact_text(self.redactor, text)

    def to_line(self, text: str) -> str:
        """Return a name or an error as one line that can be stored."""
        return one_line(self.redactor, text) or "unnamed"
