"""What calls to models may cost in a day, and what they did cost."""

from anyio import CancelScope

from bethink.base.frozen import frozen
from bethink.errors import ModelUnavailable
from bethink.extend import Model
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import Usage
from bethink.model.prices import Prices
from bethink.store import jobs
from bethink.store.db import Database


@frozen
class Budget:
    """What a day may cost, in millionths of a dollar, and what was spent of it; None for no cap."""

    database: Database
    prices: Prices
    daily_cap: int | None

    def of(self, model: Model) -> Model:
        """Return the model, with every call charged to the day."""
        return _ChargedModel(model, self)

    async def check(self) -> None:
        """Raise `ModelUnavailable` if the cap is reached."""
        if self.daily_cap is not None and (await self.database.transact(jobs.spent, read=True)).cost >= self.daily_cap:
            raise ModelUnavailable(
                "the daily spend cap is reached.", hint="Raise daily_spend_cap, or wait for midnight."
            )

    async def charge(self, used: Usage, **what: str) -> None:
        """Count a call for the day, even if no caller waits for it any more: it was paid for."""
        with CancelScope(shield=True):
            await self.database.transact(lambda tx: jobs.spend(tx, used, **what))


class _ChargedModel:
    """A model whose calls count for the day, and which is away once the cap is reached."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.name = model.name
        self.window = model.window
        self._model = model
        self._budget = budget

    async def answer(self, call: ModelCall) -> ModelAnswer:
        await self._budget.check()
        answer = await self._model.answer(call)
        await self._budget.charge(self._budget.prices.usage(call, answer))
        return answer
