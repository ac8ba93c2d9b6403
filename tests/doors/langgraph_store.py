"""LangGraph's store on a space: each item is a fact, its namespaces are tags, and its value is metadata."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

import bethink
from bethink.errors import NotFound
from bethink.model.recall import Ref, RefKind

_VALUE, _NAMESPACE, _KEY = "#value", "#namespace", "#key"
_PAGE = 1_000
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class BethinkStore(BaseStore):
    """The items of one space. Filters and searches run in the database."""

    def __init__(self, space: bethink.Space) -> None:
        self._space = space

    def batch(self, ops: Iterable[Any]) -> list[Result]:
        raise NotImplementedError("use the async methods")

    async def abatch(self, ops: Iterable[Any]) -> list[Result]:
        return [await self._one(op) for op in ops]

    async def _one(self, op: Any) -> Any:
        match op:
            case GetOp():
                return await self._get(op)
            case PutOp():
                return await self._put(op)
            case SearchOp():
                return await self._search(op)
            case ListNamespacesOp():
                return sorted({_namespace(fact) for fact in await self._all({})})[op.offset : op.offset + op.limit]
            case _:
                raise NotImplementedError(str(op))

    async def _get(self, op: GetOp) -> Item | None:
        try:
            fact = await self._space.facts.get(_id(op.namespace, op.key))
        except NotFound:
            return None
        return Item(**_fields(fact))

    async def _put(self, op: PutOp) -> None:
        name = _id(op.namespace, op.key)
        if op.value is None:
            try:
                await self._space.forget(Ref(RefKind.FACT, name))
            except NotFound:
                return
            return
        value = cast("dict[str, Any]", op.value)
        about = {_VALUE: value, _NAMESPACE: list(op.namespace), _KEY: op.key}
        tags = tuple(f"ns:{_path(op.namespace[:depth])}" for depth in range(len(op.namespace) + 1))
        fact = bethink.Fact(id=name, content=_words(value), tags=tags, metadata={**_flat(value), **about})
        try:
            before = await self._space.facts.get(name)
            fact = replace(fact, created_at=before.created_at)
        except NotFound:
            pass
        await self._space.facts.save(fact)

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        only: dict[str, Any] = {"tags": [f"ns:{_path(op.namespace_prefix)}"], "where": where_of(op.filter or {})}
        last = op.offset + op.limit
        if op.query:
            found = await self._space.recall(op.query, kinds=[RefKind.FACT], limit=last, **only)
            scored = [(item.fact, item.score) for item in found.items if item.fact is not None]
            return [SearchItem(**_fields(fact), score=score) for fact, score in scored[op.offset :]]
        return [SearchItem(**_fields(fact)) for fact in (await self._all(only))[op.offset : last]]

    async def _all(self, only: Mapping[str, Any]) -> list[bethink.Fact]:
        found: list[bethink.Fact] = []
        while page := await self._space.facts.all(limit=_PAGE, after=found[-1].id if found else "", **only):
            found += page
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


def _path(namespace: tuple[str, ...]) -> str:
    return ".".join(namespace)  # LangGraph refuses periods in a namespace


def _id(namespace: tuple[str, ...], key: str) -> str:
    return f"{_path(namespace)}/{key}"


def _namespace(fact: bethink.Fact) -> tuple[str, ...]:
    return tuple(fact.metadata[_NAMESPACE])


def _fields(fact: bethink.Fact) -> dict[str, Any]:
    return {
        "value": fact.metadata[_VALUE],
        "key": fact.metadata[_KEY],
        "namespace": _namespace(fact),
        "created_at": fact.created_at or _NEVER,
        "updated_at": fact.recorded_at or _NEVER,
    }
