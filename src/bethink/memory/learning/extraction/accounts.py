"""What becomes of the answers of a model and of what they cost: kept and charged to a job, or only to the day."""

from dataclasses import dataclass, field
from typing import Protocol

from bethink.base.frozen import frozen
from bethink.model.jobs import Claim, Usage
from bethink.store import jobs, learning
from bethink.store.db import Database, Tx


@frozen
class Answered:
    """A usable answer as it is kept: extraction at position 0, second reading at 1, closer reading of doubts at 2."""

    content: str
    model: str
    prompt: str
    position: int


class Account(Protocol):
    """Takes what calls of a model cost, with an answer that can be used or without."""

    async def take(self, taken: Usage, model: str, answer: Answered | None = None) -> None:
        """Charge for calls of a model, and keep their answer."""
        ...


@frozen
class JobAccount:
    """The account of a claimed job. An answer is recorded, so that a crash does not pay for it twice."""

    database: Database
    claim: Claim
    run: str
    agent_id: str

    async def take(self, taken: Usage, model: str, answer: Answered | None = None) -> None:
        """Charge the job and the day, and record the answer."""

        def body(tx: Tx) -> None:
            if not jobs.charge(tx, self.claim, taken, model=model) or answer is None:
                return  # the usage counts for the day; applying the answer will fail, because the claim is lost
            writer = learning.writer_for(tx, space=self.claim.space, agent_id=self.agent_id)
            learning.record_answer(
                tx, self.claim, run=self.run, content=answer.content, agent_id=writer.id, model=answer.model,
                prompt=answer.prompt, position=answer.position,
            )  # fmt: skip

        await self.database.transact(body, space=self.claim.space)


@dataclass(slots=True, kw_only=True)
class DayAccount:
    """The account of what is only looked at: the day is charged, because it costs the same, and nothing is kept."""

    database: Database
    usage: Usage = field(default_factory=Usage)

    async def take(self, taken: Usage, model: str, answer: Answered | None = None) -> None:
        """Charge the day."""
        del answer
        self.usage += taken
        await self.database.transact(lambda tx: jobs.spend(tx, taken, model=model))
