"""The two times of a question: what had been said by then, and what memory had learned by then."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.moments import Micros, to_micros

_FOREVER = Micros(2**63 - 1)


@frozen
class TimeView:
    """A view of memory: everything said until `as_of`, as far as memory had learned it by `known_at`.

    Without either, it is the present. With `known_at` alone, it is what memory itself believed at that moment.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        """Return whether this is the present."""
        return self.as_of is None and self.known_at is None

    @property
    def moment(self) -> datetime | None:
        """Return the moment that the question is about, or None for the present."""
        return self.known_at if self.as_of is None else self.as_of

    @property
    def said_until(self) -> Micros:
        """Return the last moment at which something that counts was said."""
        return _micros(self.moment)

    @property
    def known_until(self) -> Micros:
        """Return the last moment at which something that counts was learned."""
        return _micros(self.known_at)

    @property
    def written_until(self) -> Micros:
        """Return when a text that was made from others must have been written: it may mention all that came before."""
        return min(self.said_until, self.known_until)

    @property
    def written_by(self) -> datetime | None:
        """Return the same as a time, or None for the present."""
        return min(filter(None, (self.as_of, self.known_at)), default=None)

    def at(self, now: datetime) -> datetime:
        """Return the moment that the question is about, with the present for none."""
        return now if self.moment is None else self.moment


NOW = TimeView()
"""The present, with everything that memory knows."""


def _micros(at: datetime | None) -> Micros:
    return _FOREVER if at is None else to_micros(at)
