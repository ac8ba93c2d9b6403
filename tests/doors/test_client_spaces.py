"""Several spaces over HTTP: each is asked under its own right."""

from collections.abc import Iterator

import pytest

from bethink.errors import NotFound
from bethink.model.access import Scope
from tests.doors.client_kit import Served, connected, serving


@pytest.fixture
def served(target: str) -> Iterator[Served]:
    with serving(target) as server:
        yield server


async def test_several_spaces_make_one_ranking_over_http(served: Served) -> None:
    async with connected(served.url, key=served.key) as memory:
        await memory.space("mira").remember("My tea is oolong.")
        await memory.space("team").remember("The team drinks oolong tea at three.")

        found = await memory.spaces("mira", "team").recall("Which tea, oolong?", limit=2)

    assert {item.space for item in found.items} == {"mira", "team"}
    assert [item.score for item in found.items] == sorted((item.score for item in found.items), reverse=True)


async def test_a_space_without_a_right_is_named_and_not_left_out(served: Served) -> None:
    async with connected(served.url, key=served.key) as memory:
        await memory.space("mira").remember("My tea is oolong.")
        await memory.space("team").remember("The team drinks sencha.")
        made = await memory.keys.create(name="mira's", scopes=[Scope.READ], spaces=["mira"])

    # A key does not learn whether a space exists that it does not open.
    async with connected(served.url, key=made.key) as hers:
        assert (await hers.spaces("mira").recall("tea")).items[0].space == "mira"
        with pytest.raises(NotFound, match="space 'team'"):
            await hers.spaces("mira", "team").recall("tea")
        with pytest.raises(NotFound, match="space 'team'"):
            await hers.spaces("mira", "team").context("tea")
