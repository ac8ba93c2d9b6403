"""Accounts for model calls: charge a job and record its answers, or charge only the day."""

from dataclasses import dataclass, field
from typing import Protocol

from bethink.base.frozen import frozen
from bethink.model.jobs import Lease, Usage
from bethink.store import jobs, learning
from bethink.store.db import Database, Tx


@frozen
class UsableAnswer:
    """A usable answer to record: extraction at position 0, second reading at 1, closer reading of doubts at 2."""

    content: str
    model: str
    prompt: str
    position: int


class Account(Protocol):
    """Charges for model calls, with or without a usable answer."""

    async def charge(self, usage: Usage, model: str, answer: UsableAnswer | None = None) -> None:
        """Charge for model calls, and record their answer."""
        ...


@frozen
class JobAccount:
    """The account of a leased job. It records the answer, so that no answer is paid for twice after a crash."""

    database: Database
    lease: Lease
    run: str
    agent_id: str

    async def charge(self, usage: Usage, model: str, answer: UsableAnswer | None = None) -> None:
        """Charge the job and the day, and record the answer."""

        def body(tx: Tx) -> None:
            if not jobs.charge(tx, self.lease, usage, model=model) or answer is None:
                return  # the usage counts for the day; applying the answer will fail, because the lease is lost
            writer = learning.writer_for(tx, space=self.lease.space, agent_id=self.agent_id)
            learning.record_answer(
                tx, self.lease, run=self.run, content=answer.content, agent_id=writer.id, model=answer.model,
                prompt=answer.prompt, position=answer.position,
            )  # fmt: skip

        await self.database.transact(body, space=self.lease.space)


@dataclass(slots=True, kw_only=True)
class DayAccount:
    """The account of a preview: it charges the day, because calls cost the same, and stores nothing."""

    database: Database
    usage: Usage = field(default_factory=Usage)

    async def charge(self, usage: Usage, model: str, answer: UsableAnswer | None = None) -> None:
        """Charge the day."""
        del answer
        self.usage += usage
        await self.database.transact(lambda tx: jobs.spend(tx, usage, model=model))
