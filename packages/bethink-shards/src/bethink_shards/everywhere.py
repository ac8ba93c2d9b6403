"""Operations on all spaces: run in all shards, or space by space, and merged as the operation declares."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio

from bethink.errors import Moved, Unavailable
from bethink.extensions.backends import (
    LIST_SPACES,
    InSpace,
    ListSpacesRequest,
    LocalBackend,
    RequestT,
    ResultT,
    Verb,
    across,
)
from bethink_shards.directory import Place

Run = Callable[[Verb[Any, Any], str, Any], Awaitable[Any]]
FindPlace = Callable[[str], Awaitable[Place | None]]
_PAGE = 1_000


async def ask_everywhere(
    verb: Verb[RequestT, ResultT], request: RequestT, shards: Mapping[str, LocalBackend], *, run: Run, place: FindPlace
) -> ResultT:
    """Run an operation that concerns all spaces. `run` finds the shard of a space, and `place` says which one it is.

    Raises `Unavailable` for an operation that does not declare how results are merged.
    """
    by_space = across(verb)
    if by_space is not None:
        return await by_space(request, await _spaces(shards, run, place))
    if len(shards) == 1:
        [only] = shards.values()
        return await only.run(verb, "", request)
    if verb.merge is None:
        raise Unavailable(
            f"{verb.name} cannot be asked of several shards together.", hint="Connect to the address of one shard."
        )
    return verb.merge(request, await _results(verb, request, shards))


async def _results(
    verb: Verb[RequestT, ResultT], request: RequestT, shards: Mapping[str, LocalBackend]
) -> list[ResultT]:
    results: dict[str, ResultT] = {}

    async def ask(name: str) -> None:
        results[name] = await shards[name].run(verb, "", request)

    try:
        async with anyio.create_task_group() as tasks:
            for name in shards:
                tasks.start_soon(ask, name)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [results[name] for name in shards]


async def _spaces(shards: Mapping[str, LocalBackend], run: Run, place: FindPlace) -> list[InSpace]:
    """Return every space of every shard, and how to run an operation there.

    A shard may have a space that the directory does not know, or knows elsewhere: a program wrote it through the
    address of the shard. It counts as well, or data about a person would stay unseen there.
    """
    spaces: list[InSpace] = []
    for shard, local in shards.items():
        after = ""
        while names := await local.run(LIST_SPACES, "", ListSpacesRequest(limit=_PAGE, after=after)):
            after = names[-1]
            for name in names:
                location = await place(name)
                is_placed = location is not None and location.shard == shard
                run_in = partial(_run_in, name, run) if is_placed else partial(_run_stray, name, local.run, run)
                spaces.append(InSpace(name=name, run=run_in))
    return sorted(spaces, key=lambda space: space.name)


async def _run_in(space: str, run: Run, verb: Verb[Any, Any], request: Any) -> Any:
    return await run(verb, space, request)


async def _run_stray(space: str, run: Run, follow: Run, verb: Verb[Any, Any], request: Any) -> Any:
    """Run an operation in a space that is not where the directory has it; if it just moved away, follow it."""
    try:
        return await run(verb, space, request)
    except Moved:
        return await follow(verb, space, request)
