"""What every use of a model in learning shares: how much fits into a prompt, and how its texts are stored."""

from bethink.errors import Conflict
from bethink.extend import Model, Redactor, Tokens
from bethink.model.plural import plural
from bethink.model.text import clean
from bethink.store import jobs
from bethink.store.db import Database

INPUT_SHARE = 0.7
"""How much of a model's window its input may take."""
_LEAST_TOKENS = 500
_LONGEST_LINE = 200


def prompt_budget(model: Model, tokens: Tokens, prompt: str) -> int:
    """Return how many tokens are left for input next to a system prompt, at least 500."""
    return max(_LEAST_TOKENS, int(model.window * INPUT_SHARE) - tokens.count(prompt))


async def check_cap(database: Database, cap: int | None, *, calls: int = 0) -> None:
    """Raise `Conflict` if the budget of the day, in millionths of a dollar, is spent."""
    if cap is None:
        return
    spent = await database.transact(jobs.spent, read=True)
    if spent.cost >= cap:
        after = f", after {plural(calls, 'call')} for this" if calls else ""
        raise Conflict(
            f"the daily spend cap is reached{after}.", hint="Raise daily_spend_cap, or go on after midnight UTC."
        )


def redacted(redactor: Redactor, text: str) -> str:
    """Return a text cleaned and redacted, as it may be stored or sent to a model."""
    return redactor.redact(clean(text))


def one_line(redactor: Redactor, text: str) -> str:
    """Return a name or an error as one redacted line of at most 200 characters."""
    return " ".join(redacted(redactor, text).split())[:_LONGEST_LINE]
