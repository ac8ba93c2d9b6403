"""MCP tools that write. Notes of a model have the origin assistant, and corrections keep the old version."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Literal

from mcp_types import InputRequiredResult
from pydantic import Field

from bethink.api.space import Space
from bethink.errors import ConflictError, InvalidRequestError, NotFoundError
from bethink.mcp import confirming
from bethink.mcp.reading import ALL, Only, parse_filter
from bethink.mcp.results import CorrectedMemory, NoteStatus, StoredNote
from bethink.mcp.texts import require_new_text
from bethink.model.documents import Author, Provenance
from bethink.model.facts import Evidence
from bethink.model.kinds import FactKind
from bethink.model.records import Deletion, Message, Origin, Role
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import MAX_STATEMENT_LENGTH, Review, ReviewStatus
from bethink.model.rules import NOTES, is_directive, least_trusted

CONTEXT = "ctx"
"""Parameter that the MCP package fills in. It is not an argument of the tool."""
_ASSISTANT = Origin("assistant")
_DECLINED = "declined by the user"
_STATUS: dict[ReviewStatus, NoteStatus] = {ReviewStatus.APPROVED: "stated", ReviewStatus.REJECTED: "declined"}

Text = Annotated[str, Field(min_length=1, max_length=64_000)]
Name = Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result")]

NoteKind = Literal["knowledge", "preference", "instruction"]


class Writing:
    """MCP tools that write and delete in the caller's `space`. With `may_confirm`, the user can confirm notes."""

    def __init__(self, space: Callable[[], Space], *, may_confirm: Callable[[], bool]) -> None:
        self._space = space
        self._may_confirm = may_confirm

    async def remember(
        self,
        text: Annotated[Text, Field(description="one self-contained note, with names and dates in full")],
        idempotency_key: Annotated[
            str | None, Field(max_length=190, description="a repeated call with the same key stores nothing")
        ] = None,
        *,
        kind: NoteKind = "knowledge",
        tags: Annotated[Sequence[str], Field(description="tags for filters")] = (),
        metadata: Mapping[str, Any] = ALL,
        ctx: confirming.ToolContext,
    ) -> StoredNote | InputRequiredResult:
        """Store a note for later sessions. Its origin is the assistant until the user confirms it."""
        if (decision := confirming.get_answer(ctx)) is not None:
            return await self._apply_decision(decision)
        # The caller is a model, so the origin is always the assistant, whatever the text claims.
        note = Message(role=Role.ASSISTANT, content=require_new_text(text))
        result = await self._space().remember(
            [note], conversation=NOTES, idempotency_key=idempotency_key, tags=tags, metadata=metadata
        )
        if not result.refs or len(text) > MAX_STATEMENT_LENGTH:  # too long for a user to confirm at a glance
            return StoredNote(refs=list(result.refs))
        review = await self._space().reviews.propose(result.refs[0], kind=FactKind(kind))
        if review.decided_at is not None or not self._may_confirm() or not confirming.can_ask(ctx):
            return await self._note_result(review)
        answer = await confirming.ask(ctx, review)
        return answer if isinstance(answer, InputRequiredResult) else await self._apply_decision(answer)

    async def update_memory(
        self, ref: Name, text: Annotated[Text, Field(description="the complete new text")]
    ) -> CorrectedMemory:
        """Correct a fact or document. Pass the ref of the version you read; the call fails if a newer version exists.

        Old versions are kept. Messages cannot be changed.
        """
        old = Ref.parse(ref)
        if old.kind is RefKind.FACT:
            return await self._correct_fact(old, require_new_text(text))
        if old.kind is RefKind.DOCUMENT:
            return await self._correct_document(old, require_new_text(text))
        raise InvalidRequestError(
            f"A {old.kind} cannot be changed.", hint="Correct the fact or document derived from it, or forget it."
        )

    async def forget(
        self,
        ref: Annotated[str, Field(max_length=500, description="a ref kind:id:number from a result")] = "",
        *,
        only: Only = ALL,
        dry_run: Annotated[bool, Field(description="count without deleting")] = False,
    ) -> Deletion:
        """Permanently delete a memory, or with `only` all matching memories, and everything derived from them.

        Ask the user first.
        """
        return await self._space().forget(Ref.parse(ref) if ref else None, dry_run=dry_run, **parse_filter(only))

    async def _apply_decision(self, decision: confirming.UserAnswer) -> StoredNote:
        """Apply the user's decision about a note, unless it was decided before."""
        reviews = self._space().reviews
        review = await reviews.get(decision.review_id)
        if review.decided_at is not None or decision.action == "cancel" or not self._may_confirm():
            return await self._note_result(review)
        try:
            if decision.action == "decline":
                return await self._note_result(await reviews.reject(review.id, note=_DECLINED))
            # The user confirmed exactly the displayed text.
            displayed = confirming.display_text(review)
            words = decision.words or (None if displayed == review.claim.fact.text else displayed)
            return await self._note_result(await reviews.approve(review.id, text=words))
        except ConflictError:
            return await self._note_result(await reviews.get(review.id))

    async def _note_result(self, review: Review) -> StoredNote:
        """Return the current status of a note."""
        note = review.claim.quotes[0]
        fact = None
        if review.fact_id is not None:
            with suppress(NotFoundError):  # it may have been replaced since
                fact = await self._space().facts.get(review.fact_id)
        status = _STATUS.get(review.status, "note")
        return StoredNote(
            refs=[Ref(RefKind.MESSAGE, note.session_id, note.number)],
            status=status,
            fact=None if fact is None else Ref(RefKind.FACT, fact.id, fact.version),
            review=review.id if status == "note" else None,
        )

    async def _correct_fact(self, old: Ref, text: str) -> CorrectedMemory:
        facts = self._space().facts
        fact = await facts.get(old.id)
        if is_directive(fact.kind) and fact.origin == "user":
            raise InvalidRequestError(
                f"This {fact.kind} is based on the user's own words.",
                hint="Only the user can change it: in a conversation, through the API or on the command line.",
            )
        origin = least_trusted([fact.origin, _ASSISTANT])
        # A model wrote the new text: no person stated it, and no second pass confirmed it.
        corrected = replace(fact, text=text, origin=origin, evidence=Evidence.QUOTED, created_by=None)
        new = await facts.save(corrected, if_version=old.number)
        return CorrectedMemory(ref=Ref(RefKind.FACT, new.id, new.version), previous=old)

    async def _correct_document(self, old: Ref, text: str) -> CorrectedMemory:
        documents = self._space().documents
        document = await documents.get(old.id)
        # A correction has the same sources as the old text, so that deleting those also reaches this version.
        provenance = Provenance(
            author=Author(kind="agent", id="mcp", reason="corrected"),
            origin=least_trusted([document.origin, _ASSISTANT]),
            sources=tuple(await documents.sources(old.id, old.number)),
        )
        new = await documents.update(
            old.id, replace(document.draft(), body=text), if_version=old.number, provenance=provenance
        )
        return CorrectedMemory(ref=new.ref, previous=old)
