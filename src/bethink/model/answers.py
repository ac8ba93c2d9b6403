"""Answers that a model wrote from memory: sentences, each with its sources."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.model.enums import OpenEnum
from bethink.model.jobs import Usage
from bethink.model.recall import Certainty, Match
from bethink.model.refs import Ref


class Refusal(OpenEnum):
    """Why a question was not answered."""

    NOTHING_FOUND = "nothing_found"
    """No search found a match. A model was called only to name other words to search for."""
    NOT_IN_MEMORY = "not_in_memory"
    """According to the model, the matches do not contain the answer."""
    NOT_PROVEN = "not_proven"
    """All sentences were rejected, because the cited memories do not support them."""
    DECLINED = "declined"
    """The model refused to answer."""


class SentenceFault(OpenEnum):
    """Reason for rejecting a sentence of the model."""

    UNCITED = "uncited"
    """It has no citation."""
    UNKNOWN_REF = "unknown_ref"
    """It cites a memory that the model did not receive."""
    FOREIGN_NAME = "foreign_name"
    """It contains a name that is not in the cited memories."""
    FOREIGN_NUMBER = "foreign_number"
    """It contains a number that is neither in the cited memories nor follows from them."""
    WRONG_CALCULATION = "wrong_calculation"
    """Its calculation has an operand that is not in the cited memories, or another result."""
    OTHER_WORDS = "other_words"
    """Most of its words are neither in the cited memories nor in the question."""
    DENIED = "denied"
    """It negates a cited memory, or states what the memory negates."""


@frozen
class AnswerSentence:
    """A sentence of an answer, and the memories that support it.

    `working` is the checked calculation of its numbers, such as `70 hours + 25 hours = 95 hours`; None if the memories
    state them.
    """

    text: str
    refs: tuple[Ref, ...]
    working: str | None = None


@frozen
class Answer:
    """An answer that is supported by memories. If it has no sentences, `refusal` is the reason.

    `bool(answer)` is whether it has sentences. `sources` are the memories that the model received, and `cited` those
    that it cited. `searches` are the questions that were searched for: yours first, then those that the model named
    because the matches did not contain the answer. `excluded` are matches that the model did not receive because they
    read like instructions. `rejected_sentences` has the reason for each rejected sentence.
    """

    question: str
    text: str = ""
    sentences: tuple[AnswerSentence, ...] = ()
    refusal: Refusal | None = None
    cited: tuple[Match, ...] = ()
    sources: tuple[Ref, ...] = ()
    searches: tuple[str, ...] = ()
    excluded: tuple[Ref, ...] = ()
    ignored: tuple[Ref, ...] = ()
    rejected_sentences: tuple[SentenceFault, ...] = ()
    certainty: Certainty = Certainty.WEAK
    """Certainty of the best match that the model received."""
    model: str | None = None
    """Name of the model that was called, if any."""
    usage: Usage | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    note: str | None = None
    """Unavailable part of the search, such as vectors."""

    @property
    def is_refused(self) -> bool:
        """Whether the question was not answered; `refusal` is the reason."""
        return self.refusal is not None

    def __bool__(self) -> bool:
        """Return whether the question was answered."""
        return bool(self.sentences)


def no_model() -> InvalidRequestError:
    """Return the error for a question without a configured model."""
    return InvalidRequestError(
        "No model is configured.", hint="Set `model`, such as 'openai:gpt-5-mini'. `recall` works without one."
    )


listener: ContextVar[Callable[[AnswerSentence], None] | None] = ContextVar("listener", default=None)
"""Callback for each sentence of an answer as soon as it is verified. It must not block."""


@contextmanager
def streaming(tell: Callable[[AnswerSentence], None] | None) -> Generator[None]:
    """Pass each sentence of an answer to a callback as soon as it is verified: `with streaming(print): …`.

    The complete answer is still returned at the end. If the model fails midway, sentences already passed remain valid.

    Args:
        tell: Called with each sentence, on the event loop: it must not block. In the blocking API that is another
            thread.
    """
    token = listener.set(tell)
    try:
        yield
    finally:
        listener.reset(token)
