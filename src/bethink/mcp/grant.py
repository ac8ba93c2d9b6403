"""What a connection may do, and where: decided by its key or its command line, never by the model."""

from dataclasses import dataclass

from bethink.model.access import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The one space that a connection works in, and what it may do there."""

    space: str
    may_read: bool = True
    may_write: bool = False
    may_erase: bool = False

    def allows(self, scope: Scope) -> bool:
        """Say whether this is allowed. No tool needs `admin`, so it never is."""
        allowed = {Scope.READ: self.may_read, Scope.WRITE: self.may_write, Scope.ERASE: self.may_erase}
        return allowed.get(scope, False)
