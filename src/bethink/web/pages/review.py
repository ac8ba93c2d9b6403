"""Review: approve, edit or reject claims, and apply changes to documents."""

from typing import Any, NamedTuple

from bethink.errors import NotFoundError
from bethink.model.consolidation import ChangeSet, ChangeStatus, DocumentChange
from bethink.model.documents import Document
from bethink.model.operations.documents import (
    APPROVE_DOCUMENT_CHANGE,
    GET_DOCUMENT,
    LIST_DOCUMENT_CHANGES,
    REJECT_DOCUMENT_CHANGE,
    UNDO_DOCUMENT_CHANGE,
    ApproveDocumentChangeRequest,
    DocumentChangeRequest,
    GetDocumentRequest,
    ListDocumentChangesRequest,
)
from bethink.model.operations.reviews import (
    APPROVE_REVIEW,
    APPROVE_REVIEWS,
    LIST_REVIEWS,
    REJECT_REVIEW,
    REJECT_REVIEWS,
    ApproveReviewRequest,
    DecideReviewsRequest,
    ListReviewsRequest,
    RejectReviewRequest,
)
from bethink.model.reviews import ReviewStatus
from bethink.web.compare import Line, compare
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit

_PAGE = 20
_SETTLED = {"reject": (REJECT_DOCUMENT_CHANGE, "discarded"), "undo": (UNDO_DOCUMENT_CHANGE, "undone")}
_SETS = 10
_MAX_CHANGES = 40
"""Maximum number of changes shown per set."""


class ComparedChange(NamedTuple):
    """A change compared with the current document. It is stale if the document has changed since."""

    change: DocumentChange
    lines: list[Line]
    stale: bool


def _list_request(visit: Visit) -> Twin:
    status = (
        ReviewStatus(visit.query_value("status"))
        if visit.query_value("status") in set(ReviewStatus)
        else ReviewStatus.PENDING
    )
    return LIST_REVIEWS, ListReviewsRequest(status=status, limit=_PAGE, after=visit.query_value("after"))


async def review(visit: Visit) -> PageView:
    """Show the review inbox."""
    operation, request = _list_request(visit)
    reviews = await visit.run(operation, request)
    sets = await visit.run(LIST_DOCUMENT_CHANGES, ListDocumentChangesRequest(limit=_SETS))
    pending = [change_set for change_set in sets if change_set.status is ChangeStatus.PENDING]
    values: dict[str, Any] = {
        "reviews": reviews,
        "status": request.status,
        "statuses": tuple(ReviewStatus),
        "more": visit.link("review", status=request.status, after=reviews.next) if reviews.next else "",
        "may_decide": visit.may_change(APPROVE_REVIEW),
        "may_change": visit.may_change(APPROVE_DOCUMENT_CHANGE),
        "held": [(change_set, await _compare_changes(visit, change_set)) for change_set in pending[:3]],
        "whole": {change_set.run for change_set in pending if len(change_set.changes) <= _MAX_CHANGES},
        "settled": [change_set for change_set in sets if change_set.status is not ChangeStatus.PENDING][:5],
        "editing": (visit.query_value("run"), visit.query_value("edit")),
    }
    return PageView(template="review.html", values=values)


async def _compare_changes(visit: Visit, changes: ChangeSet) -> list[ComparedChange]:
    compared: list[ComparedChange] = []
    for change in changes.changes[:_MAX_CHANGES]:
        now = await _current(visit, change)
        lines = compare(now.body if now else "", change.draft.body if change.draft else "")
        compared.append(ComparedChange(change, lines, stale=(now.version if now else None) != change.expected))
    return compared


async def _current(visit: Visit, change: DocumentChange) -> Document | None:
    if change.document_id is None:
        return None
    try:
        return await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=change.document_id))
    except NotFoundError:  # deleted in the meantime: the change is stale
        return None


async def decide(visit: Visit) -> Goto:
    """Approve or reject several claims at once."""
    visit.require(APPROVE_REVIEWS)
    chosen = tuple(visit.form.get("review", ()))
    if not chosen:
        return Goto(visit.link("review", told="none"))
    request = DecideReviewsRequest(review_ids=chosen, note=visit.form_value("note").strip() or None)
    approved = visit.form_value("does") == "approve"
    await visit.run(APPROVE_REVIEWS if approved else REJECT_REVIEWS, request)
    return Goto(visit.link("review", told="approved" if approved else "rejected"))


async def approve(visit: Visit) -> Goto:
    """Approve a claim, optionally with edited text."""
    text, note = visit.form_value("text").strip() or None, visit.form_value("note").strip() or None
    request = ApproveReviewRequest(review_id=visit.names["review"], text=text, note=note)
    await visit.run(APPROVE_REVIEW, request)
    return Goto(visit.link("review", told="approved"))


async def reject(visit: Visit) -> Goto:
    """Reject a claim and store the reason."""
    note = visit.form_value("note").strip() or None
    await visit.run(REJECT_REVIEW, RejectReviewRequest(review_id=visit.names["review"], note=note))
    return Goto(visit.link("review", told="rejected"))


async def settle(visit: Visit) -> Goto:
    """Apply, discard or undo the changes of a consolidation."""
    run, does = visit.names["run"], visit.names["does"]
    if does == "approve":
        visit.require(APPROVE_DOCUMENT_CHANGE)
        paths = tuple(visit.form.get("path", ())) if visit.form_value("part") else None
        if paths == ():
            return Goto(visit.link("review", told="none"))
        edited = visit.form_value("edited")
        texts = {edited: visit.form_value("text")} if edited and (paths is None or edited in paths) else None
        await visit.run(APPROVE_DOCUMENT_CHANGE, ApproveDocumentChangeRequest(run=run, paths=paths, texts=texts))
        return Goto(visit.link("review", told="applied"))
    if does not in _SETTLED:
        raise NotFoundError(f"Unknown action: {does[:40]!r}.", hint="Use approve, reject or undo.")
    operation, notice = _SETTLED[does]
    await visit.run(operation, DocumentChangeRequest(run=run))
    return Goto(visit.link("review", told=notice))


ROUTES = (
    PageRoute(path="/s/{space}/review", handler=review, twin=_list_request),
    PageRoute(path="/s/{space}/review/decide", handler=decide, method="POST"),
    PageRoute(path="/s/{space}/review/{review}/approve", handler=approve, method="POST"),
    PageRoute(path="/s/{space}/review/{review}/reject", handler=reject, method="POST"),
    PageRoute(path="/s/{space}/changes/{run}/{does}", handler=settle, method="POST"),
)
MENU = (MenuItem(section="Curation", name="Review", step="review", operation=LIST_REVIEWS, shortcut="v", position=10),)
