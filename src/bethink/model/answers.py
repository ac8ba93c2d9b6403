"""Answers that a model wrote from memory: sentences, each with the memories that say so."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.enums import OpenEnum
from bethink.model.jobs import Usage
from bethink.model.recall import Certainty, Recalled, Ref


class Refusal(OpenEnum):
    """Why a question was not answered."""

    NOTHING_FOUND = "nothing_found"
    """Recall found nothing, so no model was asked."""
    NOT_HELD = "not_held"
    """The model says that what was found does not hold the answer."""
    NOT_PROVEN = "not_proven"
    """Every sentence of the model was dropped: no memory that it cites says so."""
    DECLINED = "declined"
    """The model refused to answer."""


class SentenceFault(OpenEnum):
    """Why a sentence of the model was dropped."""

    UNCITED = "uncited"
    """It cites nothing."""
    UNKNOWN_REF = "unknown_ref"
    """It cites a memory that the model was not given."""
    FOREIGN_NAME = "foreign_name"
    """It has a name that no memory it cites has."""
    FOREIGN_NUMBER = "foreign_number"
    """It has a number that no memory it cites has."""
    OTHER_WORDS = "other_words"
    """Most of its words stand neither in the memories that it cites nor in the question."""
    DENIED = "denied"
    """It says that something is not so, and the memory says that it is, or the other way round."""


@frozen
class AnswerSentence:
    """One sentence of an answer, and the memories that say so."""

    text: str
    refs: tuple[Ref, ...]


@frozen
class MemoryAnswer:
    """An answer from memory, as far as memories prove it. Without a sentence it is `refused`, and false.

    `given` is all that the model could cite, and `cited` what it did cite. `withheld` are memories that recall found
    and the model was not given, as they read like orders to it. `dropped` says for each sentence that was left out why.
    """

    question: str
    text: str = ""
    sentences: tuple[AnswerSentence, ...] = ()
    refused: Refusal | None = None
    cited: tuple[Recalled, ...] = ()
    given: tuple[Ref, ...] = ()
    withheld: tuple[Ref, ...] = ()
    without: tuple[Ref, ...] = ()
    dropped: tuple[SentenceFault, ...] = ()
    certainty: Certainty | None = None
    """How certain recall was of the best memory that the model was given."""
    model: str | None = None
    """The model that was asked, if one was."""
    usage: Usage | None = None
    as_of: datetime | None = None
    missing: str | None = None
    """What recall had to do without, such as vectors."""

    def __bool__(self) -> bool:
        """Return whether the question was answered."""
        return bool(self.sentences)


def no_model() -> Invalid:
    """Return the error for a question to a memory that has no model."""
    return Invalid("no model is configured.", hint="Set model, such as 'openai:NAME'. recall works without one.")


listener: ContextVar[Callable[[AnswerSentence], None] | None] = ContextVar("listener", default=None)
"""What is told each sentence of an answer as soon as it is proven. It must not block."""


@contextmanager
def streaming(tell: Callable[[AnswerSentence], None]) -> Generator[None]:
    """Have each sentence of an answer told as soon as it is proven: `with streaming(print): await space.ask(…)`.

    The answer itself is returned as always, at the end. If the model fails halfway, what was told stands.

    Args:
        tell: Called with each sentence, on the event loop: it must not block. In the blocking API that is another
            thread.
    """
    token = listener.set(tell)
    try:
        yield
    finally:
        listener.reset(token)
