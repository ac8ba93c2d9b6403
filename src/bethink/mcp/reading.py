"""The tools that read: compact lists first, and whole texts by their refs."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from bethink.api.connect import Memory
from bethink.api.space import Space
from bethink.errors import Invalid, NotFound
from bethink.host.codec import adapter
from bethink.mcp import find
from bethink.mcp.results import (
    CitedAnswer,
    Explanation,
    FetchedMemory,
    MemoryIndex,
    MemoryText,
    SearchHit,
    SearchHits,
    ShownEntry,
    VersionSpan,
)
from bethink.mcp.texts import (
    BODY_NOTE,
    LINE,
    IndexLine,
    about_fact,
    index,
    message_line,
    page,
    plain,
    quote_line,
    recalled_line,
    session_line,
    title_of,
)
from bethink.model.framing import framed, inert
from bethink.model.moments import iso
from bethink.model.operations.narrowing import NARROWING, Narrowed
from bethink.model.recall import Ref, RefKind

_BUDGET = 1_500
_ASK_BUDGET = 4_000
_MOST = 8_000
_FETCHED = 64_000
_REFS = 20

Ask = Annotated[str, Field(max_length=4_000, description="the question, in plain words")]
Name = Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result, or a document's path")]
Budget = Annotated[int, Field(ge=50, le=_MOST, description="how many tokens the result may take")]
AsOf = Annotated[str | None, Field(max_length=40, description="as known at this ISO 8601 day or time")]
Limit = Annotated[int, Field(ge=1, le=100)]
Kinds = Annotated[list[RefKind] | None, Field(description="only these kinds")]
Narrowing = Annotated[
    Mapping[str, Any],
    Field(
        description="narrow by origins, tags, agent, conversation, speaker, since, until, "
        'where: {"key": 1, "other": {"gte": 3}}'
    ),
]
"""What a request can be narrowed by, described in a line, and that in one tool: its whole schema would be in each."""
Only = Annotated[Mapping[str, Any], Field(description="as recall")]
ALL: Mapping[str, Any] = {}
Next = Annotated[str, Field(max_length=500, description="`next` of the previous page")]


class Reading:
    """The tools that read: `names` are the space of the caller, then those that it may ask, too."""

    def __init__(self, memory: Memory, names: Callable[[], Sequence[str]]) -> None:
        self._memory = memory
        self._names = names

    def _space(self) -> Space:
        return self._memory.space(self._names()[0])

    async def recall(
        self,
        question: Ask,
        limit: Limit = 10,
        budget: Budget = _BUDGET,
        as_of: AsOf = None,
        kinds: Kinds = None,
        *,
        only: Narrowing = ALL,
    ) -> MemoryIndex:
        """Find what memory holds on a question, the best first, one line each. Call it before you answer from memory.

        Lines may be cut: read_memory returns the whole text of a ref.
        """
        wanted = tuple(RefKind) if kinds is None else kinds
        names = self._names()
        asked = self._space() if len(names) == 1 else self._memory.spaces(*names)
        found = await asked.recall(question, limit=limit, budget=budget, as_of=as_of, kinds=wanted, **narrowed(only))
        noted = any(item.ref.kind is RefKind.MESSAGE and item.origin == "assistant" for item in found.items)
        sessions = await find.note_sessions(self._space()) if noted else ()
        lines = [recalled_line(item, is_note=item.ref.id in sessions) for item in found.items]
        return index(lines, budget=budget, missing=found.missing)

    async def ask(
        self, question: Ask, budget: Budget = _ASK_BUDGET, as_of: AsOf = None, *, only: Only = ALL
    ) -> CitedAnswer:
        """Have a question answered from memory, each sentence with the refs that say so; refused if memory lacks it.

        Another model reads what recall finds, so it costs more. Call recall to read it yourself.
        """
        answer = await self._space().ask(question, budget=budget, as_of=as_of, **narrowed(only))
        lines = [f"- {inert(each.text)} ({', '.join(each.refs)})" for each in answer.sentences]
        return CitedAnswer(
            memory=framed("\n".join(lines), note=BODY_NOTE),
            cited=[item.ref for item in answer.cited],
            refused=answer.refused,
            missing=answer.missing,
        )

    async def read_memory(self, ref: Name, offset: Annotated[int, Field(ge=0)] = 0) -> MemoryText:
        """Read one memory in full, by its ref, or a document by its path, such as ~/memory/people.

        A long text comes in parts: call again with next_offset.
        """
        read = await self._named(ref)
        text, following = page(read.text, offset)
        return MemoryText(
            ref=read.ref,
            kind=read.ref.kind,
            origin=read.origin,
            at=read.at,
            memory=text,
            path=read.path,
            superseded_by=read.superseded_by,
            next_offset=following,
        )

    async def list_memories(
        self,
        kind: Literal["all", "note", "document", "fact"] = "all",
        under: Annotated[str, Field(max_length=500, description="only documents below this path")] = "",
        limit: Limit = 50,
        after: Next = "",
        as_of: AsOf = None,
        *,
        only: Only = ALL,
    ) -> MemoryIndex:
        """List what memory holds, one line each: your notes, documents by path, and facts, which can be narrowed."""
        kinds = ("document",) if under else find.LISTED if kind == "all" else (kind,)
        if only and kinds != ("fact",):
            raise Invalid("only facts can be narrowed here.", hint="Pass kind: fact, or call recall to narrow.")
        begin, _, cursor = after.partition(":")
        if begin in kinds:
            kinds, after = kinds[kinds.index(begin) :], cursor
        lines: list[IndexLine] = []
        more = False
        for each in kinds:
            if more or len(lines) >= limit:
                more = True
                break
            page = find.ListPage(after=after, limit=limit - len(lines), as_of=as_of, under=under, only=narrowed(only))
            found, more = await find.listed(self._space(), each, page)
            lines += found
            after = ""
        return index(lines, budget=_MOST // 2, cursor=find.cursor_of, more=more)

    async def timeline(
        self,
        around: Annotated[str, Field(max_length=500, description="the ref of a message or session memory")] = "",
        before: Next = "",
        limit: Limit = 20,
        only: Only = ALL,
    ) -> MemoryIndex:
        """See what happened when: sessions, the newest first, or with `around` the messages near one ref, in order."""
        if around:
            return index(await self._messages(Ref.parse(around), limit), budget=_MOST // 2)
        entries = await self._space().sessions(limit=limit + 1, before=before, **narrowed(only))
        lines = list(map(session_line, entries[:limit]))
        return index(lines, budget=_MOST // 2, cursor=lambda entry: entry.ref.id, more=len(entries) > limit)

    async def explain(
        self, ref: Annotated[str, Field(max_length=500, description="a ref kind:id:number")]
    ) -> Explanation:
        """Show where a memory comes from: its messages, model and versions, what was made of it, where it was shown."""
        found = await self._space().explain(ref)
        sources = [str(quote_line(excerpt)) for excerpt in found.sources[:10]]
        quotes = [f"- exactly: {inert(quote.text, limit=LINE)}" for quote in found.quotes[:10] if not quote.context]
        maker, fact = found.made_by, found.fact
        about = [] if fact is None else about_fact(fact)
        return Explanation(
            ref=found.ref,
            origin=found.origin,
            at=found.at,
            memory=framed("\n".join([title_of(found.text or ""), *about, *sources, *quotes]), note=BODY_NOTE),
            erased=found.text is None,
            made_by=None if maker is None else f"{maker.model}, {maker.prompt}, {maker.extractor}",
            written_by=found.written_by,
            rests_on=list(found.rests_on[:_REFS]),
            rests_on_count=len(found.rests_on),
            used_in=list(found.used_in[:_REFS]),
            used_in_count=len(found.used_in),
            versions=[VersionSpan(ref=each.ref, since=each.since, until=each.until) for each in found.versions[-20:]],
            superseded_by=found.superseded_by,
            shown=[
                ShownEntry(at=each.shown_at, purpose=each.purpose, session_id=each.session_id)
                for each in found.shown[:10]
            ],
            shown_count=len(found.shown),
            used_times=0 if found.usage is None else found.usage.times,
            evidence=fact and fact.evidence,
        )

    async def search(self, query: Ask) -> SearchHits:
        """Search memory and return ids and titles for fetch. The same as recall, in the form that connectors expect."""
        found = await self._space().recall(query, budget=_MOST)
        return SearchHits(
            results=[
                SearchHit(
                    id=item.ref, title=_label(item.ref, item.origin, item.at, item.text), url=find.uri_of(item.ref)
                )
                for item in found.items
            ]
        )

    async def fetch(self, id: Name) -> FetchedMemory:  # noqa: A002 - connectors expect this name
        """Return the whole text of one id that search returned."""
        read = await self._named(id)
        about = {
            "kind": str(read.ref.kind),
            "origin": read.origin,
            "at": None if read.at is None else iso(read.at),
            "path": read.path,
        }
        return FetchedMemory(
            id=read.ref,
            title=_label(read.ref, read.origin, read.at, read.title),
            text=page(read.text, 0, size=_FETCHED)[0],
            url=find.uri_of(read.path or read.ref),
            metadata={name: value for name, value in about.items() if value},
        )

    async def _named(self, name: str) -> find.StoredMemory:
        """Return what a name stands for: here, or in one of the other spaces."""
        missing: NotFound | None = None
        for space in self._names():
            try:
                return await find.memory_named(self._memory.space(space), name)
            except NotFound as error:
                missing = missing or error
        assert missing is not None  # noqa: S101 - there is at least one space
        raise missing

    async def _messages(self, ref: Ref, limit: int) -> Sequence[IndexLine]:
        if ref.kind not in (RefKind.MESSAGE, RefKind.SESSION_MEMORY):
            raise Invalid(
                f"a {ref.kind} does not belong to one session.", hint="Call explain to see the messages it rests on."
            )
        session = await self._space().get_session(ref.id)
        after = max(0, ref.number - 1 - limit // 2)
        return list(map(message_line, await session.read(after=after, limit=limit)))


def narrowed(only: Mapping[str, Any]) -> dict[str, Any]:
    """Check what narrows a call, and return it by the names of the parameters in Python.

    Raises:
        Invalid: if it cannot be read.
    """
    if not only:
        return {}
    try:
        read: Narrowed = adapter(Narrowed).validate_python(only)
    except ValidationError as error:
        told = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(map(str, ("only", *told["loc"])))
        raise Invalid(f"{at}: {told['msg']}", hint=f"Use {', '.join(NARROWING)}.") from None
    return {name: getattr(read, name) for name in NARROWING if name in only}


def _label(ref: Ref, origin: str | None, at: datetime | None, text: str) -> str:
    # A title stands outside any frame, so what was remembered is one short inert line in it, with its origin.
    day = "" if at is None else f", {iso(at)[:10]}"
    return f"{title_of(text)} ({ref.kind.replace('_', ' ')} from {plain(origin or 'unknown')}{day})"
