"""Deleted text is in no byte of the SQLite file: searched by pieces, as FTS5 cuts off shared prefixes."""

import random
import re
import unicodedata
from pathlib import Path

import pytest

import bethink
from bethink.cli.demo import SPACE, StoryClock, memory_at, seed
from bethink.cli.demo_data import story
from bethink.model.access import Interface
from bethink.model.operations import OPERATIONS
from bethink.model.records import conversation_key
from bethink.model.words import WORD
from faults import erasure_life
from tests.conftest import whole_tree
from tests.length import often
from tests.store.test_sqlite import opened

ID = re.compile(r"\b[a-z]{3}_[0-9a-z]{26}\b")
STEPS = 60
BEGINNINGS = ("kavuri", "kavuro", "dopali", "dopalu", "zem", "wyst")
ENDINGS = ("mote", "xander", "nsson", "bryk", "lumpo", "quist", "ford")


def pieces(*texts: str) -> set[bytes]:
    """Every piece of six letters of every word, as written and without its accents, plain and as JSON may escape it."""
    words: set[str] = set()
    for text in texts:
        folded = text.casefold()
        bare = "".join(sign for sign in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(sign))
        words.update(WORD.findall(f"{folded} {bare}"))
    return erasure_life.pieces(words)


def left_in(path: Path, wanted: set[bytes]) -> list[bytes]:
    """Name the pieces that lie in any of the files of a database."""
    held = b"\0".join(file.read_bytes().lower() for file in sorted(path.parent.glob(f"{path.name}*")))
    return sorted(piece for piece in wanted if piece in held)


@pytest.fixture
async def empty(tmp_path: Path) -> bytes:
    """The bytes of a migrated database with nothing in it, and the words of the access record: no residue."""
    path = tmp_path / "empty.db"
    await (await opened(path)).close()
    return path.read_bytes().lower() + " ".join([*Interface, *(operation.name for operation in OPERATIONS)]).encode()


async def test_deleted_demo_leaves_no_bytes(tmp_path: Path, empty: bytes) -> None:
    path, clock = tmp_path / "demo.db", StoryClock()
    told = list(story())
    flats = pieces(*(text for each in told if each.topic == "flats" for _, text in each.turns))
    rest = pieces(*(text for each in told if each.topic != "flats" for _, text in each.turns))
    await seed(str(path), clock)
    async with memory_at(str(path), clock) as memory:
        documents = await whole_tree(memory.space(SPACE).documents)
        facts = await memory.space(SPACE).facts.list()
    # Pages name sessions by their ids, which say nothing; the access record keeps those.
    bodies = [ID.sub("", each.body) for each in documents.values()]
    made = pieces(*bodies, *(each.text for each in facts))
    everything = {piece for piece in flats | rest | made if piece not in empty}
    only_flats = (flats - rest) & everything
    assert len(left_in(path, only_flats)) > 20
    assert len(left_in(path, everything)) > 200

    async with memory_at(str(path), clock) as memory:
        name = conversation_key(channel="chat", chat=SPACE, thread="flats")
        first = await memory.space(SPACE).forget(conversation=name)
    assert left_in(path, only_flats - pieces(first.receipt)) == []

    async with memory_at(str(path), clock) as memory:
        gone = await memory.space(SPACE).forget(everything=True)
    # The records have words of their own, and signatures, in which six letters may be those of a word by chance.
    said = pieces(first.receipt, gone.receipt)
    assert len(everything - said) > 200
    assert left_in(path, everything - said) == []


class History:
    """A random life of three spaces through the public API, which ends with everything forgotten."""

    def __init__(self, memory: bethink.Memory, seeded: int) -> None:
        self.memory = memory
        self.draw = random.Random(seeded)
        self.texts: list[str] = []
        self.sessions: dict[str, list[tuple[str, bethink.Session]]] = {"ana": [], "bo": [], "cy": []}

    def text(self) -> str:
        names = [self.draw.choice(BEGINNINGS) + self.draw.choice(ENDINGS) for _ in range(self.draw.choice((2, 9, 90)))]
        # Six letters or digits of ASCII may stand in a time, an id or a signature by chance, and were seen to.
        self.texts.append(" ".join([*names, f"canary{''.join(self.draw.choices('бвгджзклмнпрстфхцчшщ', k=6))}"]))
        return self.texts[-1]

    async def live(self) -> None:
        for _ in range(STEPS):
            space = self.draw.choice(list(self.sessions))
            step = self.draw.choices(
                [self.append, self.remember, self.learn, self.forget_one, self.forget_more], (8, 4, 2, 5, 2)
            )[0]
            await step(space)
        for space in [space.name for space in await self.memory.spaces.list()]:
            await self.memory.space(space).forget(everything=True)

    async def append(self, space: str) -> None:
        if not self.sessions[space] or self.draw.random() < 0.3:
            key = conversation_key(channel="chat", chat=f"c{self.draw.randrange(3)}")
            session = await self.memory.space(space).session(key)
            self.sessions[space].append((key, session))
        _, session = self.draw.choice(self.sessions[space])
        messages = [bethink.Message(role="user", content=self.text()) for _ in range(self.draw.choice((1, 3)))]
        await session.append(messages)
        await session.checkpoint(force=True)

    async def remember(self, space: str) -> None:
        await self.memory.space(space).remember(self.text())

    async def learn(self, _space: str) -> None:
        await self.memory.learn()

    async def forget_one(self, space: str) -> None:
        found = (await self.memory.space(space).recall(self.draw.choice(BEGINNINGS) + "mote")).items
        if found:
            await self.memory.space(space).forget(self.draw.choice(found).ref)

    async def forget_more(self, space: str) -> None:
        sessions = self.sessions[space]
        if not sessions:
            return
        key, session = self.draw.choice(sessions)
        match self.draw.choice(("session", "conversation", "everything")):
            case "session":
                await self.memory.space(space).forget(session_id=session.id)
            case "conversation":
                await self.memory.space(space).forget(conversation=key)
            case _:
                await self.memory.space(space).forget(everything=True)
                sessions.clear()


@pytest.mark.parametrize("seeded", range(often(3, long=15)))
async def test_deleted_history_leaves_no_bytes(tmp_path: Path, empty: bytes, seeded: int) -> None:
    path = tmp_path / "memory.db"
    async with bethink.connect(path, learn_in_background=False) as memory:
        history = History(memory, seeded)
        await history.live()
        wanted = {piece for piece in pieces(*history.texts) if piece not in empty}
        assert len(wanted) > 100
        assert left_in(path, wanted) == [], f"seed {seeded}, while it is open"
    assert left_in(path, wanted) == [], f"seed {seeded}"
