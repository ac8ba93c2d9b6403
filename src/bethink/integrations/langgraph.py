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

from bethink import Fact, Ref, Space
from bethink.errors import NotFoundError, VersionConflictError
from bethink.types import Origin, RefKind

_VALUE, _NAMESPACE, _KEY, _TTL, _VECTORS = "#value", "#namespace", "#key", "#ttl", "#vectors"
_OWN = "langgraph:"
_PAGE = 1_000
_MAX_NAME = 180
_MAX_TEXT = 20_000
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_ANY = "*"


class BethinkStore(BaseStore):
    """The items of one space. Filters run in the database. Searches use recall, unless `index` has an embedder.

    Items count as the assistant's statements, because the nodes of a graph, and so a model, write them. Secrets are
    removed from values before storage.
    """

    supports_ttl = True

    def __init__(self, space: Space, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        """Use a space as a store.

        Args:
            space: The space of an end user, a project or a team.
            index: LangGraph's embedder configuration. Searches then compare vectors in this process. Without it,
                searches use Bethink's recall: by words, and by meaning if the memory has an embedder.
            ttl: The lifetime of items, and whether reads extend it.
        """
        self._space = space
        self.ttl_config = ttl
        self.index_config = index
        self._embeddings = None if index is None else ensure_embeddings(index.get("embed"))
        self._fields: Sequence[str] = (index.get("fields") if index else None) or ["$"]

    def batch(self, ops: Iterable[Any]) -> list[Result]:
        """Run operations and wait for them, in a separate thread if this one runs an event loop."""
        operations = list(ops)

        def run() -> list[Result]:
            return anyio.run(self.abatch, operations)

        try:
            anyio.get_cancelled_exc_class()
        except RuntimeError:  # no event loop runs here
            return run()
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(run).result()

    async def abatch(self, ops: Iterable[Any]) -> list[Result]:
        """Run operations: first all reads, then the last write of each item."""
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
                    raise ValueError(f"Unknown operation {op!r}.")
        for op in puts.values():
            await self._put(op)
        return results

    async def _get(self, op: GetOp) -> Item | None:
        try:
            fact = await self._space.facts.get(_id(op.namespace, op.key))
        except NotFoundError:
            return None
        if _is_expired(fact):
            return None
        await self._refresh([fact], requested=op.refresh_ttl)
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
        indexed_texts = texts if op.index is not None or self.index_config else [_words(value)]
        tags = tuple(_tag(op.namespace[:depth]) for depth in range(len(op.namespace) + 1))
        fact = Fact(
            id=name, text=("\n".join(indexed_texts) or op.key)[:_MAX_TEXT], tags=tags, metadata={**_flat(value),
            **about},
            origin=Origin("assistant"), expires_at=_expiry(op.ttl),
        )  # fmt: skip
        try:
            before = await self._space.facts.get(name)
        except NotFoundError:
            pass
        else:
            fact = fact if _is_expired(before) else replace(fact, created_at=before.created_at)
        await self._space.facts.save(fact)

    def _texts(self, value: Mapping[str, Any], index: Any) -> list[str]:
        """Return the texts of a value to index for search."""
        if index is False:
            return []
        paths = cast("Sequence[str]", self._fields if index is None else index)
        return [text for path in paths for text in get_text_at_path(value, path) if text]

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        only: dict[str, Any] = {"tags": [_tag(op.namespace_prefix)], "where": where_of(op.filter or {})}
        last = op.offset + op.limit
        scored: Sequence[tuple[Fact, float | None]]
        if op.query and self._embeddings is not None:
            query_vector = await self._embeddings.aembed_query(op.query)
            scored = _rank(query_vector, await self._all(only))[op.offset : last]
        elif op.query:
            result = await self._space.recall(op.query, kinds=[RefKind.FACT], limit=last, **only)
            scored = [(item.fact, item.score) for item in result.items if item.fact is not None][op.offset :]
        else:
            scored = [(fact, None) for fact in (await self._all(only))[op.offset : last]]
        await self._refresh([fact for fact, _ in scored], requested=op.refresh_ttl)
        return [SearchItem(**_fields(fact), score=score) for fact, score in scored]

    async def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        namespaces = {_namespace(fact) for fact in await self._all({"tags": [_OWN]})}
        matching = {
            namespace
            for namespace in namespaces
            if all(_matches(condition, namespace) for condition in op.match_conditions or ())
        }
        cut = sorted({namespace[: op.max_depth] for namespace in matching})
        return cut[op.offset : op.offset + op.limit]

    async def _refresh(self, facts: Iterable[Fact], *, requested: bool) -> None:
        """Extend the lifetime of facts that have used a tenth of it. Each extension is a version of the fact."""
        if not requested or not (self.ttl_config or {}).get("refresh_on_read", True):
            return
        for fact in facts:
            ttl = float(fact.metadata.get(_TTL) or 0)
            end = _expiry(ttl)
            if fact.expires_at is not None and end is not None and end - fact.expires_at > timedelta(minutes=ttl / 10):
                with suppress(VersionConflictError):  # another reader has extended it already
                    await self._space.facts.save(replace(fact, expires_at=end), if_version=fact.version)

    async def _all(self, only: Mapping[str, Any]) -> list[Fact]:
        facts: list[Fact] = []
        after = ""
        while page := await self._space.facts.list(limit=_PAGE, after=after, **only):
            after = page[-1].id
            facts += [fact for fact in page if not _is_expired(fact)]
        return facts


def where_of(conditions: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Translate a filter: operators lose their `$`, nested objects become dotted names, lists must be equal."""
    where: dict[str, Any] = {}
    for name, expected in conditions.items():
        key = f"{prefix}{name}"
        if isinstance(expected, Mapping):
            members = cast("Mapping[str, Any]", expected)
            if any(operator.startswith("$") for operator in members):
                where[key] = {operator.removeprefix("$"): value for operator, value in members.items()}
            else:
                where |= {f"{key}{{}}": True, **where_of(members, f"{key}.")}
        elif isinstance(expected, (list, tuple)):
            where[f"{key}[]"] = json.dumps(expected, sort_keys=True)
        else:
            where[key] = expected
    return where


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, member in value.items():
        if isinstance(member, Mapping):
            flat |= {f"{prefix}{name}{{}}": True, **_flat(cast("Mapping[str, Any]", member), f"{prefix}{name}.")}
        elif isinstance(member, list):
            flat[f"{prefix}{name}[]"] = json.dumps(member, sort_keys=True)
        else:
            flat[f"{prefix}{name}"] = member
    return flat


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ". ".join(filter(None, map(_words, cast("Mapping[str, object]", value).values())))
    return str(value)


def _rank(query_vector: Sequence[float], facts: Iterable[Fact]) -> list[tuple[Fact, float | None]]:
    """Sort facts by their best vector. Facts without vectors come last, without a score."""
    scored = [
        (fact, max((_cosine(query_vector, vector) for vector in fact.metadata.get(_VECTORS, ())), default=None))
        for fact in facts
    ]
    return sorted(scored, key=lambda pair: -2.0 if pair[1] is None else pair[1], reverse=True)


def _cosine(first: Sequence[float], second: Sequence[float]) -> float:
    length = math.hypot(*first) * math.hypot(*second)
    return sum(map(mul, first, second)) / length if length else 0.0


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(expected in (_ANY, label) for expected, label in zip(path, labels, strict=True))


def _expiry(ttl: float | None) -> datetime | None:
    return None if ttl is None else datetime.now(UTC) + timedelta(minutes=ttl)


def _is_expired(fact: Fact) -> bool:
    return fact.expires_at is not None and fact.expires_at <= datetime.now(UTC)


def _tag(namespace: tuple[str, ...]) -> str:
    return _short(_OWN + _path(namespace))


def _id(namespace: tuple[str, ...], key: str) -> str:
    return _short(f"{_path(namespace)}/{_escape(key)}")


def _path(namespace: tuple[str, ...]) -> str:
    return ".".join(map(_escape, namespace))  # LangGraph rejects periods in a namespace


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _short(name: str) -> str:
    """Return the name for a fact or a tag, or its digest if it is too long or not printable."""
    if len(name) <= _MAX_NAME and name.isprintable():
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
