"""The tools that read: a compact index first, and whole texts by their refs."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bethink.errors import Invalid, NotFound
from bethink.mcp import shelf
from bethink.mcp.grant import Grant
from bethink.mcp.results import Body, Explanation, Fetched, Found, Held, Hit, Hits, Sight
from bethink.mcp.texts import BODY_NOTE, Line, index, line_of, page, plain, some, title_of
from bethink.memory import Memory
from bethink.model.framing import framed
from bethink.model.moments import iso
from bethink.model.recall import Excerpt, Ref, RefKind
from bethink.model.records import Record, SessionEntry

_BUDGET = 1_500
_MOST = 8_000
_FETCHED = 64_000

Ask = Annotated[str, Field(max_length=4_000, description="the question, in plain words")]
Name = Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result, or a document's path")]
Budget = Annotated[int, Field(ge=50, le=_MOST, description="most tokens of the answer")]
AsOf = Annotated[str | None, Field(max_length=40, description="as known at this ISO 8601 day or time")]
Limit = Annotated[int, Field(ge=1, le=100)]
Kinds = Annotated[list[RefKind] | None, Field(description="only these kinds")]


class Reading:
    """The tools that read, in the space of whoever calls."""

    def __init__(self, memory: Memory, scope: Callable[[], Grant]) -> None:
        self._memory = memory
        self._scope = scope

    async def recall(
        self, question: Ask, limit: Limit = 10, budget: Budget = _BUDGET, as_of: AsOf = None, kinds: Kinds = None
    ) -> Found:
        """Find what memory holds on a question, the best first, one line each; call it before you answer from memory.

        Lines may be cut: read_memory gives the whole text of a ref.
        """
        found = await self._memory.recall(
            question,
            space=self._scope().space,
            limit=limit,
            budget=budget,
            as_of=as_of,
            kinds=tuple(RefKind) if kinds is None else kinds,
        )
        return index([line_of(item) for item in found.items], budget=budget, missing=found.missing)

    async def read_memory(self, ref: Name, offset: Annotated[int, Field(ge=0)] = 0) -> Body:
        """Read one memory in full: by its ref, or a document by its path such as ~/memory/people.

        A long text comes in parts: call again with next_offset.
        """
        read = await shelf.read(self._memory, self._scope().space, ref)
        text, following = page(read.text, offset)
        return Body(
            ref=str(read.ref),
            kind=read.ref.kind,
            origin=read.origin,
            at=None if read.at is None else iso(read.at),
            memory=text,
            path=read.path,
            superseded_by=None if read.superseded_by is None else str(read.superseded_by),
            next_offset=following,
        )

    async def list_memories(
        self,
        kind: Literal["document", "fact"] = "document",
        under: Annotated[str, Field(max_length=500, description="documents below this path only")] = "",
        limit: Limit = 50,
        after: Annotated[str, Field(max_length=500, description="`next` of the page before")] = "",
        as_of: AsOf = None,
    ) -> Found:
        """List what memory keeps, one line each: documents by their paths, or facts by their ids."""
        space = self._scope().space
        if kind == "document":
            lines, more = await shelf.documents(self._memory, space, under=under, after=after, limit=limit, as_of=as_of)
            return index(lines, budget=_MOST // 2, cursor=lambda line: line.path or "", more=more)
        facts = await self._memory.facts(space=space).all(as_of=as_of, limit=limit + 1, after=after)
        lines = [shelf.fact_line(fact) for fact in facts[:limit]]
        return index(lines, budget=_MOST // 2, cursor=lambda line: line.ref.id, more=len(facts) > limit)

    async def timeline(
        self,
        around: Annotated[str, Field(max_length=500, description="a message's or session memory's ref")] = "",
        before: Annotated[str, Field(max_length=500, description="`next` of the page before")] = "",
        limit: Limit = 20,
    ) -> Found:
        """See what happened when: sessions, newest first; or with `around`, the messages about one ref, in order."""
        if around:
            return index(await self._messages(Ref.parse(around), limit), budget=_MOST // 2)
        space = self._scope().space
        entries = await self._memory.sessions(space=space, limit=limit + 1, before=before)
        lines = [await self._session_line(entry) for entry in entries[:limit]]
        return index(lines, budget=_MOST // 2, cursor=lambda line: line.ref.id, more=len(entries) > limit)

    async def explain(
        self, ref: Annotated[str, Field(max_length=500, description="a ref kind:id:number")]
    ) -> Explanation:
        """Say where a memory comes from: its messages, model, versions, what rests on it and where it was shown."""
        found = await self._memory.explain(ref, space=self._scope().space)
        sources = [str(_quote(excerpt)) for excerpt in found.sources[:10]]
        maker = found.made_by
        return Explanation(
            ref=str(found.ref),
            origin=found.origin,
            at=None if found.at is None else iso(found.at),
            memory=framed("\n".join([title_of(found.text or ""), *sources]), note=BODY_NOTE),
            erased=found.text is None,
            made_by=None if maker is None else f"{maker.model}, {maker.prompt}, {maker.extractor}",
            written_by=found.written_by,
            rests_on=some(found.rests_on),
            rests_on_count=len(found.rests_on),
            used_in=some(found.used_in),
            used_in_count=len(found.used_in),
            versions=[
                Held(ref=str(each.ref), since=iso(each.since), until=None if each.until is None else iso(each.until))
                for each in found.versions[-20:]
            ],
            superseded_by=None if found.superseded_by is None else str(found.superseded_by),
            shown=[
                Sight(at=iso(each.shown_at), purpose=each.purpose, session_id=each.session_id)
                for each in found.shown[:10]
            ],
            shown_count=len(found.shown),
            used_times=0 if found.usage is None else found.usage.times,
        )

    async def search(self, query: Ask) -> Hits:
        """Search memory and return ids and titles for fetch. The same as recall, in the form that connectors expect."""
        found = await self._memory.recall(query, space=self._scope().space, budget=_MOST)
        return Hits(
            results=[
                Hit(
                    id=str(item.ref),
                    title=_label(item.ref, item.origin, item.at, item.text),
                    url=shelf.uri_of(str(item.ref)),
                )
                for item in found.items
            ]
        )

    async def fetch(self, id: Name) -> Fetched:  # noqa: A002 - connectors call it so
        """Return the whole text of one id that search returned."""
        read = await shelf.read(self._memory, self._scope().space, id)
        about = {
            "kind": str(read.ref.kind),
            "origin": read.origin,
            "at": None if read.at is None else iso(read.at),
            "path": read.path,
        }
        return Fetched(
            id=str(read.ref),
            title=_label(read.ref, read.origin, read.at, read.title),
            text=page(read.text, 0, size=_FETCHED)[0],
            url=shelf.uri_of(read.path or str(read.ref)),
            metadata={name: value for name, value in about.items() if value},
        )

    async def _messages(self, ref: Ref, limit: int) -> list[Line]:
        if ref.kind not in (RefKind.MESSAGE, RefKind.SESSION_MEMORY):
            raise Invalid(f"a {ref.kind} is in no session.", hint="Ask explain for the messages that it rests on.")
        session = await self._memory.get_session(space=self._scope().space, session_id=ref.id)
        if session is None:
            raise NotFound("nothing is stored here.")
        after = max(0, ref.number - 1 - limit // 2)
        return [_message_line(record) for record in await self._memory.read(session, after=after, limit=limit)]

    async def _session_line(self, entry: SessionEntry) -> Line:
        session = entry.session
        memory = await self._memory.session_memory(session)
        about = (entry.conversation, entry.agent, f"{session.last_number} messages")
        if memory is not None:
            ref = Ref(RefKind.SESSION_MEMORY, session.id)
            return Line(ref, "session_memory", "memory", session.created_at, memory.summary, about)
        ref = Ref(RefKind.MESSAGE, session.id, max(1, session.last_number))
        return Line(ref, "session", "memory", session.created_at, "not summed up yet", about)


def _label(ref: Ref, origin: str | None, at: datetime | None, text: str) -> str:
    # A title stands outside of any frame, so what was remembered is one short inert line in it, with who said it.
    day = "" if at is None else f", {iso(at)[:10]}"
    return f"{title_of(text)} ({ref.kind.replace('_', ' ')} from {plain(origin or 'nobody')}{day})"


def _message_line(record: Record) -> Line:
    message = record.message
    ref = Ref(RefKind.MESSAGE, record.session_id, record.number)
    at = message.said_at or record.recorded_at
    about = (message.name,) if message.name else ()
    return Line(ref, "message", str(message.origin), at, message.content, about)


def _quote(excerpt: Excerpt) -> Line:
    ref = Ref(RefKind.MESSAGE, excerpt.source.session_id, excerpt.source.number)
    return Line(ref, "message", excerpt.origin, excerpt.said_at, excerpt.text)
