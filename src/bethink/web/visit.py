"""One request to the window: who asks, for what, and how pages link to each other."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Literal, cast
from urllib.parse import quote, urlencode

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.http.auth import authorise
from bethink.http.context import Context
from bethink.http.problems import Refused
from bethink.model.access import Caller, Door, KeyInfo, asked_by
from bethink.model.moments import moment_or_none
from bethink.model.operations.base import RequestT, ResultT, Verb

Twin = tuple[Verb[Any, Any], Any]
"""The verb and the request whose result is the JSON of a page."""

ROOT = "/ui"
_WHOLE = re.compile("[0-9]{1,15}")


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
        """The space that the page is about; empty if it is about all of them."""
        return self.names.get("space", "")

    @property
    def as_of(self) -> str:
        """The moment that the page is seen from, as it was asked for; empty for now."""
        return self.ask("as_of")

    @property
    def moment(self) -> datetime | None:
        """The moment that the page is seen from; None for now."""
        return moment_or_none(self.as_of or None)

    def ask(self, name: str, default: str = "") -> str:
        """Return a parameter of the query."""
        return self.query.get(name, (default,))[0] or default

    def number(self, name: str, default: int) -> int:
        """Return a parameter of the query that is a whole number; the default if it is none."""
        given = self.ask(name)
        return int(given) if _WHOLE.fullmatch(given) else default

    def filled(self, name: str) -> str:
        """Return a field of the form, with the line ends that memory has."""
        return self.form.get(name, ("",))[0].replace("\r\n", "\n")

    def filled_number(self, name: str) -> int | None:
        """Return a field of the form that is a whole number; None if it is empty."""
        given = self.filled(name).strip()
        if given and not _WHOLE.fullmatch(given):
            raise Invalid(f"{name} is not a whole number.", hint="Write it in digits.")
        return int(given) if given else None

    def may(self, verb: Verb[Any, Any]) -> bool:
        """Return whether the key allows a verb here. It decides which buttons exist; `run` checks again."""
        try:
            authorise(self.key, verb, space=self.space or None)
        except Refused:
            return False
        return True

    def require(self, verb: Verb[Any, Any]) -> None:
        """Refuse, as `/v1` would, what the key does not allow here."""
        authorise(self.key, verb, space=self.space if verb.in_space else None)

    def may_change(self, verb: Verb[Any, Any]) -> bool:
        """Return whether a button exists: the key allows it, and the page shows memory as it is now."""
        return not self.as_of and self.may(verb)

    async def run(self, verb: Verb[RequestT, ResultT], request: RequestT) -> ResultT:
        """Carry out a verb with the rights of the key, as `/v1` would."""
        self.require(verb)
        with asked_by(Caller(door=Door.WINDOW, key=self.key)):
            return await self.context.backend.run(verb, self.space if verb.in_space else "", request)

    def within(self, space: str) -> "Visit":
        """Return the same visit in a space, with the same rights."""
        return replace(self, names={**self.names, "space": space})

    def link(self, *steps: str, **query: object) -> str:
        """Return the address of a page of this space, seen from the same moment."""
        return self.link_to(self.space, *steps, **query)

    def link_to(self, space: str, *steps: str, **query: object) -> str:
        """Return the address of a page of a space."""
        given = {"as_of": self.as_of} | query if self.as_of else query
        return address("s", space, *steps, **given)


def address(*steps: str, **query: object) -> str:
    """Return an address below /ui. Names may contain anything; parameters without a value are left out."""
    path = "".join(f"/{_step(step)}" for step in steps)
    pairs: list[tuple[str, object]] = []
    for name, value in query.items():
        several = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
        pairs += [(name, each) for each in several if each not in (None, "")]
    return f"{ROOT}{path}{'?' if pairs else ''}{urlencode(pairs)}"


def _step(name: str) -> str:
    quoted = quote(name, safe="~@:")
    # A name may end like the address of a twin, or be a step that browsers remove.
    if quoted in (".", ".."):
        return quoted.replace(".", "%2E")
    return f"{quoted[:-5]}%2Ejson" if quoted.endswith(".json") else quoted


@frozen
class Page:
    """A page to show: its template and what stands in it."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: int = 200


@frozen(kw_only=False)
class Goto:
    """Where a form leads once it was carried out."""

    address: str
    headers: Sequence[tuple[bytes, bytes]] = ()


Handler = Callable[[Visit], Awaitable[Page | Goto]]


@frozen
class PageRoute:
    """A page or a form of the window: its path below /ui, what answers it, and its JSON twin, if it has one."""

    path: str
    handler: Handler
    method: Literal["GET", "POST"] = "GET"
    twin: Callable[[Visit], Twin | None] | None = None


@frozen
class MenuItem:
    """A line of the menu, declared as `MENU` by the module of its page."""

    section: str
    name: str
    step: str
    """The step of its address below the space, or below /ui."""
    operation: Verb[Any, Any]
    """The operation that a key must allow."""
    shortcut: str
    position: int
    """Items of a section are listed by position."""
    templates: tuple[str, ...] = ()
    """The templates for which it is the current item, if not only the one with the name of its step."""
    in_space: bool = True
    """Whether it is about one space or about all of them."""
