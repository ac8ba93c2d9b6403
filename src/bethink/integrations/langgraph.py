"""LangGraph's store on a space: each item is a fact, its namespaces are tags, and its value is metadata.

store = BethinkStore(memory.space("mira"))
graph = builder.compile(store=store)
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from operator import mul
from typing import Any, cast

import anyio
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
)

from bethink import Fact, Origin, Ref, RefKind, Space
from bethink.errors import NotFound, Stale

_VALUE, _NAMESPACE, _KEY, _TTL, _VECTORS = "#value", "#namespace", "#key", "#ttl", "#vectors"
_OWN = "langgraph:"
_PAGE = 1_000
_LONGEST_NAME = 180
_LONGEST_TEXT = 20_000
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_ANY = "*"


class BethinkStore(BaseStore):
    """The items of one space. Filters run in the database; a search is memory's own, unless an embedder is given.

    What is stored counts as the assistant's word, whatever it says: a graph's nodes, and so a model, write it. Secrets
    are cut out of values before they are stored.
    """

    supports_ttl = True

    def __init__(self, space: Space, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        """Use a space as a store.

        Args:
            space: The space of an end user, a project or a team.
            index: LangGraph's own configuration of an embedder. Searches then compare vectors in this process. Without
                it, they are recalled by memory, which finds by words, and by meaning if it has an embedder itself.
            ttl: How long items live, and whether reading makes them live longer.
        """
        self._space = space
        self.ttl_config = ttl
        self.index_config = index
        self._embeddings = None if index is None else ensure_embeddings(index.get("embed"))
        self._fields: Sequence[str] = (index.get("fields") if index else None) or ["$"]

    def batch(self, ops: Iterable[Any]) -> list[Result]:
        """Carry out operations and wait for them, in a thread of their own if this one runs an event loop."""
        given = list(ops)

        def run() -> list[Result]:
            return anyio.run(self.abatch, given)

        try:
            anyio.get_cancelled_exc_class()
        except RuntimeError:  # no event loop runs here
            return run()
        with ThreadPoolExecutor(1) as beside:
            return beside.submit(run).result()

    async def abatch(self, ops: Iterable[Any]) -> list[Result]:
        """Carry out operations: what is read is read first, then the last write of each item is done."""
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        results: list[Result] = []
        for op in ops:
            match op:
                case GetOp():
                    results.append(await self._get(op))
                case SearchOp():
                    results.append(await self._search(op))
                case ListNamespacesOp():
                    results.append(await self._namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise ValueError(f"unknown operation {op!r}")
        for op in puts.values():
            await self._put(op)
        return results

    async def _get(self, op: GetOp) -> Item | None:
        try:
            fact = await self._space.facts.get(_id(op.namespace, op.key))
        except NotFound:
            return None
        if _gone(fact):
            return None
        await self._refresh([fact], asked=op.refresh_ttl)
        return Item(**_fields(fact))

    async def _put(self, op: PutOp) -> None:
        name = _id(op.namespace, op.key)
        if op.value is None:
            await self._space.forget(Ref(RefKind.FACT, name), missing_ok=True)
            return
        value = dict(op.value)
        texts = self._texts(value, op.index)
        about: dict[str, Any] = {_VALUE: value, _NAMESPACE: list(op.namespace), _KEY: op.key}
        if op.ttl is not None:
            about[_TTL] = op.ttl
        if self._embeddings is not None and texts:
            about[_VECTORS] = await self._embeddings.aembed_documents(texts)
        said = texts if op.index is not None or self.index_config else [_words(value)]
        tags = tuple(_tag(op.namespace[:depth]) for depth in range(len(op.namespace) + 1))
        fact = Fact(
            id=name, content=("\n".join(said) or op.key)[:_LONGEST_TEXT], tags=tags, metadata={**_flat(value), **about},
            origin=Origin("assistant"), expires_at=_expiry(op.ttl),
        )  # fmt: skip
        try:
            before = await self._space.facts.get(name)
        except NotFound:
            pass
        else:
            fact = fact if _gone(before) else replace(fact, created_at=before.created_at)
        await self._space.facts.save(fact)

    def _texts(self, value: Mapping[str, Any], index: Any) -> list[str]:
        """Return the parts of a value that a search shall find it by."""
        if index is False:
            return []
        paths = cast("Sequence[str]", self._fields if index is None else index)
        return [text for path in paths for text in get_text_at_path(value, path) if text]

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        only: dict[str, Any] = {"tags": [_tag(op.namespace_prefix)], "where": where_of(op.filter or {})}
        last = op.offset + op.limit
        scored: Sequence[tuple[Fact, float | None]]
        if op.query and self._embeddings is not None:
            asked = await self._embeddings.aembed_query(op.query)
            scored = _ranked(asked, await self._all(only))[op.offset : last]
        elif op.query:
            found = await self._space.recall(op.query, kinds=[RefKind.FACT], limit=last, **only)
            scored = [(item.fact, item.score) for item in found.items if item.fact is not None][op.offset :]
        else:
            scored = [(fact, None) for fact in (await self._all(only))[op.offset : last]]
        await self._refresh([fact for fact, _ in scored], asked=op.refresh_ttl)
        return [SearchItem(**_fields(fact), score=score) for fact, score in scored]

    async def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {_namespace(fact) for fact in await self._all({"tags": [_OWN]})}
        wanted = {each for each in found if all(_matches(condition, each) for condition in op.match_conditions or ())}
        cut = sorted({each[: op.max_depth] for each in wanted})
        return cut[op.offset : op.offset + op.limit]

    async def _refresh(self, facts: Iterable[Fact], *, asked: bool) -> None:
        """Let what was read live on, if it has used up a tenth of its time: each time is a version of its fact."""
        if not asked or not (self.ttl_config or {}).get("refresh_on_read", True):
            return
        for fact in facts:
            ttl = float(fact.metadata.get(_TTL) or 0)
            end = _expiry(ttl)
            if fact.expires_at is not None and end is not None and end - fact.expires_at > timedelta(minutes=ttl / 10):
                with suppress(Stale):  # another reader was quicker, and it lives on
                    await self._space.facts.save(replace(fact, expires_at=end), expected=fact.version)

    async def _all(self, only: Mapping[str, Any]) -> list[Fact]:
        found: list[Fact] = []
        after = ""
        while page := await self._space.facts.all(limit=_PAGE, after=after, **only):
            after = page[-1].id
            found += [fact for fact in page if not _gone(fact)]
        return found


def where_of(given: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Translate a filter: operators lose their sign, nested objects become names with dots, a list must be equal."""
    found: dict[str, Any] = {}
    for name, wanted in given.items():
        key = f"{prefix}{name}"
        if isinstance(wanted, Mapping):
            members = cast("Mapping[str, Any]", wanted)
            if any(each.startswith("$") for each in members):
                found[key] = {each.removeprefix("$"): value for each, value in members.items()}
            else:
                found |= {f"{key}{{}}": True, **where_of(members, f"{key}.")}
        elif isinstance(wanted, (list, tuple)):
            found[f"{key}[]"] = json.dumps(wanted, sort_keys=True)
        else:
            found[key] = wanted
    return found


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, each in value.items():
        if isinstance(each, Mapping):
            found |= {f"{prefix}{name}{{}}": True, **_flat(cast("Mapping[str, Any]", each), f"{prefix}{name}.")}
        elif isinstance(each, list):
            found[f"{prefix}{name}[]"] = json.dumps(each, sort_keys=True)
        else:
            found[f"{prefix}{name}"] = each
    return found


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ". ".join(filter(None, map(_words, cast("Mapping[str, object]", value).values())))
    return str(value)


