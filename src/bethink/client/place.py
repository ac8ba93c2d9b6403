"""The routes below one path: those of a space, or those of a whole server."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from bethink.client.calls import Asked, Calls, path_of, queried
from bethink.client.wire import read

T = TypeVar("T")


class Sent(NamedTuple):
    """How a change may be sent: whether it only reads after all, and whether it may be carried out twice."""

    reads: bool = False
    repeatable: bool = False
    timed: bool = True


ONCE = Sent()
AGAIN = Sent(repeatable=True)
READS = Sent(reads=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A path of a server and the way to it."""

    calls: Calls
    steps: tuple[str, ...] = ()

    async def get(self, kind: type[T], /, *steps: str, **query: object) -> T:
        """Read something."""
        path = path_of(*self.steps, *steps) + queried(**query)
        return await self.calls.ask(kind, Asked(method="GET", path=path, reads=True))

    async def items(self, kind: type[T], /, *steps: str, **query: object) -> list[T]:
        """Read a list that comes as a whole."""
        return read(list[kind], (await self.get(dict[str, Any], *steps, **query)).get("items"))

    async def pages(
        self, kind: type[T], /, *steps: str, limit: int | None, start: str = "", **query: object
    ) -> list[T]:
        """Read a list that comes in pages, from after the entry that `start` names."""
        return await self.calls.pages(kind, path_of(*self.steps, *steps), limit=limit, start=start, **query)

    async def send(self, kind: type[T], /, *steps: str, how: Sent = ONCE, method: str = "POST", **body: object) -> T:
        """Change something. What is None is left out of the body."""
        given = {name: value for name, value in body.items() if value is not None}
        return await self.exactly(kind, *steps, how=how, method=method, body=given)

    async def exactly(self, kind: type[T], /, *steps: str, how: Sent, method: str, body: dict[str, Any]) -> T:
        """Change something with a body just as it is."""
        asked = Asked(
            method=method,
            path=path_of(*self.steps, *steps),
            body=body,
            reads=how.reads,
            repeatable=how.repeatable,
            timed=how.timed,
        )
        return await self.calls.ask(kind, asked)

    async def remove(self, *steps: str, how: Sent = ONCE, **query: object) -> None:
        """Delete something."""
        path = path_of(*self.steps, *steps) + queried(**query)
        await self.calls.ask(type(None), Asked(method="DELETE", path=path, repeatable=how.repeatable))
