"""MCP tools that read: compact lists, and complete texts by ref."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from bethink.api.connect import Memory
from bethink.api.group import SpaceGroup
from bethink.api.space import Space
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.host.codec import adapter
from bethink.mcp import find
from bethink.mcp.results import (
    CitedAnswer,
    ContextUse,
    Explanation,
    FetchedMemory,
    MemoryIndex,
    MemoryText,
    SearchHit,
    SearchHits,
    VersionSpan,
)
from bethink.mcp.texts import (
    BODY_NOTE,
    LINE,
    IndexLine,
    about_fact,
    build_index,
    message_line,
    page,
    plain,
    quote_line,
    recalled_line,
    session_line,
    title_of,
)
from bethink.memory.recall.excerpts import question_stems
from bethink.model.framing import add_frame, inert
from bethink.model.moments import iso
from bethink.model.operations.narrowing import FILTER_FIELDS, FilteredRequest
from bethink.model.refs import Ref, RefKind
from bethink.model.status_words import status_mark

_BUDGET = 3_000
_ASK_BUDGET = 4_000
_MAX_BUDGET = 8_000
_MAX_FETCH = 64_000
_MAX_REFS = 20

Ask = Annotated[str, Field(max_length=4_000, description="the question, in plain words")]
Name = Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result, or a document's path")]
Budget = Annotated[int, Field(ge=50, le=_MAX_BUDGET, description="maximum number of tokens of the result")]
AsOf = Annotated[str | None, Field(max_length=40, description="ISO 8601 day or time: all said until then")]
KnownAt = Annotated[str | None, Field(max_length=40, description="as memory knew it then")]
Limit = Annotated[int, Field(ge=1, le=100)]
Kinds = Annotated[list[RefKind] | None, Field(description="only these kinds")]
Narrowing = Annotated[
    Mapping[str, Any],
    Field(
        description="filter by origins, tags, agent, conversation, speaker, since, until, "
        'where: {"key": 1, "other": {"gte": 3}}'
    ),
]
"""Filters of a request, described in one line of one tool, to keep the schemas of the tools short."""
Only = Annotated[Mapping[str, Any], Field(description="as recall")]
ALL: Mapping[str, Any] = {}
Next = Annotated[str, Field(max_length=500, description="`next` of the previous page")]


class Reading:
    """MCP tools that read. `names` has the space of the caller, then further spaces to search."""

    def __init__(self, memory: Memory, names: Callable[[], Sequence[str]]) -> None:
        self._memory = memory
        self._names = names

    def _space(self) -> Space:
        return self._memory.space(self._names()[0])

    def _scope(self) -> Space | SpaceGroup:
        """Return the spaces to search."""
        names = self._names()
        return self._space() if len(names) == 1 else self._memory.group(*names)

    async def recall(
        self,
        question: Ask,
        limit: Limit = 20,
        budget: Budget = _BUDGET,
        as_of: AsOf = None,
        kinds: Kinds = None,
        *,
        known_at: KnownAt = None,
        only: Narrowing = ALL,
    ) -> MemoryIndex:
        """Search memory, best match first, one line each. Call this before you answer from memory.

        Lines may be cut: read_memory returns the complete text of a ref.
        """
        ref_kinds = tuple(RefKind) if kinds is None else kinds
        result = await self._scope().recall(
            question, limit=limit, budget=budget, as_of=as_of, known_at=known_at, kinds=ref_kinds, **parse_filter(only)
        )
        has_notes = any(item.ref.kind is RefKind.MESSAGE and item.origin == "assistant" for item in result.items)
        sessions = await find.note_sessions(self._space()) if has_notes else ()
        words = question_stems(question)
        lines = [recalled_line(item, words=words, is_note=item.ref.id in sessions) for item in result.items]
        return build_index(lines, budget=budget, missing=result.note)

    async def ask(
        self,
        question: Ask,
        budget: Budget = _ASK_BUDGET,
        as_of: AsOf = None,
        *,
        known_at: KnownAt = None,
        only: Only = ALL,
    ) -> CitedAnswer:
        """Answer a question from memory, each sentence with its source refs. Refused if memory has no answer.

        This calls another model, so it costs more. Call recall to read the matches yourself.
        """
        answer = await self._scope().ask(question, budget=budget, as_of=as_of, known_at=known_at, **parse_filter(only))
        lines = [f"- {inert(sentence.text)} ({', '.join(sentence.refs)})" for sentence in answer.sentences]
        return CitedAnswer(
            memory=add_frame("\n".join(lines), note=BODY_NOTE),
            cited=[item.ref for item in answer.cited],
            refused=answer.refusal,
            missing=answer.note,
        )

    async def read_memory(self, ref: Name, offset: Annotated[int, Field(ge=0)] = 0) -> MemoryText:
        """Read a complete memory by its ref, or a document by its path, such as ~/memory/people.

        A long text has several parts: call again with next_offset.
        """
        memory = await self._get_memory(ref)
        text, following = page(memory.text, offset)
        return MemoryText(
            ref=memory.ref,
            kind=memory.ref.kind,
            origin=memory.origin,
            at=memory.at,
            memory=text,
            path=memory.path,
            replaced_by=memory.replaced_by,
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
        known_at: KnownAt = None,
        only: Only = ALL,
    ) -> MemoryIndex:
        """List memory, one line each: your notes, documents by path, and facts, which can be filtered."""
        kinds = ("document",) if under else find.LIST_KINDS if kind == "all" else (kind,)
        if only and kinds != ("fact",):
            raise InvalidRequestError("`only` filters only facts here.", hint="Pass kind: fact, or call recall.")
        begin, _, cursor = after.partition(":")
        if begin in kinds:
            kinds, after = kinds[kinds.index(begin) :], cursor
        lines: list[IndexLine] = []
        more = False
        for list_kind in kinds:
            if more or len(lines) >= limit:
                more = True
                break
            page = find.ListPage(
                after=after,
                limit=limit - len(lines),
                as_of=as_of,
                known_at=known_at,
                under=under,
                only=parse_filter(only),
            )
            new_lines, more = await find.list_lines(self._space(), list_kind, page)
            lines += new_lines
            after = ""
        return build_index(lines, budget=_MAX_BUDGET // 2, cursor=find.cursor_of, more=more)

    async def timeline(
        self,
        around: Annotated[str, Field(max_length=500, description="the ref of a message or session summary")] = "",
        before: Next = "",
        limit: Limit = 20,
        only: Only = ALL,
    ) -> MemoryIndex:
        """List sessions, newest first, or with `around` the messages near a ref, in order."""
        if around:
            return build_index(await self._messages(Ref.parse(around), limit), budget=_MAX_BUDGET // 2)
        entries = await self._space().sessions.list(limit=limit + 1, after=before, **parse_filter(only))
        lines = list(map(session_line, entries[:limit]))
        return build_index(lines, budget=_MAX_BUDGET // 2, cursor=lambda entry: entry.ref.id, more=len(entries) > limit)

    async def explain(
        self,
        ref: Annotated[str, Field(max_length=500, description="a ref kind:id:number")],
        as_of: AsOf = None,
        known_at: KnownAt = None,
    ) -> Explanation:
        """Show the sources of a memory: messages, model and versions, derived data, and where it was shown."""
        lineage = await self._space().explain(ref, as_of=as_of, known_at=known_at)
        sources = [f"- {quote_line(excerpt)}" for excerpt in lineage.sources[:10]]
        quotes = [f"- exactly: {inert(quote.text, limit=LINE)}" for quote in lineage.quotes[:10] if not quote.context]
        maker, fact = lineage.created_by, lineage.fact
        mark = status_mark(lineage)
        about = [*([f"status: {plain(mark)}"] if mark else []), *([] if fact is None else about_fact(fact))]
        return Explanation(
            ref=lineage.ref,
            origin=lineage.origin,
            at=lineage.at,
            memory=add_frame("\n".join([title_of(lineage.text or ""), *about, *sources, *quotes]), note=BODY_NOTE),
            erased=lineage.text is None,
            created_by=None if maker is None else f"{maker.model}, {maker.prompt}, {maker.extractor}",
            written_by=lineage.written_by,
            sources=list(lineage.source_refs[:_MAX_REFS]),
            sources_count=len(lineage.source_refs),
            derived=list(lineage.derived[:_MAX_REFS]),
            derived_count=len(lineage.derived),
            versions=[VersionSpan(ref=item.ref, since=item.since, until=item.until) for item in lineage.versions[-20:]],
            replaced_by=lineage.replaced_by,
            context_log=[
                ContextUse(at=item.shown_at, purpose=item.purpose, session_id=item.session_id)
                for item in lineage.context_log[:10]
            ],
            context_log_count=len(lineage.context_log),
            use_count=0 if lineage.usage is None else lineage.usage.times,
            evidence=fact and fact.evidence,
            status=fact and fact.status,
        )

    async def search(self, query: Ask) -> SearchHits:
        """Search memory and return ids and titles for fetch. Same as recall, in the form that connectors expect."""
        result = await self._space().recall(query, budget=_MAX_BUDGET)
        return SearchHits(
            results=[
                SearchHit(
                    id=item.ref, title=_label(item.ref, item.origin, item.said_at, item.text), url=find.uri_of(item.ref)
                )
                for item in result.items
            ]
        )

    async def fetch(self, id: Name) -> FetchedMemory:  # noqa: A002 - connectors expect this name
        """Return the complete text of an id from search."""
        memory = await self._get_memory(id)
        about = {
            "kind": str(memory.ref.kind),
            "origin": memory.origin,
            "at": None if memory.at is None else iso(memory.at),
            "path": memory.path,
        }
        return FetchedMemory(
            id=memory.ref,
            title=_label(memory.ref, memory.origin, memory.at, memory.title),
            text=page(memory.text, 0, size=_MAX_FETCH)[0],
            url=find.uri_of(memory.path or memory.ref),
            metadata={name: value for name, value in about.items() if value},
        )

    async def _get_memory(self, name: str) -> find.StoredMemory:
        """Return a memory by name, from the caller's space or a further one."""
        missing: NotFoundError | None = None
        for space in self._names():
            try:
                return await find.get_memory(self._memory.space(space), name)
            except NotFoundError as error:
                missing = missing or error
        assert missing is not None  # noqa: S101 - there is at least one space
        raise missing

    async def _messages(self, ref: Ref, limit: int) -> Sequence[IndexLine]:
        if ref.kind not in (RefKind.MESSAGE, RefKind.SESSION_SUMMARY):
            raise InvalidRequestError(
                f"A {ref.kind} does not belong to a session.", hint="Call explain for its source messages."
            )
        session = await self._space().sessions.get(ref.id)
        after = max(0, ref.number - 1 - limit // 2)
        return list(map(message_line, await session.messages(after=after, limit=limit, visible=True)))


def parse_filter(only: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the filters of a call, and return them by parameter name.

    Raises:
        InvalidRequestError: if a filter is invalid.
    """
    if not only:
        return {}
    try:
        parsed: FilteredRequest = adapter(FilteredRequest).validate_python(only)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(map(str, ("only", *detail["loc"])))
        raise InvalidRequestError(f"{at}: {detail['msg']}", hint=f"Use {', '.join(FILTER_FIELDS)}.") from None
    return {name: getattr(parsed, name) for name in FILTER_FIELDS if name in only}


def _label(ref: Ref, origin: str | None, at: datetime | None, text: str) -> str:
    # A title is outside of any frame, so the text is one short inert line, with its origin.
    day = "" if at is None else f", {iso(at)[:10]}"
    return f"{title_of(text)} ({ref.kind.replace('_', ' ')} from {plain(origin or 'unknown')}{day})"