def _ranked(asked: Sequence[float], facts: Iterable[Fact]) -> list[tuple[Fact, float | None]]:
    """Order facts by their best vector; those without any come last, without a score."""
    scored = [
        (fact, max((_cosine(asked, vector) for vector in fact.metadata.get(_VECTORS, ())), default=None))
        for fact in facts
    ]
    return sorted(scored, key=lambda each: -2.0 if each[1] is None else each[1], reverse=True)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    length = math.hypot(*one) * math.hypot(*other)
    return sum(map(mul, one, other)) / length if length else 0.0


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    there = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(want in (_ANY, label) for want, label in zip(path, there, strict=True))


def _expiry(ttl: float | None) -> datetime | None:
    return None if ttl is None else datetime.now(UTC) + timedelta(minutes=ttl)


def _gone(fact: Fact) -> bool:
    return fact.expires_at is not None and fact.expires_at <= datetime.now(UTC)


def _tag(namespace: tuple[str, ...]) -> str:
    return _short(_OWN + _path(namespace))


def _id(namespace: tuple[str, ...], key: str) -> str:
    return _short(f"{_path(namespace)}/{_escaped(key)}")


def _path(namespace: tuple[str, ...]) -> str:
    return ".".join(map(_escaped, namespace))  # LangGraph refuses periods in a namespace


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _short(name: str) -> str:
    """Return a name that a fact or a tag can have: one that is too long or odd is known by its digest."""
    if len(name) <= _LONGEST_NAME and name.isprintable():
        return name
    return f"{_OWN}{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=20).hexdigest()}"


def _namespace(fact: Fact) -> tuple[str, ...]:
    return tuple(fact.metadata[_NAMESPACE])


def _fields(fact: Fact) -> dict[str, Any]:
    return {
        "value": fact.metadata[_VALUE],
        "key": fact.metadata[_KEY],
        "namespace": _namespace(fact),
        "created_at": fact.created_at or _NEVER,
        "updated_at": fact.recorded_at or _NEVER,
    }
