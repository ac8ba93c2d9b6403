"""Permissions of a connection. Its key or command line sets them, never the model."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope


@frozen
class Grant:
    """The space of a connection, its permissions there, and further spaces that it may search."""

    space: str
    also: tuple[str, ...] = ()
    """Further spaces that the connection may search."""
    may_read: bool = True
    may_write: bool = False
    may_erase: bool = False
    may_confirm: bool = False
    """Whether the user may confirm notes of the model, which makes them facts."""

    def allows_scope(self, scope: Scope) -> bool:
        """Return whether a scope is granted. `keys` and `operate` never are, because no tool needs them."""
        allowed = {Scope.READ: self.may_read, Scope.WRITE: self.may_write, Scope.ERASE: self.may_erase}
        return allowed.get(scope, False)
