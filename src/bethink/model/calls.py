"""Calls to a model and its answers."""

from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.text import JsonObject


class Stop(StrEnum):
    """Stop reason of a model: it finished, reached its token limit, or refused to answer."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"


MODEL_TIMEOUT = 120.0
"""Default timeout of an answer, in seconds."""


@frozen
class ModelCall:
    """A call to a model. With a `schema`, the answer must be JSON that matches it."""

    system: str
    prompt: str
    schema: JsonObject | None = None
    schema_name: str = "answer"
    max_tokens: int = 4096
    timeout: float | None = None
    """Timeout in seconds. With None, the default of the model applies."""

    def timeout_or(self, default: float) -> float:
        """Return the timeout of this call, or `default` if it has none."""
        return default if self.timeout is None else self.timeout


@frozen
class ModelAnswer:
    """The answer of a model, unchanged, with the tokens it used."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    stop: Stop = Stop.END
