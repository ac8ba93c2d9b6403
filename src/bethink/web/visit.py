"""One request to the web UI: the key, the parameters, and links to other pages."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Literal, cast
from urllib.parse import quote, urlencode

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.http.auth import authorize
from bethink.http.context import Context
from bethink.http.problems import RefusedRequest
from bethink.model.access import Caller, Interface, KeyInfo, calling_as
from bethink.model.moments import moment_or_none
from bethink.model.operations.base import Operation, RequestT, ResultT
from bethink.model.views import TimeView

Twin = tuple[Operation[Any, Any], Any]
"""The operation and the request whose result is the JSON of a page."""

ROOT = "/ui"
_DIGITS = re.compile("[0-9]{1,15}")
VIEW_PARAMETERS = ("as_of", "known_at")
"""The parameters of a page that shows memory at a past time. Links keep them."""


@frozen
class Visit:
    """A request with a valid session. Pages read and change memory through it alone."""

    context: Context
    key: KeyInfo
    path: str
    names: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    form: Mapping[str, Sequence[str]]
    theme: str
    host: str

    @property
    def space(self) -> str:
        """The space of the page; empty for a page about all spaces."""
        return self.names.get("space", "")

    @property
    def as_of(self) -> str:
        """The `as_of` parameter as it was sent; empty for now."""
        return self.query_value("as_of")

    @property
    def known_at(self) -> str:
        """The `known_at` parameter as it was sent; empty for now."""
        return self.query_value("known_at")

    @property
    def view(self) -> TimeView:
        """The view of memory that the page shows."""
        return TimeView(as_of=moment_or_none(self.as_of or None), known_at=moment_or_none(self.known_at or None))

    @property
    def times(self) -> dict[str, Any]:
        """The times of the page, as the fields of a request."""
        return {"as_of": self.view.as_of, "known_at": self.view.known_at}

    @property
    def moment(self) -> datetime | None:
        """The point in time that the page shows; None for now."""
        return self.view.moment

    @property
    def until(self) -> datetime | None:
        """The last time at which anything that the page shows was said or written; None for now."""
        return min((at for at in (self.view.as_of, self.view.known_at) if at is not None), default=None)

    @property
    def is_past(self) -> bool:
        """Return whether the page shows memory at a past time, so that nothing can be changed."""
        return bool(self.as_of or self.known_at)

    def query_value(self, name: str, default: str = "") -> str:
        """Return a query parameter."""
        return self.query.get(name, (default,))[0] or default

    def query_number(self, name: str, default: int) -> int:
        """Return a query parameter as an integer; the default if it is not one."""
        value = self.query_value(name)
        return int(value) if _DIGITS.fullmatch(value) else default

    def form_value(self, name: str) -> str:
        """Return a form field, with Unix line ends."""
        return self.form.get(name, ("",))[0].replace("\r\n", "\n")

    def form_number(self, name: str) -> int | None:
        """Return a form field as an integer; None if it is empty."""
        value = self.form_value(name).strip()
        if value and not _DIGITS.fullmatch(value):
            raise InvalidRequestError(f"`{name}` must be a whole number.", hint="Use digits only.")
        return int(value) if value else None

    def may(self, operation: Operation[Any, Any]) -> bool:
        """Return whether the key allows an operation here. Decides which buttons are shown; `run` checks again."""
        try:
            authorize(self.key, operation, space=self.space or None)
        except RefusedRequest:
            return False
        return True

    def require(self, operation: Operation[Any, Any]) -> None:
        """Raise, as `/v1` does, if the key does not allow an operation here."""
        authorize(self.key, operation, space=self.space if operation.in_space else None)

    def may_change(self, operation: Operation[Any, Any]) -> bool:
        """Return whether the key allows an operation and the page shows the present."""
        return not self.is_past and self.may(operation)

    async def run(self, operation: Operation[RequestT, ResultT], request: RequestT) -> ResultT:
        """Run an operation with the rights of the key, as `/v1` does."""
        self.require(operation)
        with calling_as(Caller(interface=Interface.WEB, key=self.key)):
            return await self.context.backend.run(operation, self.space if operation.in_space else "", request)

    def within(self, space: str) -> "Visit":
        """Return the same visit in a space, with the same rights."""
        return replace(self, names={**self.names, "space": space})

    def link(self, *steps: str, **query: object) -> str:
        """Return the address of a page of this space, with the same times."""
        return self.link_to(self.space, *steps, **query)

    def link_to(self, space: str, *steps: str, **query: object) -> str:
        """Return the address of a page of a space."""
        times = {name: text for name in VIEW_PARAMETERS if (text := self.query_value(name))}
        return address("s", space, *steps, **(times | query))


def address(*steps: str, **query: object) -> str:
    """Return an address below /ui. Path parts may contain any character; empty parameters are omitted."""
    path = "".join(f"/{_step(step)}" for step in steps)
    pairs: list[tuple[str, object]] = []
    for name, value in query.items():
        values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
        pairs += [(name, item) for item in values if item not in (None, "")]
    return f"{ROOT}{path}{'?' if pairs else ''}{urlencode(pairs)}"


def _step(name: str) -> str:
    quoted = quote(name, safe="~@:")
    # A name may end in .json, as the address of a twin does, or be a dot segment, which browsers remove.
    if quoted in (".", ".."):
        return quoted.replace(".", "%2E")
    return f"{quoted[:-5]}%2Ejson" if quoted.endswith(".json") else quoted


@frozen
class PageView:
    """A page to show: its template and values."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: int = 200


@frozen(kw_only=False)
class Goto:
    """A redirect after a form was submitted."""

    address: str
    headers: Sequence[tuple[bytes, bytes]] = ()


Handler = Callable[[Visit], Awaitable[PageView | Goto]]


@frozen
class PageRoute:
    """A page or form of the web UI: its path below /ui, its handler, and its JSON twin, if any."""

    path: str
    handler: Handler
    method: Literal["GET", "POST"] = "GET"
    twin: Callable[[Visit], Twin | None] | None = None


@frozen
class MenuItem:
    """A menu item, declared in `MENU` by the module of its page."""

    section: str
    name: str
    step: str
    """The path segment below the space, or below /ui."""
    operation: Operation[Any, Any]
    """The operation that a key must allow."""
    shortcut: str
    position: int
    """Items of a section are listed by position."""
    templates: tuple[str, ...] = ()
    """Templates for which this is the current item (default: the one named after `step`)."""
    in_space: bool = True
    """True for a page of one space, False for a page of all spaces."""
