"""The result of one check of 'bethink doctor'."""

from bethink.base.frozen import frozen


@frozen
class Check:
    """The result of one check, and the fix if it failed."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
