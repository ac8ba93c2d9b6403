"""The tools that write: what a model hands in is the assistant's, and corrections keep what was there before."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from bethink.errors import Invalid, NotFound, Stale
from bethink.mcp.grant import Grant
from bethink.mcp.results import Changed, Erased, Kept
from bethink.mcp.texts import own
from bethink.memory import Memory
from bethink.model.documents import Author, Provenance
from bethink.model.recall import Ref, RefKind
from bethink.model.records import ConversationKey, Message, Origin, Role
from bethink.model.rules import lowest, tells

NOTES = ConversationKey(channel="mcp", chat="notes")
_ASSISTANT = Origin("assistant")

Text = Annotated[str, Field(min_length=1, max_length=64_000)]
Name = Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result")]


class Writing:
    """The tools that write and erase, in the space of whoever calls."""

    def __init__(self, memory: Memory, scope: Callable[[], Grant]) -> None:
        self._memory = memory
        self._scope = scope

    async def remember(
        self,
        text: Annotated[Text, Field(description="one self-contained note, with names and dates in full")],
        idempotency_key: Annotated[str | None, Field(max_length=190, description="repeating it stores nothing")] = None,
    ) -> Kept:
        """Store a note for later sessions. It is kept as the assistant's, never as the user's own words."""
        # Origin comes from who called, and a model called: nothing it says of the text makes it the user's.
        kept = await self._memory.remember(
            [Message(role=Role.ASSISTANT, content=own(text))],
            space=self._scope().space,
            conversation=NOTES,
            idempotency_key=idempotency_key,
        )
        return Kept(refs=[str(ref) for ref in kept.refs])

    async def update_memory(self, ref: Name, text: Annotated[Text, Field(description="the whole new text")]) -> Changed:
        """Correct a fact or a document: the ref names the version that was read, and fails if there is a newer one.

        Every version is kept. What was said in a message cannot be changed.
        """
        old = Ref.parse(ref)
        if old.kind is RefKind.FACT:
            return await self._correct_fact(old, own(text))
        if old.kind is RefKind.DOCUMENT:
            return await self._correct_document(old, own(text))
        raise Invalid(f"a {old.kind} cannot be changed.", hint="Correct the fact or document made of it, or forget it.")

    async def forget(
        self, ref: Name, *, dry_run: Annotated[bool, Field(description="only count what would be erased")] = False
    ) -> Erased:
        """Erase a memory for good, with what was made of it. Ask the user first; try dry_run to see how much."""
        gone = await self._memory.forget(Ref.parse(ref), space=self._scope().space, dry_run=dry_run)
        return Erased(
            messages=gone.messages,
            facts=gone.facts,
            session_memories=gone.session_memories,
            documents=gone.documents,
            threads=gone.threads,
            dry_run=gone.dry_run,
        )

    async def _correct_fact(self, old: Ref, text: str) -> Changed:
        facts = self._memory.facts(space=self._scope().space)
        fact = await facts.get(old.id)
        if fact is None:
            raise NotFound("nothing is stored here.")
        if fact.version != old.number:
            raise Stale(f"fact {old.id} has version {fact.version}, you read {old.number}.", current=fact.version)
        if tells(fact.kind) and fact.origin == "user":
            raise Invalid(
                f"this {fact.kind} rests on the user's own words.",
                hint="Only the user can change it: in a conversation that is captured, or by the API or command line.",
            )
        corrected = replace(fact, content=text, origin=lowest([fact.origin, _ASSISTANT]), made_by=None)
        await facts.index(corrected, expected=old.number)
        new = await facts.get(old.id) or fact
        return Changed(ref=str(Ref(RefKind.FACT, new.id, new.version)), previous=str(old))

    async def _correct_document(self, old: Ref, text: str) -> Changed:
        documents = self._memory.documents(space=self._scope().space)
        document = await documents.get(old.id)
        if document is None:
            raise NotFound("nothing is stored here.")
        # A correction rests on what the text before it did: forgetting that must still reach this version.
        by = Provenance(
            author=Author(kind="agent", id="mcp", reason="corrected"),
            origin=lowest([document.origin, _ASSISTANT]),
            sources=tuple(await documents.sources(old.id, old.number)),
        )
        new = await documents.update(old.id, replace(document.draft(), body=text), expected=old.number, by=by)
        number = old.number if new is None else new.version
        return Changed(ref=str(Ref(RefKind.DOCUMENT, old.id, number)), previous=str(old))
