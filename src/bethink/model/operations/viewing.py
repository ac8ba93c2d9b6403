"""The two times at which memory can be read, declared once for all operations."""

from bethink.base.frozen import frozen
from bethink.model.moments import Moment
from bethink.model.operations.base import Request
from bethink.model.operations.narrowing import FilteredRequest
from bethink.model.views import TimeView

# A class with slots can only extend one class with fields, so requests with filters have a base class of their own.


@frozen
class ViewRequest(Request):
    """Base class of requests that can read memory at a past time."""

    as_of: Moment | None = None
    """Day or moment to read memory at: everything said until then (default: now). A date means the end of that day."""
    known_at: Moment | None = None
    """Moment at which memory had learned what it answers with (default: now). A date means the end of that day."""

    @property
    def view(self) -> TimeView:
        """The view of memory that the request asks for."""
        return TimeView(as_of=self.as_of, known_at=self.known_at)


@frozen
class FilteredViewRequest(FilteredRequest):
    """Base class of requests with filters that can read memory at a past time."""

    as_of: Moment | None = None
    """Day or moment to read memory at: everything said until then (default: now). A date means the end of that day."""
    known_at: Moment | None = None
    """Moment at which memory had learned what it answers with (default: now). A date means the end of that day."""

    @property
    def view(self) -> TimeView:
        """The view of memory that the request asks for."""
        return TimeView(as_of=self.as_of, known_at=self.known_at)
