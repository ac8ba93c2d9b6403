"""Verbs that concern all spaces: asked of each cell at once, or of each space where it is, and put together."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import anyio

from bethink.base.frozen import frozen
from bethink.cells.directory import Place
from bethink.errors import Moved, Unavailable, UnderLegalHold
from bethink.features.people import operations as people
from bethink.features.people.records import (
    ErasedInSpace,
    PersonErased,
    PersonFound,
    PersonInSpace,
    PersonItem,
    PersonItems,
)
from bethink.features.retention import operations as retention
from bethink.host.backend import LocalBackend
from bethink.model.jobs import Audit, JobKind, JobStatus, RunReport, Spending, SpendingBy
from bethink.model.operations import erasures
from bethink.model.operations import installation as service
from bethink.model.operations import monitoring as operations
from bethink.model.operations.base import RequestT, ResultT, Verb
from bethink.model.operations.installation import ListSpacesRequest
from bethink.model.summaries import Counters

Run = Callable[[Verb[Any, Any], str, Any], Awaitable[Any]]
Merge = Callable[[Any, Sequence[Any]], Any]
Counts = Mapping[JobKind, Mapping[JobStatus, int]]
FindPlace = Callable[[str], Awaitable[Place | None]]
_PAGE = 1_000


@frozen
class Held:
    """A space as one cell holds it, and how to ask it there."""

    space: str
    run: Run


async def ask_everywhere(
    verb: Verb[RequestT, ResultT], request: RequestT, cells: Mapping[str, LocalBackend], *, run: Run, place: FindPlace
) -> ResultT:
    """Carry out a verb that concerns all spaces. `run` carries one out in the cell where `place` finds its space.

    Raises `Unavailable` for a verb whose answers cannot be put together.
    """
    if isinstance(request, retention.LiftRequest):
        return await run(verb, request.space, request)
    if verb.name in _BY_SPACE:
        return await _BY_SPACE[verb.name](await _spaces(cells, run, place), request)
    if len(cells) == 1:
        [only] = cells.values()
        return await only.run(verb, "", request)
    merge = _MERGED.get(verb.name)
    if merge is None:
        raise Unavailable(
            f"{verb.name} cannot be asked of several cells together.", hint="Connect to the address of one cell."
        )
    return merge(request, await _each(verb, request, cells))


async def _each(verb: Verb[Any, Any], request: Any, cells: Mapping[str, LocalBackend]) -> list[Any]:
    answers: dict[str, Any] = {}

    async def ask(name: str) -> None:
        answers[name] = await cells[name].run(verb, "", request)

    try:
        async with anyio.create_task_group() as tasks:
            for name in cells:
                tasks.start_soon(ask, name)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [answers[name] for name in cells]


async def _spaces(cells: Mapping[str, LocalBackend], run: Run, place: FindPlace) -> list[Held]:
    """Return every space of every cell, and how to ask it there.

    A cell may hold a space that the directory does not know, or knows elsewhere: a program wrote it on the address of
    the cell. It is asked as well, or what it holds of a person would stay unseen.
    """
    held: list[Held] = []
    for cell, local in cells.items():
        after = ""
        while names := await local.run(service.LIST_SPACES, "", ListSpacesRequest(limit=_PAGE, after=after)):
            after = names[-1]
            for name in names:
                found = await place(name)
                known = found is not None and found.cell == cell
                held.append(Held(space=name, run=run if known else _unless_moving(local.run)))
    return sorted(held, key=lambda each: each.space)


def _unless_moving(run: Run) -> Run:
    """Ask a space that is not where the directory has it; if it moves from or to there, its own cell answers for it."""

    async def asked(verb: Verb[Any, Any], space: str, request: Any) -> Any:
        try:
            return await run(verb, space, request)
        except Moved:
            return _NOTHING[verb.name](space)

    return asked


async def _find_person(held: list[Held], request: people.FindPersonRequest) -> PersonFound:
    found: list[PersonInSpace] = [await each.run(people.FIND_IN_SPACE, each.space, request) for each in held]
    return PersonFound(
        spaces=tuple(each for each in found if each.total), looked=request.by, spaces_searched=len(found)
    )


async def _export_person(held: list[Held], request: people.ExportPersonRequest) -> PersonItems:
    if request.after:
        raise Unavailable("a person's texts in several cells have no pages.", hint="Give a larger limit.")
    items: list[PersonItem] = []
    for each in held:
        page: PersonItems = await each.run(people.EXPORT_FROM_SPACE, each.space, replace(request, limit=request.limit))
        items += page.items
        if page.next is not None or len(items) > request.limit:
            raise Unavailable(f"there are more than {request.limit} texts.", hint="Ask for one space at a time.")
    return PersonItems(items=tuple(items))


async def _forget_person(held: list[Held], request: people.ForgetPersonRequest) -> PersonErased:
    done: list[ErasedInSpace] = []
    for each in held:
        look = people.FindPersonRequest(name=request.name, aliases=request.aliases, by=request.by)
        found: PersonInSpace = await each.run(people.FIND_IN_SPACE, each.space, look)
        if not found.total:
            continue
        try:
            done.append(await each.run(people.FORGET_IN_SPACE, each.space, request))
        except UnderLegalHold as error:
            done.append(ErasedInSpace(space=each.space, refused=str(error)))
    return PersonErased(spaces=tuple(done), looked=request.by, spaces_searched=len(held), dry_run=request.dry_run)


_BY_SPACE: dict[str, Callable[[list[Held], Any], Awaitable[Any]]] = {
    people.FIND_PERSON.name: _find_person,
    people.EXPORT_PERSON.name: _export_person,
    people.FORGET_PERSON.name: _forget_person,
}
_NOTHING: dict[str, Callable[[str], Any]] = {
    people.FIND_IN_SPACE.name: lambda space: PersonInSpace(space=space),
    people.EXPORT_FROM_SPACE.name: lambda _: PersonItems(items=()),
    people.FORGET_IN_SPACE.name: lambda space: ErasedInSpace(space=space),
}
"""What a space answers that has nothing of a person."""


def _names(request: ListSpacesRequest, answers: Sequence[list[str]]) -> list[str]:
    return sorted({name for each in answers for name in each})[: request.limit]


def _learnt(request: object, answers: Sequence[RunReport]) -> RunReport:
    del request
    report = RunReport()
    for each in answers:
        held = report.held
        report.add(each)
        report.held = report.held or held
    return report


def _counted(every: Sequence[Counts]) -> dict[JobKind, dict[JobStatus, int]]:
    found: dict[JobKind, Counter[JobStatus]] = {}
    for counts in every:
        for kind, statuses in counts.items():
            found.setdefault(kind, Counter()).update(statuses)
    return {kind: dict(statuses) for kind, statuses in found.items()}


def _audited(request: object, answers: Sequence[Audit]) -> Audit:
    del request
    return Audit(
        counts=_counted([each.counts for each in answers]),
        overdue=sum(each.overdue for each in answers),
        abandoned=sum(each.abandoned for each in answers),
        facts_without_source=sum(each.facts_without_source for each in answers),
        broken_sessions=sum(each.broken_sessions for each in answers),
        spaces_checked=sum(each.spaces_checked for each in answers),
        spent_today=reduce(lambda one, other: one + other, (each.spent_today for each in answers)),
        daily_cap=answers[0].daily_cap,
        violations=sum(each.violations for each in answers),
    )


def _counters(request: object, answers: Sequence[Counters]) -> Counters:
    del request
    return Counters(jobs=_counted([each.jobs for each in answers]), held=min(1_000, sum(each.held for each in answers)))


def _spent(request: operations.SpendingRequest, answers: Sequence[list[Spending]]) -> list[Spending]:
    found: dict[tuple[Any, str], Spending] = {}
    order: list[tuple[Any, str]] = []
    for each in (entry for answer in answers for entry in answer):
        key = (each.day, each.name)
        before = found.get(key)
        found[key] = each if before is None else replace(each, usage=before.usage + each.usage)
        order += [] if before is not None else [key]
    by_day = sorted((found[key] for key in order), key=lambda each: (each.day, -each.usage.cost, each.name))
    if request.by is not SpendingBy.SPACE:
        return by_day
    taken: Counter[Any] = Counter()
    kept: list[Spending] = []
    for each in by_day:
        taken[each.day] += 1
        kept += [each] if taken[each.day] <= request.limit else []
    return kept


def _holds(request: retention.HoldsRequest, answers: Sequence[list[Any]]) -> list[Any]:
    every = {(hold.space, hold.id): hold for each in answers for hold in each}
    return sorted(every.values(), key=lambda hold: hold.placed_at, reverse=True)[: request.limit]


_MERGED: dict[str, Merge] = {
    service.LIST_SPACES.name: _names,
    service.LEARN.name: _learnt,
    service.AUDIT.name: _audited,
    operations.COUNTERS.name: _counters,
    operations.SPENDING.name: _spent,
    operations.SETTINGS.name: lambda _, answers: answers[0],
    retention.ALL_HOLDS.name: _holds,
    erasures.OPEN_ERASURES.name: lambda _, answers: replace(
        answers[0], waiting=tuple(each for answer in answers for each in answer.waiting)
    ),
}
"""How the answers of all cells become one."""
