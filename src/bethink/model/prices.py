"""Cost of a model's answers."""

from bethink.base.frozen import frozen
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import Usage

_MAX_TOKENS = 10**9


@frozen
class Prices:
    """The price of a model, in dollars per million tokens."""

    input: float = 1.0
    output: float = 5.0

    def usage(self, call: ModelCall, answer: ModelAnswer) -> Usage:
        """Return the usage of one answer, estimated at four characters per token if the model reports none."""
        input_tokens, output_tokens = (
            min(max(0, count), _MAX_TOKENS) for count in (answer.input_tokens, answer.output_tokens)
        )
        if not input_tokens + output_tokens:
            input_tokens, output_tokens = (len(call.system) + len(call.prompt)) // 4, len(answer.text) // 4
        return Usage(1, input_tokens, output_tokens, round(input_tokens * self.input + output_tokens * self.output))
