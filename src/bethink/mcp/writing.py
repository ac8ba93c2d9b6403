"""The tools that write. What a model stores counts as the assistant's words, and a correction keeps what was there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from bethink.api.space import Space
from bethink.errors import Invalid
from bethink.mcp.reading import ALL, Only, narrowed
from bethink.mcp.results import Correction, StoredNote
from bethink.mcp.texts import own
from bethink.model.documents import Author, Provenance
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Forgotten, Message, Origin, Role
from bethink.model.rules import NOTES, lowest, tells

_ASSISTANT = Origin("assistant")

Text = Annotated[str, Field(min_length=1, max_length=64_000)]
Name = Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result")]


class Writing:
    """The tools that write and erase. `space` returns the space of the caller."""

    def __init__(self, space: Callable[[], Space]) -> None:
        self._space = space

    async def remember(
        self,
        text: Annotated[Text, Field(description="one self-contained note, with names and dates in full")],
        idempotency_key: Annotated[
            str | None, Field(max_length=190, description="a call with the same key stores nothing twice")
        ] = None,
        *,
        tags: Annotated[Sequence[str], Field(description="to find it by")] = (),
        metadata: Mapping[str, Any] = ALL,
    ) -> StoredNote:
        """Store a note for later sessions. It counts as the assistant's words, never as the user's."""
        # The origin follows from the caller, and a model called: nothing that it claims makes the text the user's.
        note = Message(role=Role.ASSISTANT, content=own(text))
        kept = await self._space().remember(
            [note], conversation=NOTES, idempotency_key=idempotency_key, tags=tags, metadata=metadata
        )
        return StoredNote(refs=list(kept.refs))

    async def update_memory(
        self, ref: Name, text: Annotated[Text, Field(description="the whole new text")]
    ) -> Correction:
        """Correct a fact or a document. The ref names the version you read; the call fails if there is a newer one.

        Old versions are kept. Messages cannot be changed.
        """
        old = Ref.parse(ref)
        if old.kind is RefKind.FACT:
            return await self._correct_fact(old, own(text))
        if old.kind is RefKind.DOCUMENT:
            return await self._correct_document(old, own(text))
        raise Invalid(
            f"a {old.kind} cannot be changed.", hint="Correct the fact or document that was made of it, or forget it."
        )

    async def forget(
        self,
        ref: Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result")] = "",
        *,
        only: Only = ALL,
        dry_run: Annotated[bool, Field(description="only count")] = False,
    ) -> Forgotten:
        """Erase for good one memory, or with `only` all that fits, with everything that was made of it.

        Ask the user first.
        """
        return await self._space().forget(Ref.parse(ref) if ref else None, dry_run=dry_run, **narrowed(only))

    async def _correct_fact(self, old: Ref, text: str) -> Correction:
        facts = self._space().facts
        fact = await facts.get(old.id)
        if tells(fact.kind) and fact.origin == "user":
            raise Invalid(
                f"this {fact.kind} rests on the user's own words.",
                hint="Only the user can change it: in a recorded conversation, through the API or on the command line.",
            )
        corrected = replace(fact, content=text, origin=lowest([fact.origin, _ASSISTANT]), made_by=None)
        new = await facts.save(corrected, expected=old.number)
        return Correction(ref=Ref(RefKind.FACT, new.id, new.version), previous=old)

    async def _correct_document(self, old: Ref, text: str) -> Correction:
        documents = self._space().documents
        document = await documents.get(old.id)
        # A correction rests on the same sources as the text before it: forgetting those must still reach this version.
        by = Provenance(
            author=Author(kind="agent", id="mcp", reason="corrected"),
            origin=lowest([document.origin, _ASSISTANT]),
            sources=tuple(await documents.sources(old.id, old.number)),
        )
        new = await documents.update(old.id, replace(document.draft(), body=text), expected=old.number, by=by)
        return Correction(ref=Ref(RefKind.DOCUMENT, new.id, new.version), previous=old)
