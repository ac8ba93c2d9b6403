"""What every use of a model in learning shares: how much fits into a prompt, and how its texts are stored."""

from bethink.extend import Model, Redactor, Tokens
from bethink.learning.prompts import prompt
from bethink.model.text import clean

INPUT_SHARE = 0.7
"""How much of a model's window its input may take."""
_LEAST_TOKENS = 500
_LONGEST_LINE = 200


def prompt_budget(model: Model, tokens: Tokens, name: str) -> int:
    """Return how many tokens are left for input next to the named prompt, at least 500."""
    return max(_LEAST_TOKENS, int(model.window * INPUT_SHARE) - tokens.count(prompt(name)))


def redacted(redactor: Redactor, text: str) -> str:
    """Return a text cleaned and redacted, as it may be stored or sent to a model."""
    return redactor.redact(clean(text))


def one_line(redactor: Redactor, text: str) -> str:
    """Return a name or an error as one redacted line of at most 200 characters."""
    return " ".join(redacted(redactor, text).split())[:_LONGEST_LINE]
