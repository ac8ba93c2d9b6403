"""Calls to a model and its answers."""

from enum import StrEnum

from bethink.frozen import frozen
from bethink.model.text import JsonObject


class Stop(StrEnum):
    """Why a model stopped: it was done, it reached its token limit, or it refused to answer."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"


@frozen
class ModelCall:
    """One question to a model. With a `schema`, the answer must be JSON of that shape."""

    system: str
    prompt: str
    schema: JsonObject | None = None
    schema_name: str = "answer"
    max_tokens: int = 4096
    timeout: float = 120.0


@frozen
class ModelAnswer:
    """The answer of a model, unchanged, with the tokens it used."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    stop: Stop = Stop.END
