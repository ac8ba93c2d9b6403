"""Shared by every use of a model in learning: prompt budget, daily budget, and cleaning of texts."""

from bethink.errors import ConflictError
from bethink.extend import Model, Redactor, Tokens
from bethink.model.plural import plural
from bethink.model.text import clean
from bethink.store import jobs
from bethink.store.db import Database

INPUT_SHARE = 0.7
"""Share of a model's window that its input may take."""
_MIN_TOKENS = 500
_MAX_LINE = 200


def prompt_budget(model: Model, tokens: Tokens, prompt: str) -> int:
    """Return the number of tokens left for input next to a system prompt, at least 500."""
    return max(_MIN_TOKENS, int(model.window * INPUT_SHARE) - tokens.count(prompt))


async def check_cap(database: Database, cap: int | None, *, calls: int = 0) -> None:
    """Raise `ConflictError` if the budget of the day, in millionths of a dollar, is spent."""
    if cap is None:
        return
    spent = await database.transact(jobs.spent, read_only=True)
    if spent.cost >= cap:
        after = f", after {plural(calls, 'call')} for this" if calls else ""
        raise ConflictError(
            f"The daily budget is spent{after}.", hint="Raise `daily_budget`, or try again after midnight UTC."
        )


def redact_text(redactor: Redactor, text: str) -> str:
    """Return a text cleaned and redacted, as it may be stored or sent to a model."""
    return redactor.redact(clean(text))


def one_line(redactor: Redactor, text: str) -> str:
    """Return a name or an error as one redacted line of at most 200 characters."""
    return " ".join(redact_text(redactor, text).split())[:_MAX_LINE]
