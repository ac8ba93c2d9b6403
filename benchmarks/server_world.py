"""What the load is made of: spaces with something in them, things to remember, and questions about them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import bethink
from bethink.providers.no_redaction import NoRedaction

_PEOPLE = ("Anna", "Bruno", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hugo")
_DEEDS = ("plays", "repairs", "sells", "paints", "carries", "borrows", "teaches", "collects")
_THINGS = (
    "cello", "kayak", "teapot", "bicycle", "telescope", "ladder", "accordion", "umbrella", "typewriter", "lantern",
    "carpet", "trumpet", "sextant", "harpoon", "marble", "kettle",
)  # fmt: skip
_TIMES = ("on Fridays", "before breakfast", "in the old harbour", "with her brother", "since the winter", "for a prize")

BEFORE = 40
"""Messages that every space holds before the load begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that both sides say and ask, from one seed."""

    seed: int
    spaces: int

    def names(self) -> list[str]:
        """The spaces: one for each of so many end users."""
        return [f"user-{number:04}" for number in range(self.spaces)]

    def dice(self, *parts: object) -> random.Random:
        """Chance of its own for a part of the run, the same in every run with this seed."""
        return random.Random("/".join(map(str, (self.seed, *parts))))


def sentence(dice: random.Random) -> str:
    """Something to remember."""
    words = (dice.choice(_PEOPLE), dice.choice(_DEEDS), "the", dice.choice(_THINGS), dice.choice(_TIMES))
    return f"{' '.join(words)}, number {dice.randrange(10**6)}"


def question(dice: random.Random) -> str:
    """Something to ask."""
    return f"Who {dice.choice(_DEEDS)} the {dice.choice(_THINGS)}?"


def connected(dsn: str) -> bethink.Memory:
    """A memory on the same database, to prepare and to be traced; it learns nothing."""
    return bethink.connect(dsn, redactor=NoRedaction(), embedder="none", learn=False, postgres_pool_size=4)


async def fill(dsn: str, world: World) -> Sequence[str]:
    """Give every space its messages, and return their names."""
    async with connected(dsn) as memory:
        for space in world.names():
            dice = world.dice("before", space)
            said = [bethink.Message(role="user", content=sentence(dice)) for _ in range(BEFORE)]
            await memory.space(space).remember(said)
    return world.names()
