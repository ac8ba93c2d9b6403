"""The result of one check of 'bethink doctor'."""

from bethink.base.frozen import frozen


@frozen
class Check:
    """The result of one check, and how to fix what it found."""

    name: str
    ok: bool
    found: str
    fix: str = ""
