"""Pages: the results of every `list`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, cast, overload

from bethink.base.frozen import frozen

T = TypeVar("T")


class _Continued(Generic[T]):
    """Holds the function that fetches the next page. It is not a field: a page is sent without it."""

    __slots__ = ("_fetch",)
    _fetch: "Callable[[str], Awaitable[Page[T]]]"


@frozen
class Page(_Continued[T], Sequence[T]):
    """A page of a list. Loop over it for its items, or over `iterate()` for those of all pages from this one on."""

    items: tuple[T, ...] = ()
    next: str = ""
    """Cursor of the next page: pass it as `after`. Empty on the last page."""

    async def iterate(self) -> AsyncIterator[T]:
        """Yield the items of this page and of every page after it."""
        page = self
        while True:
            for item in page.items:
                yield item
            if not page.next:
                return
            page = await page._fetch(page.next)

    def with_fetch(self, fetch: "Callable[[str], Awaitable[Page[T]]]") -> "Page[T]":
        """Return this page with a function that fetches the page after a cursor."""
        object.__setattr__(self, "_fetch", fetch)
        return self

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __eq__(self, other: object) -> bool:
        """Return whether another page has the same items and cursor, or a list or tuple the same items."""
        if isinstance(other, Page):
            page = cast("Page[Any]", other)
            return (self.items, self.next) == (page.items, page.next)
        if isinstance(other, list | tuple):
            return self.items == tuple(cast("Sequence[Any]", other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.items, self.next))


def page_of(items: Sequence[T], limit: int, cursor: Callable[[T], str]) -> Page[T]:
    """Return a page of rows that were read with one row more than its limit, to know whether others follow."""
    page = tuple(items[:limit])
    return Page(items=page, next=cursor(page[-1]) if len(items) > limit else "")
