"""What a connection may do and in which space. Its key or its command line decides that, never the model."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope


@frozen
class Grant:
    """The one space that a connection works in, what it may do there, and the other spaces that it may also ask."""

    space: str
    also: tuple[str, ...] = ()
    """Further spaces for recall, which the connection may read."""
    may_read: bool = True
    may_write: bool = False
    may_erase: bool = False
    may_confirm: bool = False
    """Whether its user may be asked to confirm what the model noted, and is believed."""

    def allows(self, scope: Scope) -> bool:
        """Return whether a scope is granted. `keys` and `operate` never are: no tool needs them."""
        allowed = {Scope.READ: self.may_read, Scope.WRITE: self.may_write, Scope.ERASE: self.may_erase}
        return allowed.get(scope, False)
