"""Pages of the ledger: what was shown to whom, with the texts."""

from bethink.base.frozen import frozen
from bethink.model.recall import Ref, Showing
from bethink.model.records import Origin


@frozen
class ShownMemory:
    """A memory that was shown, in the version that was. `text` is the beginning of it, None if it was erased since."""

    ref: Ref
    text: str | None = None
    origin: Origin | None = None


@frozen
class ShownBlock:
    """One entry of the ledger, the conversation and the agent that it was shown to, and what it said.

    Both names are empty if the session was forgotten since.
    """

    showing: Showing
    conversation: str = ""
    agent: str = ""
    memories: tuple[ShownMemory, ...] = ()


@frozen
class ShownPage:
    """A page of what was shown, the newest first."""

    items: tuple[ShownBlock, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""
