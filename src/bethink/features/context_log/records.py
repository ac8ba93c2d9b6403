"""Records of the context log: memories shown to sessions, with their text."""

from bethink.base.frozen import frozen
from bethink.model.recall import ContextEntry
from bethink.model.records import Origin
from bethink.model.refs import Ref


@frozen
class ShownMemory:
    """A memory in the version that was shown. `text` is its beginning, or None if it was deleted since."""

    ref: Ref
    text: str | None = None
    origin: Origin | None = None


@frozen
class ContextLogEntry(ContextEntry):
    """An entry of the context log with its conversation, its agent, and the texts of its memories.

    Conversation and agent are empty if the session was deleted since.
    """

    conversation: str = ""
    agent: str = ""
    memories: tuple[ShownMemory, ...] = ()
