"""A server in this process, a space that contains every kind of item, and keys for it."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from fastapi import FastAPI

import bethink
from bethink.http import ServerOptions, create_app
from bethink.model.access import EVERYWHERE, Scope
from bethink.model.documents import DocumentDraft
from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import Operation
from bethink.model.reviews import ClaimedFact, ReviewStatus
from bethink.model.working import Event, Mode
from bethink.store import reviews
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
        most = ALL if spaces is None else ALL - EVERYWHERE
        made = await self.memory.admin.keys.create(
            name="other", scopes=[Scope(each) for each in scopes or most], spaces=spaces
        )
        return made.key


@asynccontextmanager
async def serving(
    target: str, options: ServerOptions = PLAIN, *, provider: Any = None, **settings: Any
) -> AsyncGenerator[Served]:
    """Serve a memory that is opened when the server starts and closed when it ends."""
    memory = bethink.connect(target, learn_in_background=False, **settings)
    app = create_app(memory, options=options, tracer_provider=provider)
    async with app.router.lifespan_context(app):
        made = await memory.admin.keys.create(name="all", scopes=list(ALL))
        yield Served(app=app, memory=memory, key=made.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """The names of what is in a space."""

    space: str
    session_id: str
    fact_id: str
    document_id: str
    thread_id: str
    test_id: str
    review_id: str
    ref: str

    def body(self, operation: "Route") -> Any:
        """A body that fits, None where there is none."""
        return {"ref": self.ref} if operation.name == "space.reviews.propose" else operation.body

    def path(self, template: str) -> str:
        """Fill a route's template in with what is there."""
        names = {
            "space": self.space,
            "session_id": self.session_id,
            "fact_id": self.fact_id,
            "document_id": self.document_id,
            "thread_id": self.thread_id,
            "test_id": self.test_id,
            "review_id": self.review_id,
            "ref": self.ref,
            "run": "run_1",
            "kind": "index",
            "key": "space",
            "prefix": "000000000000",
            "webhook_id": "whk_1",
            "relearning_id": "rlr_1",
            "hold_id": "hld_1",
        }
        return re.sub(r"\{(\w+)\}", lambda match: names[match[1]], template)


async def furnish(memory: bethink.Memory, space: str, word: str = CANARY) -> Things:
    """Put one of everything into a space."""
    session = await memory.space(space).session(KEY)
    await session.append(said(f"the parrot is called {word}", f"and {word} likes figs"))
    await memory.space(space).facts.save(bethink.Fact(id=f"fact-{space}", text=f"the parrot {word} likes figs"))
    made = await memory.space(space).documents.create(
        DocumentDraft(slug="parrot", title="Parrot", body=f"{word} likes figs")
    )
    test = await memory.space(space).admin.tests.add(f"Who is {word}?", must=[word], test_id=f"test-{space}")
    desk = memory.backend.local().working(space)
    thread = await desk.open_thread(mode=Mode.AUTO)
    await desk.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": f"feed {word} figs"}))
    claim = ClaimedFact(fact=bethink.Fact(id="claimed", text=f"the parrot {word} is ill"), quotes=())
    review = await memory.backend.local().database.transact(
        lambda tx: reviews.put(
            tx, claim, space=space, status=ReviewStatus.PENDING, reason="flagged", detail=word, effect="held"
        ),
        space=space,
    )
    return Things(
        space=space,
        session_id=session.id,
        fact_id=f"fact-{space}",
        document_id=made.id,
        thread_id=thread.id,
        test_id=test.id,
        review_id=review,
        ref=f"message:{session.id}:1",
    )


