"""What was not believed at once: approve it, put it in other words, or say why not. And changes to documents."""

from typing import Any, NamedTuple

from bethink.errors import NotFound
from bethink.model.consolidation import Change, ChangeSet, ChangeStatus
from bethink.model.documents import Document
from bethink.model.operations.documents import (
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
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit

_PAGE = 20
_SETTLED = {"reject": (REJECT, "discarded"), "undo": (UNDO, "undone")}
_SETS = 10
_MOST_CHANGES = 40
"""How many changes of one set are shown to choose from."""


class ShownChange(NamedTuple):
    """A change to a document, compared with what that says now. It is stale if that is not what it was made from."""

    change: Change
    lines: list[Line]
    stale: bool


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
        "whole": {each.run for each in held if len(each.changes) <= _MOST_CHANGES},
        "settled": [each for each in sets if each.status is not ChangeStatus.HELD][:5],
        "editing": (visit.ask("run"), visit.ask("edit")),
    }
    return Page(template="review.html", values=values)


async def _compared(visit: Visit, changes: ChangeSet) -> list[ShownChange]:
    found: list[ShownChange] = []
    for each in changes.changes[:_MOST_CHANGES]:
        now = await _current(visit, each)
        lines = compare(now.body if now else "", each.draft.body if each.draft else "")
        found.append(ShownChange(each, lines, stale=(now.version if now else None) != each.expected))
    return found


async def _current(visit: Visit, change: Change) -> Document | None:
    if change.document_id is None:
        return None
    try:
        return await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=change.document_id))
    except NotFound:  # it was deleted meanwhile: it is stale
        return None


async def decide(visit: Visit) -> Goto:
    """Believe some claims, or none of them, all at once."""
    visit.require(APPROVE_REVIEWS)
    chosen = tuple(visit.form.get("review", ()))
    if not chosen:
        return Goto(visit.link("review", told="none"))
    request = DecideReviewsRequest(review_ids=chosen, note=visit.filled("note").strip() or None)
    approved = visit.filled("does") == "approve"
    await visit.run(APPROVE_REVIEWS if approved else REJECT_REVIEWS, request)
    return Goto(visit.link("review", told="approved" if approved else "rejected"))


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
        visit.require(APPROVE)
        paths = tuple(visit.form.get("path", ())) if visit.filled("part") else None
        if paths == ():
            return Goto(visit.link("review", told="none"))
        edited = visit.filled("edited")
        texts = {edited: visit.filled("text")} if edited and (paths is None or edited in paths) else None
        await visit.run(APPROVE, ApproveChangeRequest(run=run, paths=paths, texts=texts))
        return Goto(visit.link("review", told="applied"))
    if does not in _SETTLED:
        raise NotFound(f"nothing can be done by {does[:40]!r}.", hint="Use approve, reject or undo.")
    verb, told = _SETTLED[does]
    await visit.run(verb, ChangeRequest(run=run))
    return Goto(visit.link("review", told=told))


ROUTES = (
    PageRoute(path="/s/{space}/review", handler=review, twin=_listed),
    PageRoute(path="/s/{space}/review/decide", handler=decide, method="POST"),
    PageRoute(path="/s/{space}/review/{review}/approve", handler=approve, method="POST"),
    PageRoute(path="/s/{space}/review/{review}/reject", handler=reject, method="POST"),
    PageRoute(path="/s/{space}/changes/{run}/{does}", handler=settle, method="POST"),
)
MENU = (
    MenuItem(
        section="Keeping it right", name="Review", step="review", operation=LIST_REVIEWS, shortcut="v", position=10
    ),
)
