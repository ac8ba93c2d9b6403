"""The tools that write. What a model stores counts as the assistant's words, and a correction keeps what was there."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Literal

from mcp_types import InputRequiredResult
from pydantic import Field

from bethink.api.space import Space
from bethink.errors import Conflict, Invalid, NotFound
from bethink.mcp import confirming
from bethink.mcp.reading import ALL, Only, narrowed
from bethink.mcp.results import Correction, NoteStatus, StoredNote
from bethink.mcp.texts import own
from bethink.model.documents import Author, Provenance
from bethink.model.facts import Evidence
from bethink.model.kinds import FactKind
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Forgotten, Message, Origin, Role
from bethink.model.reviews import LONGEST_STATEMENT, Review, ReviewStatus
from bethink.model.rules import NOTES, lowest, tells

CONTEXT = "ctx"
"""The parameter that the protocol's package fills: no argument of a tool."""
_ASSISTANT = Origin("assistant")
_DECLINED = "the user declined it when asked"
_STATUS: dict[ReviewStatus, NoteStatus] = {ReviewStatus.APPROVED: "stated", ReviewStatus.REJECTED: "declined"}

Text = Annotated[str, Field(min_length=1, max_length=64_000)]
Name = Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result")]

NoteKind = Literal["knowledge", "preference", "instruction"]


class Writing:
    """The tools that write and erase: in the `space` of the caller, whose user is asked if it `may_confirm`."""

    def __init__(self, space: Callable[[], Space], *, may_confirm: Callable[[], bool]) -> None:
        self._space = space
        self._may_confirm = may_confirm

    async def remember(
        self,
        text: Annotated[Text, Field(description="one self-contained note, with names and dates in full")],
        idempotency_key: Annotated[
            str | None, Field(max_length=190, description="a call with the same key stores nothing twice")
        ] = None,
        *,
        kind: NoteKind = "knowledge",
        tags: Annotated[Sequence[str], Field(description="to find it by")] = (),
        metadata: Mapping[str, Any] = ALL,
        ctx: confirming.Asking,
    ) -> StoredNote | InputRequiredResult:
        """Store a note for later sessions. It counts as the assistant's words, until the user confirms it."""
        if (said := confirming.answered(ctx)) is not None:
            return await self._decided(said)
        # The origin follows from the caller, and a model called: nothing that it claims makes the text the user's.
        note = Message(role=Role.ASSISTANT, content=own(text))
        kept = await self._space().remember(
            [note], conversation=NOTES, idempotency_key=idempotency_key, tags=tags, metadata=metadata
        )
        if not kept.refs or len(text) > LONGEST_STATEMENT:  # too long for a person to say yes to at a glance
            return StoredNote(refs=list(kept.refs))
        review = await self._space().reviews.propose(kept.refs[0], kind=FactKind(kind))
        if review.decided_at is not None or not self._may_confirm() or not confirming.can_ask(ctx):
            return await self._stored(review)
        asked = await confirming.ask(ctx, review)
        return asked if isinstance(asked, InputRequiredResult) else await self._decided(asked)

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

    async def _decided(self, said: confirming.UserAnswer) -> StoredNote:
        """Carry out what the user said about a note. What was decided meanwhile stays decided."""
        reviews = self._space().reviews
        review = await reviews.get(said.review_id)
        if review.decided_at is not None or said.action == "cancel" or not self._may_confirm():
            return await self._stored(review)
        try:
            if said.action == "decline":
                return await self._stored(await reviews.reject(review.id, note=_DECLINED))
            # What was confirmed is what was shown, letter for letter.
            seen = confirming.shown(review)
            words = said.words or (None if seen == review.claim.fact.content else seen)
            return await self._stored(await reviews.approve(review.id, statement=words))
        except Conflict:
            return await self._stored(await reviews.get(review.id))

    async def _stored(self, review: Review) -> StoredNote:
        """Say how a note counts by now."""
        note = review.claim.quotes[0]
        fact = None
        if review.fact_id is not None:
            with suppress(NotFound):  # it may have been succeeded since
                fact = await self._space().facts.get(review.fact_id)
        status = _STATUS.get(review.status, "note")
        return StoredNote(
            refs=[Ref(RefKind.MESSAGE, note.session_id, note.number)],
            status=status,
            fact=None if fact is None else Ref(RefKind.FACT, fact.id, fact.version),
            review=review.id if status == "note" else None,
        )

    async def _correct_fact(self, old: Ref, text: str) -> Correction:
        facts = self._space().facts
        fact = await facts.get(old.id)
        if tells(fact.kind) and fact.origin == "user":
            raise Invalid(
                f"this {fact.kind} rests on the user's own words.",
                hint="Only the user can change it: in a recorded conversation, through the API or on the command line.",
            )
        origin = lowest([fact.origin, _ASSISTANT])
        # The new words are a model's: no person stated them, and no reading confirmed them.
        corrected = replace(fact, content=text, origin=origin, evidence=Evidence.QUOTED, made_by=None)
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
