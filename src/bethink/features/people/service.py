"""Finds, exports and deletes data about a person, matched by speaker, name in text, or subject of facts."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Self

from bethink.base.language.names import Names
from bethink.errors import DatabaseUnavailableError, LegalHoldError, NotFoundError
from bethink.extend import Redactor
from bethink.features.people import operations
from bethink.features.people.records import (
    PersonDeletion,
    PersonInSpace,
    PersonItem,
    PersonItems,
    PersonMatches,
    PersonMatchKind,
    SpaceDeletion,
)
from bethink.memory.deletion.forget import ForgetService, requester_of
from bethink.memory.deletion.plan import Step
from bethink.memory.registry import Host, InSpace, handles, handles_across
from bethink.model.access import caller
from bethink.model.erasures import OTHERS, THREAD
from bethink.model.operations.base import Operation
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.records import Deletion
from bethink.model.refs import Ref, RefKind
from bethink.store import jobs, people
from bethink.store.db import NO_LIMIT, Database, Tx
from bethink.store.people import StoredText

_COUNT_FIELDS = {
    RefKind.MESSAGE: "messages", RefKind.FACT: "facts", RefKind.SESSION_SUMMARY: "session_summaries",
    RefKind.DOCUMENT: "documents", THREAD: "threads",
    **dict.fromkeys(OTHERS, "others"),
}  # fmt: skip
Run = Callable[[Operation[Any, Any], str, Any], Awaitable[Any]]
"""Runs an operation in a space, recorded like any other call."""
PersonRequest = operations.FindPersonRequest | operations.ExportPersonRequest | operations.ForgetPersonRequest
Mentions = dict[tuple[str, str], "_Mention"]


class _Mention:
    """An item that mentions a person: its newest matching number (all for messages), and the ways it matches."""

    def __init__(self) -> None:
        self.numbers: dict[int, None] = {}
        self.ways: dict[PersonMatchKind, int] = dict.fromkeys(PersonMatchKind, 0)


def mentions(
    tx: Tx, request: PersonRequest, *, space: str, redactor: Redactor
) -> Iterator[tuple[StoredText, tuple[PersonMatchKind, ...]]]:
    """Yield every text of a space that mentions a person, with the ways it matches."""
    given_names = (request.name, *request.aliases)
    names = Names((*given_names, *map(redactor.redact, given_names)))  # stored names are redacted
    matchers: dict[PersonMatchKind, Callable[[StoredText], bool]] = {
        PersonMatchKind.SPEAKER: lambda entry: names.includes(entry.speaker),
        PersonMatchKind.WORDS: lambda entry: names.in_text(entry.text) or names.in_text(entry.more),
        PersonMatchKind.ENTITIES: lambda entry: any(map(names.includes, entry.about)),
    }
    for kind in people.KINDS:
        for entry in people.texts(tx, kind, space=space):
            ways = tuple(way for way in request.match if matchers[way](entry))
            if ways:
                yield entry, ways


def find_mentions(tx: Tx, request: PersonRequest, *, space: str, redactor: Redactor) -> Mentions:
    """Return items that mention a person, by kind and id."""
    result: Mentions = {}
    for entry, ways in mentions(tx, request, space=space, redactor=redactor):
        mention = result.setdefault((entry.kind, entry.id), _Mention())
        new = entry.kind == RefKind.MESSAGE or not mention.numbers
        mention.numbers[entry.number] = None
        for way in ways:
            mention.ways[way] += 1 if new else not mention.ways[way]
    return result


def steps_of(mentions_by_id: Mentions) -> list[Step]:
    """Return deletion steps for the mentions, messages first."""
    return [
        Step(kind, name, tuple(mention.numbers) if kind == RefKind.MESSAGE else ())
        for (kind, name), mention in mentions_by_id.items()
    ]


class PeopleService:
    """Handles the operations on people. Calls `run` for each space, so that each call is recorded."""

    def __init__(self, database: Database, *, redactor: Redactor, forgetting: ForgetService, run: Run) -> None:
        self._database = database
        self._redactor = redactor
        self._forgetting = forgetting
        self._run = run

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls(host.database, redactor=host.redactor, forgetting=ForgetService.from_host(host), run=host.run)

    @handles(operations.FIND_IN_SPACE)
    async def find_in_space(self, space: str, request: operations.FindPersonRequest) -> PersonInSpace:
        """Count and list the data about a person in a space."""
        mentions_by_id = await self._find_mentions(space, request)
        counts = dict.fromkeys(_COUNT_FIELDS.values(), 0)
        ways = dict.fromkeys(PersonMatchKind, 0)
        refs: list[Ref] = []
        for (kind, name), mention in mentions_by_id.items():
            counts[_COUNT_FIELDS[kind]] += len(mention.numbers) if kind == RefKind.MESSAGE else 1
            for way, count in mention.ways.items():
                ways[way] += count
            numbers = mention.numbers if kind == RefKind.MESSAGE else (max(mention.numbers),)
            refs += [Ref(RefKind(kind), name, number) for number in numbers if kind not in (THREAD, *OTHERS)]
        threads = tuple(name for kind, name in mentions_by_id if kind == THREAD)
        others = tuple(f"{kind}:{name}" for kind, name in mentions_by_id if kind in OTHERS)
        return PersonInSpace(
            space=space,
            **counts,
            speaker=ways[PersonMatchKind.SPEAKER],
            words=ways[PersonMatchKind.WORDS],
            entities=ways[PersonMatchKind.ENTITIES],
            refs=tuple(refs[: request.limit]),
            thread_ids=threads[: request.limit],
            other_ids=others[: request.limit],
        )

    async def _find_mentions(self, space: str, request: PersonRequest) -> Mentions:
        return await self._database.transact(
            lambda tx: find_mentions(tx, request, space=space, redactor=self._redactor), space=space, read_only=True
        )

    @handles(operations.EXPORT_FROM_SPACE)
    async def export_from_space(self, space: str, request: operations.ExportPersonRequest) -> PersonItems:
        """Return a page of the texts of a space that mention a person."""
        cursor = read_cursor(request.after, str, int)
        skip = 0 if cursor is None or cursor[0] != space else int(cursor[1])

        def body(tx: Tx) -> list[PersonItem]:
            matches = mentions(tx, request, space=space, redactor=self._redactor)
            return [_item(space, *match) for match in islice(matches, skip, skip + request.limit + 1)]

        items = await self._database.transact(body, space=space, read_only=True)
        more = len(items) > request.limit
        end = cursor_of(space, skip + request.limit) if more else ""
        return PersonItems(items=tuple(items[: request.limit]), next=end)

    @handles(operations.FORGET_IN_SPACE)
    async def forget_in_space(self, space: str, request: operations.ForgetPersonRequest) -> SpaceDeletion:
        """Find and delete the data about a person in a space, as one recorded erasure."""
        steps = steps_of(await self._find_mentions(space, request))
        if request.dry_run:
            return SpaceDeletion(space=space, deletion=await self._forgetting.preview(space, lambda _: steps))
        requester = requester_of(None, reason=request.reason)
        try:
            deletion = await self._forgetting.erase(space, lambda _: (steps, requester) if steps else None)
        except NotFoundError:  # another process deleted it in the meantime
            deletion = None
        return SpaceDeletion(space=space, deletion=deletion or Deletion())

    @handles(operations.FIND_PERSON)
    async def find(self, space: str, request: operations.FindPersonRequest) -> PersonMatches:
        """Find a person in every space that the caller can access."""
        del space
        return await find_across(request, await self._in_spaces())

    @handles(operations.EXPORT_PERSON)
    async def export(self, space: str, request: operations.ExportPersonRequest) -> PersonItems:
        """Return the texts that mention a person, space by space."""
        del space
        return await export_across(request, await self._in_spaces())

    @handles(operations.FORGET_PERSON)
    async def forget(self, space: str, request: operations.ForgetPersonRequest) -> PersonDeletion:
        """Delete all data about a person. Spaces under a legal hold are skipped and reported."""
        del space
        return await forget_across(request, await self._in_spaces())

    async def _in_spaces(self) -> list[InSpace]:
        """Return the spaces that the caller can access, in order."""
        names = await self._database.transact(lambda tx: jobs.spaces(tx, limit=NO_LIMIT, after=""), read_only=True)
        key = caller.get().key
        visible = names if key is None else [name for name in names if key.allows_space(name)]
        return [InSpace(name=name, run=partial(self._run_in, name)) for name in visible]

    async def _run_in(self, space: str, operation: Operation[Any, Any], request: Any) -> Any:
        return await self._run(operation, space, request)


@handles_across(operations.FIND_PERSON)
async def find_across(request: operations.FindPersonRequest, spaces: Sequence[InSpace]) -> PersonMatches:
    """Find a person in several spaces."""
    results: list[PersonInSpace] = [await space.run(operations.FIND_IN_SPACE, request) for space in spaces]
    matches = tuple(result for result in results if result.total)
    return PersonMatches(spaces=matches, matched_by=request.match, spaces_searched=len(results))


@handles_across(operations.EXPORT_PERSON)
async def export_across(request: operations.ExportPersonRequest, spaces: Sequence[InSpace]) -> PersonItems:
    """Return a page of the texts that mention a person, space by space."""
    cursor = read_cursor(request.after, str, int)
    items: list[PersonItem] = []
    for space in spaces:
        if cursor is not None and space.name < str(cursor[0]):
            continue
        remaining = request.limit - len(items)
        page = PersonItems(next=cursor_of(space.name, 0))
        if remaining:
            page = await space.run(operations.EXPORT_FROM_SPACE, replace(request, limit=remaining))
        items += page.items
        if page.next:
            _check_stored_once(space.name, spaces)
            return PersonItems(items=tuple(items), next=page.next)
    return PersonItems(items=tuple(items))


def _check_stored_once(name: str, spaces: Sequence[InSpace]) -> None:
    """Raise if a page would end in a space stored in two databases: its cursor would be ambiguous."""
    if sum(space.name == name for space in spaces) > 1:
        raise DatabaseUnavailableError(
            f"Space {name!r} is stored in two databases, so a page cannot end there.",
            hint="Pass a larger `limit`, or export from each database.",
        )


@handles_across(operations.FORGET_PERSON)
async def forget_across(request: operations.ForgetPersonRequest, spaces: Sequence[InSpace]) -> PersonDeletion:
    """Delete data about a person in several spaces. Spaces under a legal hold are skipped and reported."""
    erased: list[SpaceDeletion] = []
    for space in spaces:
        try:
            result: SpaceDeletion = await space.run(operations.FORGET_IN_SPACE, request)
        except LegalHoldError as error:
            query = operations.FindPersonRequest(name=request.name, aliases=request.aliases, match=request.match)
            matches: PersonInSpace = await space.run(operations.FIND_IN_SPACE, query)
            if not matches.total:
                continue
            result = SpaceDeletion(space=space.name, refused=str(error))
        if result.refused or any(getattr(result.deletion, count) for count in _COUNT_FIELDS.values()):
            erased.append(result)
    return PersonDeletion(
        spaces=tuple(erased), matched_by=request.match, spaces_searched=len(spaces), dry_run=request.dry_run
    )  # fmt: skip


def _item(space: str, entry: StoredText, ways: tuple[PersonMatchKind, ...]) -> PersonItem:
    return PersonItem(
        space=space,
        kind=entry.kind,
        id=entry.id,
        number=entry.number,
        matched_by=ways,
        at=entry.at,
        speaker=entry.speaker,
        text=entry.text,
    )
