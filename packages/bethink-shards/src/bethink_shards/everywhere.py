"""Runs operations on all spaces: in all shards or space by space, with merged results."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio

from bethink.errors import DatabaseUnavailableError, SpaceMovedError
from bethink.extensions.backends import (
    LIST_SPACES,
    InSpace,
    ListSpacesRequest,
    LocalBackend,
    Operation,
    RequestT,
    ResultT,
    across,
)
from bethink_shards.directory import Placement

Run = Callable[[Operation[Any, Any], str, Any], Awaitable[Any]]
FindPlacement = Callable[[str], Awaitable[Placement | None]]
_PAGE = 1_000


async def run_everywhere(
    operation: Operation[RequestT, ResultT],
    request: RequestT,
    shards: Mapping[str, LocalBackend],
    *,
    run: Run,
    find_placement: FindPlacement,
) -> ResultT:
    """Run an operation on all spaces. `run` runs it in the shard of a space, and `find_placement` returns the shard.

    Raises `DatabaseUnavailableError` for an operation without a merge function.
    """
    by_space = across(operation)
    if by_space is not None:
        return await by_space(request, await _spaces(shards, run, find_placement))
    if len(shards) == 1:
        [backend] = shards.values()
        return await backend.run(operation, "", request)
    if operation.merge is None:
        raise DatabaseUnavailableError(
            f"{operation.name} does not support several shards.", hint="Connect to the address of one shard."
        )
    return operation.merge(request, await _results(operation, request, shards))


async def _results(
    operation: Operation[RequestT, ResultT], request: RequestT, shards: Mapping[str, LocalBackend]
) -> list[ResultT]:
    results: dict[str, ResultT] = {}

    async def run_in_shard(name: str) -> None:
        results[name] = await shards[name].run(operation, "", request)

    try:
        async with anyio.create_task_group() as tasks:
            for name in shards:
                tasks.start_soon(run_in_shard, name)
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    return [results[name] for name in shards]


async def _spaces(shards: Mapping[str, LocalBackend], run: Run, find_placement: FindPlacement) -> list[InSpace]:
    """Return all spaces of all shards, with functions that run operations there.

    A shard may have a space that the directory does not list there, if a program wrote to the shard directly. Such
    spaces are included, so that no data about a person is missed.
    """
    spaces: list[InSpace] = []
    for shard, local in shards.items():
        for name in await _names(local):
            placement = await find_placement(name)
            is_placed = placement is not None and placement.shard == shard
            run_in = partial(_run_in, name, run) if is_placed else partial(_run_stray, name, local.run, run)
            spaces.append(InSpace(name=name, run=run_in))
    return sorted(spaces, key=lambda space: space.name)


async def _names(local: LocalBackend) -> list[str]:
    names: list[str] = []
    after = ""
    while True:
        page = await local.run(LIST_SPACES, "", ListSpacesRequest(limit=_PAGE, after=after))
        names += [space.name for space in page]
        if not page.next:
            return names
        after = page.next


async def _run_in(space: str, run: Run, operation: Operation[Any, Any], request: Any) -> Any:
    return await run(operation, space, request)


async def _run_stray(space: str, run: Run, follow: Run, operation: Operation[Any, Any], request: Any) -> Any:
    """Run an operation in a space that the directory lists elsewhere. If it just moved, follow it."""
    try:
        return await run(operation, space, request)
    except SpaceMovedError:
        return await follow(operation, space, request)
