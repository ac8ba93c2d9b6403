"""Permanent deletion: a preview by name, then the result."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from bethink.errors import ConflictError, InvalidRequestError
from bethink.model.operations.memory import FORGET, ForgetRequest
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.records import Deletion
from bethink.model.refs import Ref, RefKind
from bethink.model.timeline import TimelineKind
from bethink.web.deletion_preview import preview_deletion
from bethink.web.text import plural
from bethink.web.visit import MenuItem, PageRoute, PageView, Visit

_NAMES = ("ref", "session", "conversation", "thread", "everything")
_WORDS = {
    "messages": ("message", "messages"),
    "facts": ("fact", "facts"),
    "session_summaries": ("session summary", "session summaries"),
    "documents": ("document version", "document versions"),
    "threads": ("thread", "threads"),
    "others": ("other item", "other items"),
    "tests": ("memory test", "memory tests"),
}


async def erasure(visit: Visit) -> PageView:
    """Show a preview; without a target, the forms and past deletions."""
    visit.require(FORGET)
    targets = {name: visit.query_value(name).strip() for name in (*_NAMES, "agent")}
    if not any(targets[name] for name in _NAMES):
        past = await visit.run(TIMELINE, TimelineRequest(kinds=(TimelineKind.ERASURE,), **visit.times, limit=20))
        return PageView(template="erasure.html", values=_values() | {"past": past.items})
    request = _request(targets)
    preview = await visit.run(FORGET, replace(request, dry_run=True))
    values = _values() | {
        "asked": {name: value for name, value in targets.items() if value},
        "everything": request.everything,
        "target": next(targets[name] for name in _NAMES if targets[name]),
        "what": _describe_target(request),
        "counted": _count_phrases(preview),
        "total": _total(preview),
        "told": other_details(preview),
        "reach": await preview_deletion(visit, request),
        "may_forget": visit.may_change(FORGET),
    }
    return PageView(template="erasure.html", values=values)


def _values() -> dict[str, Any]:
    return {"asked": {}, "done": None, "past": (), "reach": None, "what": "", "told": [], "may_forget": False}


def _request(targets: Mapping[str, str]) -> ForgetRequest:
    chosen = [name for name in _NAMES if targets[name]]
    if len(chosen) > 1:
        raise InvalidRequestError("Only one target can be deleted at a time.", hint=f"Pass one of {', '.join(_NAMES)}.")
    return ForgetRequest(
        ref=Ref.coerce(targets["ref"]) if targets["ref"] else None,
        session_id=targets["session"] or None,
        conversation=targets["conversation"] or None,
        thread_id=targets["thread"] or None,
        everything=bool(targets["everything"]),
        agent=targets["agent"] or "assistant",
    )


def _describe_target(request: ForgetRequest) -> str:
    if request.ref is not None:
        kind = {RefKind.FACT: "a fact, with all its versions", RefKind.DOCUMENT: "a document, with all its versions"}
        return kind.get(request.ref.kind, f"a {request.ref.kind.replace('_', ' ')}")
    if request.session_id is not None:
        return "a session"
    if request.conversation is not None:
        return "a conversation"
    return "a thread" if request.thread_id is not None else "everything in this space"


def _count_phrases(forgotten: Deletion) -> list[str]:
    counts = [(getattr(forgotten, name), words) for name, words in _WORDS.items()]
    return [plural(count, *words) for count, words in counts if count]


def _total(forgotten: Deletion) -> int:
    return sum(getattr(forgotten, name) for name in _WORDS)


def other_details(forgotten: Deletion) -> list[tuple[str, Any]]:
    """Return the other fields of a result by name, such as IDs of tests that mention deleted text."""
    values = {field.name: getattr(forgotten, field.name) for field in fields(forgotten)}
    return [
        (name.replace("_", " "), value)
        for name, value in values.items()
        if name not in (*_WORDS, "dry_run") and value not in (None, "", (), False)
    ]


async def forget(visit: Visit) -> PageView:
    """Delete the previewed items. The counts must match the preview; deleting a space requires its name."""
    visit.require(FORGET)
    targets = {name: visit.form_value(name).strip() for name in (*_NAMES, "agent")}
    request = _request(targets)
    if request.everything and visit.form_value("name").strip() != visit.space:
        raise InvalidRequestError(
            "The name does not match this space.", hint="Go back and type the name exactly as shown."
        )
    current = await visit.run(FORGET, replace(request, dry_run=True))
    if visit.form_number("total") != _total(current):
        raise ConflictError(
            "The items to delete changed since the preview. Nothing was deleted.", hint="Preview again."
        )
    done = await visit.run(FORGET, request)
    values = _values() | {
        "done": done,
        "what": _describe_target(request),
        "counted": _count_phrases(done),
        "told": other_details(done),
    }
    return PageView(template="erasure.html", values=values)


ROUTES = (
    PageRoute(path="/s/{space}/erasure", handler=erasure),
    PageRoute(path="/s/{space}/erasure/forget", handler=forget, method="POST"),
)
MENU = (MenuItem(section="Curation", name="Erasure", step="erasure", operation=FORGET, shortcut="e", position=30),)
