"""A server in this process, a space with one of everything in it, and keys to it."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

import bethink
from bethink.model.access import Scope
from bethink.model.documents import DocumentDraft
from bethink.model.working import Event, Mode
from bethink.server import ServerOptions, create_app
from faults.asgi import Answer, ask
from tests.conftest import KEY, said

CANARY = "zanzibar-canary"
"""What is stored and must turn up nowhere but in the answers to those who may read it."""

ALL = frozenset(Scope)
PLAIN = ServerOptions(mcp=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server with a key to everything."""

    app: FastAPI
    memory: bethink.Memory
    key: str

    async def __call__(self, method: str, path: str, body: object = None, **more: Any) -> Answer:
        """Ask with the key, unless another is given."""
        return await ask(self.app, method, path, body=body, key=more.pop("key", self.key), **more)

    async def key_for(self, *scopes: Scope | str, spaces: list[str] | None = None) -> str:
        """Make another key: one of some spaces may do all there, one of all spaces may do all there is."""
        most = ALL if spaces is None else ALL - {Scope.ADMIN}
        made = await self.app.state.door.access.create(name="other", scopes=scopes or most, spaces=spaces)
        return made.key


@asynccontextmanager
async def serving(
    target: str, options: ServerOptions = PLAIN, *, provider: Any = None, **settings: Any
) -> AsyncGenerator[Served]:
    """Serve a memory that is opened when the server starts and closed when it ends."""
    memory = bethink.connect(target, learn_at_start=False, **settings)
    app = create_app(memory, options=options, tracer_provider=provider)
    async with app.router.lifespan_context(app):
        made = await app.state.door.access.create(name="all", scopes=ALL)
        yield Served(app=app, memory=memory, key=made.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """The names of what is in a space."""

    space: str
    session_id: str
    fact_id: str
    document_id: str
    thread_id: str
    ref: str

    def path(self, template: str) -> str:
        """Fill a route's template in with what is there."""
        names = {
            "space": self.space,
            "session_id": self.session_id,
            "fact_id": self.fact_id,
            "document_id": self.document_id,
            "thread_id": self.thread_id,
            "ref": self.ref,
            "number": "1",
            "run": "run_1",
            "prefix": "000000000000",
        }
        return re.sub(r"\{(\w+)\}", lambda match: names[match[1]], template)


async def furnish(memory: bethink.Memory, space: str, word: str = CANARY) -> Things:
    """Put one of everything into a space."""
    session = await memory.space(space).session(KEY)
    await session.append(said(f"the parrot is called {word}", f"and {word} likes figs"))
    await memory.space(space).facts.save(bethink.Fact(id=f"fact-{space}", content=f"the parrot {word} likes figs"))
    made = await memory.space(space).documents.create(
        DocumentDraft(slug="parrot", title="Parrot", body=f"{word} likes figs")
    )
    desk = memory.local().working(space)
    thread = await desk.open_thread(mode=Mode.AUTO)
    await desk.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": f"feed {word} figs"}))
    assert made is not None
    return Things(
        space=space,
        session_id=session.id,
        fact_id=f"fact-{space}",
        document_id=made.id,
        thread_id=thread.id,
        ref=f"message:{session.id}:1",
    )


BODIES: dict[str, Any] = {
    "remember": {"text": "figs"},
    "recall": {"question": "what does the parrot like?"},
    "context": {"question": "parrot figs"},
    "used": {"refs": []},
    "forget": {"everything": True, "dry_run": True},
    "open_session": {"conversation": "cli:desk:"},
    "append": {"messages": [{"role": "user", "content": "figs"}]},
    "cited": {"answer": "figs"},
    "put_fact": {"content": "figs"},
    "create_document": {"slug": "new", "title": "New"},
    "update_document": {"slug": "parrot", "title": "Parrot", "expected": 1},
    "restore_document": {"version": 1, "expected": 1},
    "redact_document": {"version": 1},
    "open_thread": {},
    "dispatch": {"event": {"type": "USER_MESSAGE", "payload": {"text": "figs"}}},
    "set_mode": {"mode": "auto"},
    "fork": {"at": 1},
    "create_key": {"name": "new", "scopes": ["read"]},
}
"""A body that fits, by the name of the operation."""

QUERIES = {
    "delete_document": "?expected=1",
    "document_diff": "?before=0&after=1",
    "document_sources": "?version=1",
    "state_diff": "?before=0&after=1",
    "prompt": "?budget=1000",
}


EVERYWHERE = ("metrics",)
"""What needs a key for all spaces though it needs no admin's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of the OpenAPI."""

    method: str
    path: str
    name: str
    scope: str | None
    scopes: tuple[str, ...]
    everywhere: bool
    responses: frozenset[int]

    @property
    def body(self) -> Any:
        """A body that fits, None where there is none."""
        return BODIES.get(self.name)

    @property
    def query(self) -> str:
        """A query that fits."""
        return QUERIES.get(self.name, "")


def operations() -> list[Operation]:
    """Every operation of the OpenAPI that needs a key."""
    schema = create_app(bethink.connect(":memory:"), options=PLAIN).openapi()
    found: list[Operation] = []
    for path, methods in schema["paths"].items():
        for method, each in methods.items():
            if each["security"]:
                [scopes] = each["security"][0].values()
                found.append(
                    Operation(
                        method=method.upper(),
                        path=path,
                        name=each["operationId"],
                        scope=scopes[0] if scopes else None,
                        scopes=tuple(scopes),
                        everywhere=each["operationId"] in EVERYWHERE,
                        responses=frozenset(map(int, each["responses"])),
                    )
                )
    return found
