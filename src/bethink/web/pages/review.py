"""What was not believed at once: approve it, put it in other words, or say why not. And changes to documents."""

from typing import Any

from bethink.errors import NotFound
from bethink.model.consolidation import Change, ChangeSet, ChangeStatus
from bethink.model.reviews import ReviewStatus
from bethink.model.verbs.documents import (
    APPROVE,
    GET_DOCUMENT,
    LIST_CHANGES,
    REJECT,
    UNDO,
    ApproveChangeRequest,
    ChangeRequest,
    GetDocumentRequest,
    ListChangesRequest,
)
from bethink.model.verbs.reviews import (
    APPROVE_REVIEW,
    LIST_REVIEWS,
    REJECT_REVIEW,
    ApproveReviewRequest,
    ListReviewsRequest,
    RejectReviewRequest,
)
from bethink.web.compare import Line, compare
from bethink.web.visit import Goto, Page, PageRoute, Twin, Visit

_PAGE = 20
_SETTLED = {"reject": (REJECT, "discarded"), "undo": (UNDO, "undone")}
_SETS = 10


def _listed(visit: Visit) -> Twin:
    status = ReviewStatus(visit.ask("status")) if visit.ask("status") in set(ReviewStatus) else ReviewStatus.HELD
    return LIST_REVIEWS, ListReviewsRequest(status=status, limit=_PAGE, after=visit.ask("after"))


async def review(visit: Visit) -> Page:
    """Show the inbox."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    sets = await visit.run(LIST_CHANGES, ListChangesRequest(limit=_SETS))
    held = [each for each in sets if each.status is ChangeStatus.HELD]
    values: dict[str, Any] = {
        "reviews": found,
        "status": request.status,
        "statuses": tuple(ReviewStatus),
        "more": visit.link("review", status=request.status, after=found[-1].id) if len(found) == _PAGE else "",
        "may_decide": visit.may_change(APPROVE_REVIEW),
        "may_change": visit.may_change(APPROVE),
        "held": [(each, await _compared(visit, each)) for each in held[:3]],
        "settled": [each for each in sets if each.status is not ChangeStatus.HELD][:5],
        "editing": visit.ask("edit"),
        "rejecting": visit.ask("reject"),
    }
    return Page(template="review.html", values=values)


async def _compared(visit: Visit, changes: ChangeSet) -> list[tuple[Change, list[Line]]]:
    return [
        (each, compare(await _body(visit, each), each.draft.body if each.draft else "")) for each in changes.changes
    ]


async def _body(visit: Visit, change: Change) -> str:
    if change.document_id is None or change.expected is None:
        return ""
    try:
        return (await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=change.document_id))).body
    except NotFound:  # it was deleted meanwhile: approving will say so
        return ""


async def approve(visit: Visit) -> Goto:
    """Believe a claim, perhaps in other words."""
    statement, note = visit.filled("statement").strip() or None, visit.filled("note").strip() or None
    request = ApproveReviewRequest(review_id=visit.names["review"], statement=statement, note=note)
    await visit.run(APPROVE_REVIEW, request)
    return Goto(visit.link("review", told="approved"))


async def reject(visit: Visit) -> Goto:
    """Do not believe a claim, and keep why."""
    note = visit.filled("note").strip() or None
    await visit.run(REJECT_REVIEW, RejectReviewRequest(review_id=visit.names["review"], note=note))
    return Goto(visit.link("review", told="rejected"))


async def settle(visit: Visit) -> Goto:
    """Apply, discard or undo what a consolidation changed."""
    run, does = visit.names["run"], visit.names["does"]
    if does == "approve":
        await visit.run(APPROVE, ApproveChangeRequest(run=run))
        return Goto(visit.link("review", told="applied"))
    if does not in _SETTLED:
        raise NotFound(f"nothing can be done by {does[:40]!r}.", hint="Use approve, reject or undo.")
    verb, told = _SETTLED[does]
    await visit.run(verb, ChangeRequest(run=run))
    return Goto(visit.link("review", told=told))


ROUTES = (
    PageRoute(path="/s/{space}/review", handler=review, twin=_listed),
    PageRoute(path="/s/{space}/review/{review}/approve", handler=approve, method="POST"),
    PageRoute(path="/s/{space}/review/{review}/reject", handler=reject, method="POST"),
    PageRoute(path="/s/{space}/changes/{run}/{does}", handler=settle, method="POST"),
)
