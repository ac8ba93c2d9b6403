"""Makes up requests for the isolation campaign: keys, spaces, ids and filters each come from anywhere."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import quote

from bethink.model.access import Scope

SPACES = tuple(f"space-{number}" for number in range(6))
_WORDS = ("parrot", "figs", "garden", "Oslo", "lunch", "Anna", "train", "when", "who", "leak0x", '"likes figs"')
_WHEN = ("2001-01-01", "2030-01-01", "2030-01-01T12:00:00Z")

Request = tuple[str, str, Scope, object]
"""Method, path, the scope it needs, and a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key's text, and what it should be good for."""

    text: str
    scopes: frozenset[Scope] = frozenset()
    spaces: frozenset[str] | None = frozenset()

    def allows(self, space: str, scope: Scope) -> bool:
        return scope in self.scopes and (self.spaces is None or space in self.spaces)


@dataclass(kw_only=True)
class World:
    """What there is, and whose it is."""

    keys: list[Key] = field(default_factory=list[Key])
    sessions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    owners: dict[bytes, str] = field(default_factory=dict[bytes, str])
    before: dict[str, object] = field(default_factory=dict[str, object])


def _spelt(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Requests:
    """Makes up requests: the space of the path, the key, and the ids and filters each come from anywhere."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random

    def key(self) -> Key:
        return self._random.choice(self._world.keys)

    def space(self, key: Key) -> str:
        if key.spaces and self._random.random() < 0.8:
            return self._random.choice(sorted(key.spaces))
        return self._random.choice((*SPACES, "nowhere", "space-", "space-1%00", "*"))

    def one(self, space: str) -> Request:
        """Return method, path, the scope it needs, and a body."""
        make = self._random.choice(_MAKERS)
        return make(self, space)

    def any_session(self) -> str:
        return self._random.choice([each for ids in self._world.sessions.values() for each in ids])

    def foreign_session(self, space: str) -> str:
        others = [each for name, ids in self._world.sessions.items() if name != space for each in ids]
        return self._random.choice(others)

    def name(self, *shared: str) -> str:
        return self._random.choice((*shared, *(f"only-{space}" for space in SPACES), "none", "%25", "' OR 1=1 --"))

    def foreign_name(self, space: str) -> str:
        return f"only-{self._random.choice([each for each in SPACES if each != space])}"

    def words(self) -> str:
        return " ".join(self._random.choices(_WORDS, k=self._random.randint(1, 4)))

    def maybe(self, **members: Callable[[], object]) -> dict[str, object]:
        return {name: make() for name, make in members.items() if self._random.random() < 0.4}

    def when(self) -> object:
        return self._random.choice(_WHEN)

    def limit(self) -> int:
        return self._random.choice((1, 2, 10, 1000))

    def ref(self) -> str:
        choose = self._random.choice
        return choose(
            (
                f"message:{self.any_session()}:{self._random.randint(1, 4)}",
                f"session_summary:{self.any_session()}:0",
                f"fact:{self.name('fact-1')}:1",
                f"document:{self.name('doc-1')}:1",
            )
        )

    def recall(self, space: str) -> Request:
        body: dict[str, object] = {"question": self.words()}
        body |= (
            self.maybe(
                limit=self.limit,
                as_of=self.when,
                known_at=self.when,
                session_id=self.any_session,
                explain=lambda: True,
                budget=lambda: 500,
                kinds=lambda: ["message", "fact", "document", "session_summary"],
            )
            | self.narrowing()
        )
        if self._random.random() < 0.3:
            body = {name: value for name, value in body.items() if name not in ("limit", "kinds", "explain")}
            return "POST", f"/v1/spaces/{space}/context", Scope.READ, body
        return "POST", f"/v1/spaces/{space}/recall", Scope.READ, body

    def narrowing(self) -> dict[str, object]:
        """Narrow by what is the same in every space, and by what would break out of its place."""
        choose = self._random.choice
        return self.maybe(
            origin=lambda: ["user", "import"],
            tags=lambda: choose((["lunch"], ["lunch", "' OR 1=1 --"], ["only-space-1"])),
            agent=lambda: choose(("assistant", "' OR '1'='1")),
            conversation=lambda: choose(("cli:desk:", "cli:phone:")),
            speaker=lambda: choose(("Anna", "Bo' OR true --")),
            since=lambda: "2020-01-01",
            until=lambda: "2100-01-01",
            where=lambda: choose((
                {"word": "figs"}, {"word": {"ne": "x"}}, {"') OR 1=1 --": {"ne": 1}}, {"rank": {"gte": 0}},
                {"word": ["figs", "' OR 1=1 --"]}, {"word": {"contains": "%"}}, {"$": {"ne": None}},
            )),
        ) if self._random.random() < 0.7 else {}  # fmt: skip

    def search(self, space: str) -> Request:
        """Search facts, documents and sessions, also by what is only in other spaces."""
        more = self.maybe(limit=self.limit, as_of=self.when, known_at=self.when)
        path, body = self._random.choice(
            (
                ("facts/search", {"query": self.words(), **more, **self.narrowing()}),
                ("sessions/find", {"conversation": "cli:desk:"}),
                ("documents/search", {"query": "train Oslo", **more}),
                ("documents/find", {"path": f"~/{self.name('doc-1')}"}),
            )
        )
        return "POST", f"/v1/spaces/{space}/{path}", Scope.READ, body

    def read(self, space: str) -> Request:
        session, fact = self.any_session(), self.name("fact-1", "fact-2")
        document, thread = self.name("doc-1"), self.name("thread-1")
        path = self._random.choice(
            (
                "sessions", f"sessions/{session}", f"sessions/{session}/messages", f"sessions/{session}/summary",
                "facts", "fact_count", "fact_history",
                f"facts/{fact}", f"facts/{fact}/versions", f"facts/{fact}/sources",
                "documents", "children", f"documents/{document}", f"documents/{document}/versions",
                f"documents/{document}/diff?before=0&after=1", f"documents/{document}/sources?version=1",
                "files", "changes", "change_sets", "jobs", "context-log", f"memories/{self.ref()}",
                "threads", f"threads/{thread}", f"threads/{thread}/states", f"threads/{thread}/state",
                f"threads/{thread}/queue", f"threads/{thread}/failed", f"threads/{thread}/tokens",
                f"threads/{thread}/diff?before=0&after=1", f"threads/{thread}/prompt?budget=1000",
            )
        )  # fmt: skip
        return "GET", f"/v1/spaces/{space}/{path}{self._filters(path)}", Scope.READ, None

    def _filters(self, path: str) -> str:
        """Narrow what can be narrowed, also by ids that come from another space."""
        known: dict[str, dict[str, Callable[[], object]]] = {
            "sessions": {"limit": self.limit, "after": self.any_session},
            "facts": {
                "as_of": self.when, "known_at": self.when, "limit": self.limit,
                "after": lambda: self.name("fact-1").replace(" ", "+"),
            },
            "documents": {"as_of": self.when, "known_at": self.when},
            "children": {
                "document_id": lambda: self.name("doc-1").replace(" ", "+"), "as_of": self.when, "known_at": self.when,
            },
            "threads": {"limit": self.limit, "after": lambda: "only-space-0"},
            "context-log": {
                "session_id": self.any_session, "as_of": self.when, "known_at": self.when, "limit": lambda: 100,
            },
            "jobs": {"limit": self.limit},
        }  # fmt: skip
        query = self.maybe(**known.get(path, {}))
        if path in ("sessions", "facts") or path.endswith("/messages"):
            query |= {name: quote(_spelt(value)) for name, value in self.narrowing().items()}
        return f"?{'&'.join(f'{name}={value}' for name, value in query.items())}" if query else ""

    def write(self, space: str) -> Request:
        said = f"written in {space} by a campaign"
        message = {"role": "user", "content": said} | self.maybe(idempotency_key=lambda: "desk:1")
        session = self.any_session()
        return self._random.choice(
            (
                ("POST", f"/v1/spaces/{space}/remember", Scope.WRITE, {"messages": said}),
                ("POST", f"/v1/spaces/{space}/remember", Scope.WRITE, {"messages": [message], "session_id": session}),
                ("POST", f"/v1/spaces/{space}/remember", Scope.WRITE, {"messages": said, "conversation": "cli:desk:"}),
                ("POST", f"/v1/spaces/{space}/sessions", Scope.WRITE, {"conversation": "cli:new:"}),
                ("POST", f"/v1/spaces/{space}/sessions/{session}/messages", Scope.WRITE, {"messages": [message]}),
                ("POST", f"/v1/spaces/{space}/sessions/{session}/strip-citations", Scope.WRITE, {"reply": said}),
                ("POST", f"/v1/spaces/{space}/facts", Scope.WRITE, {"fact": {"id": "fact-3", "text": said}}),
                ("POST", f"/v1/spaces/{space}/context-log/used", Scope.WRITE, {"refs": [self.ref(), self.ref()]}),
                (
                    "POST",
                    f"/v1/spaces/{space}/documents",
                    Scope.WRITE,
                    {"draft": {"slug": "new", "title": "N", "parent": self.name("doc-1")}},
                ),
                ("POST", f"/v1/spaces/{space}/threads", Scope.WRITE, {"session_id": self.any_session()}),
                ("POST", f"/v1/spaces/{space}/threads/thread-1/fork", Scope.WRITE, {"at": 1}),
            )
        )

    def harm(self, space: str) -> Request:
        """Try to change or erase what is only in another space."""
        session, name = self.foreign_session(space), self.foreign_name(space)
        at = f"/v1/spaces/{space}"
        draft = {"draft": {"slug": "taken", "title": "Taken", "body": "taken"}, "if_version": 1}
        event = {"event": {"type": "USER_MESSAGE", "payload": {"text": "taken"}}}
        return self._random.choice(
            (
                ("POST", f"{at}/forget", Scope.ERASE, {"session_id": session}),
                ("POST", f"{at}/forget", Scope.ERASE, {"ref": f"message:{session}:1"}),
                ("POST", f"{at}/forget", Scope.ERASE, {"ref": f"fact:{name}:1"}),
                ("POST", f"{at}/forget", Scope.ERASE, {"everything": True, "dry_run": True}),
                ("POST", f"{at}/forget", Scope.ERASE, {"ref": f"document:{name}:1"}),
                ("POST", f"{at}/forget", Scope.ERASE, {"thread_id": name}),
                ("POST", f"{at}/forget", Scope.ERASE, {"dry_run": True, "where": {"of": name}}),
                ("POST", f"{at}/forget", Scope.ERASE, {"where": {"of": name}, "tags": ["harmed"]}),
                ("DELETE", f"{at}/documents/{name}?if_version=1", Scope.ERASE, None),
                ("PUT", f"{at}/documents/{name}", Scope.WRITE, draft),
                ("POST", f"{at}/threads/{name}/events", Scope.WRITE, event),
                ("POST", f"{at}/sessions/{session}/end", Scope.WRITE, None),
                ("POST", f"{at}/sessions/{session}/restart", Scope.WRITE, None),
                (
                    "POST",
                    f"{at}/sessions/{session}/messages",
                    Scope.WRITE,
                    {"messages": [{"role": "user", "content": "leak"}]},
                ),
            )
        )


_MAKERS: tuple[Callable[[Requests, str], Request], ...] = (
    Requests.recall, Requests.recall, Requests.search, Requests.read, Requests.read, Requests.read, Requests.write,
    Requests.harm,
)  # fmt: skip
