"""A memory that answers with a scripted model, on the questions of the benchmark."""

from collections.abc import Callable

from bethink import Memory
from bethink.memory.answering.answerer import Answerer
from bethink.memory.recall.search import Searcher
from bethink.memory.spending import Budget
from bethink.model.calls import ModelCall
from bethink.model.prices import Prices
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import Line
from bethink.store.db import Database
from bethink.testing import ScriptedModel
from tests.conftest import memory_on


def answering(database: Database, model: ScriptedModel | Callable[[ModelCall], Line]) -> Memory:
    """Return a memory that answers with a model."""
    scripted = model if isinstance(model, ScriptedModel) else ScriptedModel(model)

    def make() -> Answerer:
        budget = Budget(database=database, prices=Prices(), daily_cap=None)
        return Answerer(database, searcher=Searcher(database, tokens=EstimatedTokens()), model=scripted, budget=budget)

    return memory_on(database, answerer=make)
