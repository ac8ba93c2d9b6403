"""The daily budget for model calls, and the spending charged to it."""

from anyio import CancelScope

from bethink.base.frozen import frozen
from bethink.errors import ModelUnavailableError
from bethink.extend import Model
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import Usage
from bethink.model.prices import Prices
from bethink.store import jobs
from bethink.store.db import Database


@frozen
class Budget:
    """The daily budget, in millionths of a dollar (None for no cap), with the prices to charge calls by."""

    database: Database
    prices: Prices
    daily_cap: int | None

    def meter(self, model: Model) -> Model:
        """Return the model with every call charged to the daily budget."""
        return _ChargedModel(model, self)

    async def check(self) -> None:
        """Raise `ModelUnavailableError` if the cap is reached."""
        if (
            self.daily_cap is not None
            and (await self.database.transact(jobs.spent, read_only=True)).cost >= self.daily_cap
        ):
            raise ModelUnavailableError(
                "The daily budget is spent.", hint="Raise `daily_budget`, or wait until midnight UTC."
            )

    async def charge(self, usage: Usage, **labels: str) -> None:
        """Charge a call to the day, even if its caller is gone: the provider bills it anyway."""
        with CancelScope(shield=True):
            await self.database.transact(lambda tx: jobs.spend(tx, usage, **labels))


class _ChargedModel:
    """A model whose calls are charged to the daily budget. It is unavailable once the cap is reached."""

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