BODIES: dict[str, dict[str, Any]] = {
    "space.remember": {"messages": "figs"},
    "space.files.add": {"name": "figs.md", "text": "# Figs"},
    "space.recall": {"question": "what does the parrot like?"},
    "space.ask": {"question": "what does the parrot like?"},
    "space.context": {"question": "parrot figs"},
    "space.correct": {"ref": "fact:fact-alice:1", "text": "the parrot likes figs"},
    "space.admin.context_log.mark_used": {"refs": []},
    "space.admin.relearning.propose": {"dry_run": True},
    "space.admin.rules.preview": {"messages": "figs"},
    "space.facts.pin": {"ref": "fact:fact-alice:1"},
    "space.facts.unpin": {"ref": "fact:fact-alice:1"},
    "space.facts.rate": {"ref": "fact:fact-alice:1", "verdict": "useful"},
    "space.reviews.approve_many": {"review_ids": ["rev_1"]},
    "space.reviews.reject_many": {"review_ids": ["rev_1"]},
    "space.forget": {"everything": True, "dry_run": True},
    "space.session": {"conversation": "cli:desk:"},
    "space.sessions.find": {"conversation": "cli:desk:"},
    "session.retract": {"number": 1},
    "session.append": {"messages": [{"role": "user", "content": "figs"}]},
    "session.strip_citations": {"reply": "figs"},
    "space.facts.search": {"query": "figs"},
    "space.facts.save": {"fact": {"id": "new", "text": "figs"}},
    "space.reviews.propose": {"ref": "message:ses_none:1"},
    "space.admin.rules.set": {"rules": {"instructions": "Learn what the parrot likes."}},
    **{
        f"{handle}.admin.people.{operation}": {"name": "nobody"}
        for handle in ("space", "memory")
        for operation in ("find", "export", "forget")
    },
    "space.admin.retention.set": {"kind": "message", "older_than": 36500},
    "space.admin.retention.remove": {"kind": "message"},
    "space.admin.retention.run": {"dry_run": True},
    "space.admin.holds.place": {"reason": "case 12"},
    "memory.admin.holds.lift": {"space": "alice", "reason": "closed"},
    "space.documents.search": {"query": "figs"},
    "space.documents.find": {"path": "~/parrot"},
    "space.documents.create": {"draft": {"slug": "new", "title": "New"}},
    "space.documents.update": {"draft": {"slug": "parrot", "title": "Parrot"}, "if_version": 1},
    "space.documents.restore": {"version": 1, "if_version": 1},
    "space.threads.open": {},
    "space.threads.dispatch": {"event": {"type": "USER_MESSAGE", "payload": {"text": "figs"}}},
    "space.threads.set_mode": {"mode": "auto"},
    "space.threads.fork": {"at": 1},
    "space.admin.tests.add": {"question": "figs?", "must": ["figs"]},
    "memory.admin.keys.create": {"name": "new", "scopes": ["read"]},
    "session.wait_until_learned": {"timeout": 0},
    "memory.admin.webhooks.create": {"url": "https://93.184.215.14/hook"},
}
"""A body that fits, by the name of the operation."""

QUERIES = {
    "space.documents.delete": "?if_version=1",
    "space.documents.diff": "?before=0&after=1",
    "space.documents.sources": "?version=1",
    "space.threads.diff": "?before=0&after=1",
    "space.threads.prompt": "?budget=1000",
}
METRICS = "metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route that needs a key."""

    method: str
    path: str
    name: str
    scopes: tuple[Scope, ...]
    everywhere: bool
    responses: frozenset[int]

    @property
    def scope(self) -> Scope:
        """The scope that names what it does."""
        return self.scopes[0]

    @property
    def body(self) -> Any:
        """A body that fits, None where there is none."""
        return BODIES.get(self.name)

    @property
    def query(self) -> str:
        """A query that fits."""
        return QUERIES.get(self.name, "")


@cache
def openapi() -> dict[str, Any]:
    """The OpenAPI document."""
    return create_app(bethink.connect(":memory:"), options=PLAIN).openapi()


def operations() -> list[Route]:
    """Every operation of the table, and the metrics."""
    rows = [
        (operation.http_method, f"/v1{operation.path}", operation.name, _scopes(operation), operation.everywhere)
        for operation in OPERATIONS
    ]
    rows.append(("GET", "/metrics", METRICS, (Scope.READ,), True))
    paths = openapi()["paths"]
    return [
        Route(
            method=method,
            path=path,
            name=name,
            scopes=scopes,
            everywhere=everywhere,
            responses=frozenset(map(int, paths[path][method.lower()]["responses"])),
        )
        for method, path, name, scopes, everywhere in rows
    ]


def _scopes(operation: Operation[Any, Any]) -> tuple[Scope, ...]:
    return (operation.scope, *([Scope.READ] if operation.also_reads else []))
