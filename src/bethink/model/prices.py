"""What a model's answers cost."""

from bethink.base.frozen import frozen
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import Usage

_MOST_TOKENS = 10**9


@frozen
class Prices:
    """The price of a model, in dollars per million tokens."""

    input: float = 1.0
    output: float = 5.0

    def usage(self, call: ModelCall, answer: ModelAnswer) -> Usage:
        """Return the usage of one answer, estimated at four characters per token if the model reports none."""
        asked, said = (min(max(0, count), _MOST_TOKENS) for count in (answer.input_tokens, answer.output_tokens))
        if not asked + said:
            asked, said = (len(call.system) + len(call.prompt)) // 4, len(answer.text) // 4
        return Usage(1, asked, said, round(asked * self.input + said * self.output))
