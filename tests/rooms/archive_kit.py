"""Random operations on a space, through the public API."""

import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import bethink
import bethink.types
from bethink.errors import BethinkError
from bethink.features.memory_tests.records import MemoryTest
from bethink.model.recall import FactVerdict
from bethink.model.steering import LearningRules
from bethink.store.db import Database
from tests.conftest import FakeClock, database_at, memory_on
from tests.rooms.review_kit import claim, learn
from tests.rooms.working_kit import engine, user

SPACE = "mira"
_CONVERSATIONS = ("cli:desk", "chat:phone", "mail:é中")
_CITIES = ("Oslo", "Bergen", "Kyoto", "São Paulo", "Zürich", "Ἀθῆναι")
_NASTY = ("<script>alert(1)</script>", "line\nbreak\ttab", 'quote " and \\ and \u2028', "🙂 \U0001f9d1", "'--;")
_SLUGS = ("plans", "people", "home", "notes")

_TAKEN_BACK = ("I ran 24 km.", "Sorry, 22 km, not 24.", "Forget everything about Tom.")
"""Messages that leave marks and a request to forget."""


class Life:
    """Does random things to one space of a memory."""

    def __init__(self, database: Database, seed: int, *, forgets: bool = True) -> None:
        self.database = database
        self.memory = memory_on(database, engine=engine())
        self.space = self.memory.space(SPACE)
        self._random = random.Random(seed)
        self._seed = seed
        self._said = 0
        self._doings: list[Callable[[], Awaitable[object]]] = [
            self._say, self._say, self._say, self._keyed, self._end, self._save, self._save, self._correct, self._pin,
            self._judge, self._write, self._rewrite, self._delete, self._ask, self._ask, self._test, self._rule,
            self._think, self._use, self._learn,
        ]  # fmt: skip
        if forgets:
            self._doings += [self._forget, self._untest]

    async def go_on(self, steps: int) -> None:
        """Do so many things; what cannot be done is left."""
        for _ in range(steps):
            try:
                await self._random.choice(self._doings)()
            except BethinkError:
                continue

    def _text(self) -> str:
        self._said += 1
        return f"I live in {self._random.choice(_CITIES)}. {self._random.choice(_NASTY)} {self._seed}.{self._said}"

    async def _session(self) -> bethink.Session:
        return await self.space.session(self._random.choice(_CONVERSATIONS), tags=[self._random.choice(_SLUGS)])

    async def _say(self) -> None:
        session = await self._session()
        roles = ("user", "assistant", "tool")
        said = [
            bethink.Message(
                role=self._random.choice(roles), content=self._text(), metadata={"a": 1.5, "b": [None, "é"]},
                tags=("t",), name=self._random.choice((None, "Mira")), said_at=datetime(2026, 1, 2, tzinfo=UTC),
            )
            for _ in range(self._random.randint(1, 4))
        ]  # fmt: skip
        await session.append(said)

    async def _keyed(self) -> None:
        key = f"key-{self._random.randint(1, 9)}"
        session = await self._session()
        await session.append([bethink.Message(role="user", content=f"Said once {key}.")], idempotency_key=key)

    async def _end(self) -> None:
        session = await self._session()
        await (session.end() if self._random.random() < 0.5 else session.restart())

    async def _save(self) -> None:
        name = self._random.choice(("home", "job", "tea", f"f{self._random.randint(1, 9)}"))
        slot = self._random.choice((None, "city"))
        subject = None if slot is None else "Mira"
        await self.space.facts.save(bethink.Fact(id=name, text=self._text(), slot=slot, subject=subject))

    async def _fact(self) -> bethink.Fact:
        ended = [entry.fact for entry in await self.space.facts.history(status="ended", limit=50)]
        facts = sorted([*await self.space.facts.list(limit=50), *ended], key=lambda fact: fact.id)
        return self._random.choice(facts[:50] or [bethink.Fact(id="none", text="none")])

    async def _correct(self) -> None:
        fact = await self._fact()
        await self.space.correct(f"fact:{fact.id}:{fact.version}", self._text())

    async def _pin(self) -> None:
        fact = await self._fact()
        change = self.space.facts.pin if self._random.random() < 0.6 else self.space.facts.unpin
        await change(f"fact:{fact.id}:{fact.version}")

    async def _judge(self) -> None:
        fact = await self._fact()
        verdict = self._random.choice(list(FactVerdict))
        await self.space.facts.rate(f"fact:{fact.id}:{fact.version}", verdict, note=self._text())

    async def _document(self) -> bethink.Document:
        tree = list(await self.space.documents.list())
        return await self.space.documents.get(self._random.choice(tree).id) if tree else await self._write()

    async def _write(self) -> bethink.Document:
        found = list(await self.space.documents.list())
        parent = self._random.choice([None, *(each.id for each in found)])
        slug = self._random.choice(_SLUGS)
        draft = bethink.types.DocumentDraft(slug=slug, title=slug.title(), body=self._text(), parent=parent)
        return await self.space.documents.create(draft)

    async def _rewrite(self) -> None:
        document = await self._document()
        draft = bethink.types.DocumentDraft(
            slug=document.slug, title=document.title, body=self._text(), parent=document.parent
        )
        await self.space.documents.update(document.id, draft, document.version)

    async def _delete(self) -> None:
        document = await self._document()
        await self.space.documents.delete(document.id, document.version)

    async def _ask(self) -> None:
        session = await self._session()
        await session.recall(f"Where is {self._random.choice(_CITIES)}?")

    async def _test(self) -> MemoryTest:
        fact = await self._fact()
        return await self.space.admin.tests.add(self._text(), must=["Oslo"], about=f"fact:{fact.id}:{fact.version}")

    async def _untest(self) -> None:
        tests = await self.space.admin.tests.list()
        await self.space.admin.tests.remove(self._random.choice(tests).id if tests else "none")

    async def _rule(self) -> None:
        agent = self._random.choice((None, "assistant"))
        await self.space.admin.rules.set(LearningRules(instructions=self._text()), agent=agent)

    async def _think(self) -> None:
        session = await self._session()
        thread = await self.space.threads.open(session_id=session.id)
        await self.space.threads.dispatch(thread.id, user(self._text()))

    async def _use(self) -> None:
        fact = await self._fact()
        await self.space.admin.context_log.mark_used([f"fact:{fact.id}:{fact.version}"])

    async def _learn(self) -> None:
        city = self._random.choice(_CITIES)
        session = await self._session()
        numbers = await session.append([bethink.Message(role="user", content=f"Now I live in {city}.")])
        await session.append([bethink.Message(role="user", content=text) for text in _TAKEN_BACK])
        await session.end()
        made = claim(f"The owner lives in {city}.", f"Now I live in {city}.", numbers[0])
        await learn(self.database, made, claim("Mira is a pilot.", "pilot"))

    async def _forget(self) -> None:
        fact = await self._fact()
        if self._random.random() < 0.5:
            await self.space.forget(f"fact:{fact.id}:{fact.version}")
            return
        session = await self._session()
        said = await session.messages(limit=20)
        if said:
            await self.space.forget(f"message:{session.id}:{self._random.choice(said).number}")


@asynccontextmanager
async def opened(target: str | Path, clock: FakeClock | None = None) -> AsyncGenerator[Database]:
    """An open database at a target."""
    database = database_at(str(target), clock)
    await database.open()
    try:
        yield database
    finally:
        await database.close()
