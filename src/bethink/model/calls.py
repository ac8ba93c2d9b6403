"""Calls to a model and its answers."""

from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.text import JsonObject


class Stop(StrEnum):
    """Why a model stopped: it was done, it reached its token limit, or it refused to answer."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"


MODEL_TIMEOUT = 120.0
"""How many seconds an answer may take, unless a setting or the call says otherwise."""


@frozen
class ModelCall:
    """One question to a model. With a `schema`, the answer must be JSON of that shape."""

    system: str
    prompt: str
    schema: JsonObject | None = None
    schema_name: str = "answer"
    max_tokens: int = 4096
    timeout: float | None = None
    """How many seconds the answer may take. Without it, the model decides."""

    def limit(self, usual: float) -> float:
        """Return the timeout of this call, or `usual` if it has none."""
        return usual if self.timeout is None else self.timeout


@frozen
class ModelAnswer:
    """The answer of a model, unchanged, with the tokens it used."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    stop: Stop = Stop.END
