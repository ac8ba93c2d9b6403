"""The parts that every shape shares: the sentence it reads, and the moment it judges."""

from collections.abc import Callable
from functools import cached_property

from bethink.base.frozen import frozen
from bethink.features.guard.check import NOT_APPLICABLE, STANDING, GuardCheck, GuardVerdict, UserStatement
from bethink.features.guard.events import AgentEvent
from bethink.features.guard.sentences.mentions import NamedWord, find_mentions
from bethink.features.guard.state import AgentSession

NOT_CONCERNED = GuardVerdict(result=NOT_APPLICABLE)


class RuleSentence:
    """A statement that binds, with the names in it."""

    def __init__(self, text: str, statement: UserStatement, binds: str = STANDING, until: str = "") -> None:
        self.text = text
        self.statement = statement
        self.binds = binds
        self.until = until

    @cached_property
    def mentions(self) -> tuple[NamedWord, ...]:
        """Programs, paths, flags and code that the sentence names."""
        return find_mentions(self.text)

    def of_kind(self, *kinds: str, polarity: int | None = None) -> list[NamedWord]:
        """Return the mentions of some kinds, and of one polarity."""
        return [m for m in self.mentions if m.kind in kinds and (polarity is None or m.polarity == polarity)]


class Moment:
    """The event to judge, with the session before it and the branch."""

    def __init__(self, event: AgentEvent, session: AgentSession | None = None, branch: str = "", at: str = "") -> None:
        self.event = event
        self.session = session if session is not None else AgentSession()
        self.branch = branch
        self.at = at


Parser = Callable[[RuleSentence], GuardCheck | None]
Judge = Callable[[GuardCheck, Moment], GuardVerdict]


@frozen
class Shape:
    """One kind of check: how a sentence is parsed, and how an event is judged."""

    name: str
    order: int
    """Shapes with a lower number are tried first: the more specific ones."""
    parse: Parser
    judge: Judge


def make_check(shape: str, sentence: RuleSentence, **fields: object) -> GuardCheck:
    """Return a check that cites the sentence's statement."""
    return GuardCheck(shape=shape, binds=sentence.binds, statement=sentence.statement, until=sentence.until, **fields)  # type: ignore[arg-type]
