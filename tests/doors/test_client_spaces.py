"""Several spaces over HTTP: each is queried with its own rights."""

from collections.abc import Iterator

import pytest

from bethink import Fact, Message
from bethink.errors import NotFoundError
from bethink.model.access import Scope
from bethink.model.kinds import FactKind, OwnKind
from bethink.model.steering import LearningRules
from tests.doors.client_kit import Served, connected, serving


@pytest.fixture
def served(target: str) -> Iterator[Served]:
    with serving(target) as server:
        yield server


async def test_several_spaces_make_one_ranking_over_http(served: Served) -> None:
    async with connected(served.url, key=served.key) as memory:
        await memory.space("mira").remember("My tea is oolong.")
        await memory.space("team").remember("The team drinks oolong tea at three.")

        found = await memory.group("mira", "team").recall("Which tea, oolong?", limit=2)

    assert {item.space for item in found.items} == {"mira", "team"}
    assert [item.score for item in found.items] == sorted((item.score for item in found.items), reverse=True)


async def test_a_space_without_a_right_is_named_and_not_left_out(served: Served) -> None:
    async with connected(served.url, key=served.key) as memory:
        await memory.space("mira").remember("My tea is oolong.")
        await memory.space("team").remember("The team drinks sencha.")
        made = await memory.admin.keys.create(name="mira's", scopes=[Scope.READ], spaces=["mira"])

    # A key does not learn whether a space exists that it does not open.
    async with connected(served.url, key=made.key) as hers:
        assert (await hers.group("mira").recall("tea")).items[0].space == "mira"
        with pytest.raises(NotFoundError, match="Space 'team'"):
            await hers.group("mira", "team").recall("tea")
        with pytest.raises(NotFoundError, match="Space 'team'"):
            await hers.group("mira", "team").context("tea")


async def test_block_over_http_is_written_as_by_the_server(served: Served) -> None:
    """The client writes the block from items that went through JSON, and must arrive at the same bytes."""
    async with connected(served.url, key=served.key) as memory:
        mira = memory.space("mira")
        await mira.admin.rules.set(LearningRules(kinds={"recipe": "how she cooks something"}))
        await mira.remember([Message(role="user", content="The green tea is in the tin", name="Ann")])
        await mira.facts.save(Fact(id="f1", text="Tea steeps for 3 minutes", kind=OwnKind("recipe")))
        wish = Fact(id="f2", text="Answer briefly", kind=FactKind.INSTRUCTION, speaker="Bo", scope="at work")
        await mira.facts.save(wish)

        alone = await mira.context("Where is the green tea?")
        block = await memory.group("mira", "team").context("Where is the green tea?", budget=4_000)

    assert len(alone.items) == 3
    assert block.text == alone.text
    assert (block.tokens, block.digest) == (alone.tokens, alone.digest)
