"""Finds, exports and forgets a person: by speaker, by name as whole words, and by whom facts are about."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Self

from bethink.base.language.names import Names
from bethink.errors import NotFound, Unavailable, UnderLegalHold
from bethink.extend import Redactor
from bethink.features.people import operations as verbs
from bethink.features.people.records import (
    ErasedInSpace,
    PersonErased,
    PersonFound,
    PersonInSpace,
    PersonItem,
    PersonItems,
    PersonWay,
)
from bethink.memory.deletion.forget import ForgetService, asker
from bethink.memory.deletion.plan import Step
from bethink.memory.registry import Host, InSpace, handles, handles_across
from bethink.model.access import caller
from bethink.model.erasures import OTHERS, THREAD
from bethink.model.operations.base import Verb
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Forgotten
from bethink.store import jobs, people
from bethink.store.db import NO_LIMIT, Database, Tx
from bethink.store.people import StoredText

_COUNTED = {
    RefKind.MESSAGE: "messages", RefKind.FACT: "facts", RefKind.SESSION_MEMORY: "session_memories",
    RefKind.DOCUMENT: "documents", THREAD: "threads",
    **dict.fromkeys(OTHERS, "others"),
}  # fmt: skip
Run = Callable[[Verb[Any, Any], str, Any], Awaitable[Any]]
"""Carries out a verb in a space, recorded as any other call."""
PersonRequest = verbs.FindPersonRequest | verbs.ExportPersonRequest | verbs.ForgetPersonRequest
Found = dict[tuple[str, str], "_Mention"]


class _Mention:
    """Something that names a person: its newest number that does, of messages all of them, and in which ways."""

    def __init__(self) -> None:
        self.numbers: dict[int, None] = {}
        self.ways: dict[PersonWay, int] = dict.fromkeys(PersonWay, 0)


def mentions(
    tx: Tx, request: PersonRequest, *, space: str, redactor: Redactor
) -> Iterator[tuple[StoredText, tuple[PersonWay, ...]]]:
    """Yield every text of a space that names a person, with the ways in which it does."""
    given = (request.name, *request.aliases)
    names = Names((*given, *map(redactor.redact, given)))  # names are redacted where they are stored
    looks: dict[PersonWay, Callable[[StoredText], bool]] = {
        PersonWay.SPEAKER: lambda each: names.is_one(each.speaker),
        PersonWay.WORDS: lambda each: names.in_text(each.text) or names.in_text(each.more),
        PersonWay.ENTITIES: lambda each: any(map(names.is_one, each.about)),
    }
    for kind in people.KINDS:
        for each in people.texts(tx, kind, space=space):
            ways = tuple(way for way in request.by if looks[way](each))
            if ways:
                yield each, ways


def found_in(tx: Tx, request: PersonRequest, *, space: str, redactor: Redactor) -> Found:
    """Return what names a person, by kind and id."""
    found: Found = {}
    for each, ways in mentions(tx, request, space=space, redactor=redactor):
        mention = found.setdefault((each.kind, each.id), _Mention())
        new = each.kind == RefKind.MESSAGE or not mention.numbers
        mention.numbers[each.number] = None
        for way in ways:
            mention.ways[way] += 1 if new else not mention.ways[way]
    return found


def steps_of(found: Found) -> list[Step]:
    """Return what is to be forgotten of what was found, messages first."""
    return [
        Step(kind, name, tuple(mention.numbers) if kind == RefKind.MESSAGE else ())
        for (kind, name), mention in found.items()
    ]


class PeopleService:
    """Carries out the verbs of people. `run` is asked for each space, so that each is recorded by itself."""

    def __init__(self, database: Database, *, redactor: Redactor, forgetting: ForgetService, run: Run) -> None:
        self._database = database
        self._redactor = redactor
        self._forgetting = forgetting
        self._run = run

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor, forgetting=ForgetService.of(host), run=host.run)

    @handles(verbs.FIND_IN_SPACE)
    async def find_in_space(self, space: str, request: verbs.FindPersonRequest) -> PersonInSpace:
        """Count and name what a space holds of a person."""
        found = await self._found(space, request)
        counts = dict.fromkeys(_COUNTED.values(), 0)
        ways = dict.fromkeys(PersonWay, 0)
        refs: list[Ref] = []
        for (kind, name), mention in found.items():
            counts[_COUNTED[kind]] += len(mention.numbers) if kind == RefKind.MESSAGE else 1
            for way, count in mention.ways.items():
                ways[way] += count
            numbers = mention.numbers if kind == RefKind.MESSAGE else (max(mention.numbers),)
            refs += [Ref(RefKind(kind), name, number) for number in numbers if kind not in (THREAD, *OTHERS)]
        threads = tuple(name for kind, name in found if kind == THREAD)
        others = tuple(f"{kind}:{name}" for kind, name in found if kind in OTHERS)
        return PersonInSpace(
            space=space,
            **counts,
            speaker=ways[PersonWay.SPEAKER],
            words=ways[PersonWay.WORDS],
            entities=ways[PersonWay.ENTITIES],
            refs=tuple(refs[: request.limit]),
            thread_ids=threads[: request.limit],
            other_ids=others[: request.limit],
        )

    async def _found(self, space: str, request: PersonRequest) -> Found:
        return await self._database.transact(
            lambda tx: found_in(tx, request, space=space, redactor=self._redactor), space=space, read=True
        )

    @handles(verbs.EXPORT_FROM_SPACE)
    async def export_from_space(self, space: str, request: verbs.ExportPersonRequest) -> PersonItems:
        """Return the texts of a space that name a person, after where the last page ended."""
        place = read_cursor(request.after, str, int)
        skip = 0 if place is None or place[0] != space else int(place[1])

        def body(tx: Tx) -> list[PersonItem]:
            every = mentions(tx, request, space=space, redactor=self._redactor)
            return [_item(space, *each) for each in islice(every, skip, skip + request.limit + 1)]

        items = await self._database.transact(body, space=space, read=True)
        more = len(items) > request.limit
        end = cursor_of(space, skip + request.limit) if more else None
        return PersonItems(items=tuple(items[: request.limit]), next=end)

    @handles(verbs.FORGET_IN_SPACE)
    async def forget_in_space(self, space: str, request: verbs.ForgetPersonRequest) -> ErasedInSpace:
        """Erase what a space holds of a person: it is looked for first, and recorded as one erasure."""
        steps = steps_of(await self._found(space, request))
        if request.dry_run:
            return ErasedInSpace(space=space, went=await self._forgetting.would(space, lambda _: steps))
        asked = asker(None, reason=request.reason)
        try:
            went = await self._forgetting.erase(space, lambda _: (steps, asked) if steps else None)
        except NotFound:  # somebody else erased it meanwhile
            went = None
        return ErasedInSpace(space=space, went=went or Forgotten())

    @handles(verbs.FIND_PERSON)
    async def find(self, space: str, request: verbs.FindPersonRequest) -> PersonFound:
        """Look for a person in every space that the caller may see."""
        del space
        return await find_across(request, await self._in_spaces())

    @handles(verbs.EXPORT_PERSON)
    async def export(self, space: str, request: verbs.ExportPersonRequest) -> PersonItems:
        """Return the texts that name a person, space by space."""
        del space
        return await export_across(request, await self._in_spaces())

    @handles(verbs.FORGET_PERSON)
    async def forget(self, space: str, request: verbs.ForgetPersonRequest) -> PersonErased:
        """Erase what is held of a person. A space under a legal hold is left, and named."""
        del space
        return await forget_across(request, await self._in_spaces())

    async def _in_spaces(self) -> list[InSpace]:
        """Return the spaces that the caller may see, in order."""
        names = await self._database.transact(lambda tx: jobs.spaces(tx, limit=NO_LIMIT, after=""), read=True)
        key = caller.get().key
        visible = names if key is None else [name for name in names if key.opens(name)]
        return [InSpace(name=name, run=partial(self._run_in, name)) for name in visible]

    async def _run_in(self, space: str, verb: Verb[Any, Any], request: Any) -> Any:
        return await self._run(verb, space, request)


@handles_across(verbs.FIND_PERSON)
async def find_across(request: verbs.FindPersonRequest, spaces: Sequence[InSpace]) -> PersonFound:
    """Look for a person in some spaces."""
    results: list[PersonInSpace] = [await space.run(verbs.FIND_IN_SPACE, request) for space in spaces]
    matches = tuple(result for result in results if result.total)
    return PersonFound(spaces=matches, looked=request.by, spaces_searched=len(results))


@handles_across(verbs.EXPORT_PERSON)
async def export_across(request: verbs.ExportPersonRequest, spaces: Sequence[InSpace]) -> PersonItems:
    """Return a page of the texts that name a person, space by space."""
    cursor = read_cursor(request.after, str, int)
    items: list[PersonItem] = []
    for space in spaces:
        if cursor is not None and space.name < str(cursor[0]):
            continue
        remaining = request.limit - len(items)
        page = PersonItems(next=cursor_of(space.name, 0))
        if remaining:
            page = await space.run(verbs.EXPORT_FROM_SPACE, replace(request, limit=remaining))
        items += page.items
        if page.next is not None:
            _check_stored_once(space.name, spaces)
            return PersonItems(items=tuple(items), next=page.next)
    return PersonItems(items=tuple(items))


def _check_stored_once(name: str, spaces: Sequence[InSpace]) -> None:
    """Refuse to end a page in a space of which two databases have a part: its cursor would fit both."""
    if sum(space.name == name for space in spaces) > 1:
        raise Unavailable(
            f"space {name!r} is stored in two databases, so a page cannot end there.",
            hint="Pass a larger limit, or export from each database.",
        )


@handles_across(verbs.FORGET_PERSON)
async def forget_across(request: verbs.ForgetPersonRequest, spaces: Sequence[InSpace]) -> PersonErased:
    """Erase what some spaces hold of a person. A space under a legal hold is left as it is, and named."""
    erased: list[ErasedInSpace] = []
    for space in spaces:
        try:
            result: ErasedInSpace = await space.run(verbs.FORGET_IN_SPACE, request)
        except UnderLegalHold as error:
            query = verbs.FindPersonRequest(name=request.name, aliases=request.aliases, by=request.by)
            matches: PersonInSpace = await space.run(verbs.FIND_IN_SPACE, query)
            if not matches.total:
                continue
            result = ErasedInSpace(space=space.name, refused=str(error))
        if result.refused or any(getattr(result.went, count) for count in _COUNTED.values()):
            erased.append(result)
    return PersonErased(
        spaces=tuple(erased), looked=request.by, spaces_searched=len(spaces), dry_run=request.dry_run
    )  # fmt: skip


def _item(space: str, each: StoredText, ways: tuple[PersonWay, ...]) -> PersonItem:
    return PersonItem(
        space=space,
        kind=each.kind,
        id=each.id,
        number=each.number,
        ways=ways,
        at=each.at,
        speaker=each.speaker,
        text=each.text,
    )
