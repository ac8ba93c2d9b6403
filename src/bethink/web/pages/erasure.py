"""What would go, then what went: forgetting for good, seen by name before it is done."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from bethink.errors import Conflict, Invalid
from bethink.model.operations.memory import FORGET, ForgetRequest
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Forgotten
from bethink.model.timeline import TimelineKind
from bethink.web.going import reach_of
from bethink.web.text import plural
from bethink.web.visit import MenuItem, Page, PageRoute, Visit

_NAMES = ("ref", "session", "conversation", "thread", "everything")
_WORDS = {
    "messages": ("message", "messages"),
    "facts": ("fact", "facts"),
    "session_memories": ("session memory", "session memories"),
    "documents": ("version of documents", "versions of documents"),
    "threads": ("thread", "threads"),
    "others": ("other text", "other texts"),
    "tests": ("memory test", "memory tests"),
}


async def erasure(visit: Visit) -> Page:
    """Show what would go; without a target, what can be forgotten, and what was."""
    visit.require(FORGET)
    asked = {name: visit.ask(name).strip() for name in (*_NAMES, "agent")}
    if not any(asked[name] for name in _NAMES):
        past = await visit.run(TIMELINE, TimelineRequest(kinds=(TimelineKind.ERASURE,), as_of=visit.moment, limit=20))
        return Page(template="erasure.html", values=_values() | {"past": past.items})
    request = _request(asked)
    counted = await visit.run(FORGET, replace(request, dry_run=True))
    values = _values() | {
        "asked": {name: value for name, value in asked.items() if value},
        "everything": request.everything,
        "target": next(asked[name] for name in _NAMES if asked[name]),
        "what": _what(request),
        "counted": _counted(counted),
        "total": _total(counted),
        "told": told(counted),
        "reach": await reach_of(visit, request),
        "may_forget": visit.may_change(FORGET),
    }
    return Page(template="erasure.html", values=values)


def _values() -> dict[str, Any]:
    return {"asked": {}, "done": None, "past": (), "reach": None, "what": "", "told": [], "may_forget": False}


def _request(asked: Mapping[str, str]) -> ForgetRequest:
    given = [name for name in _NAMES if asked[name]]
    if len(given) > 1:
        raise Invalid("one thing is forgotten at a time.", hint=f"Name one of {', '.join(_NAMES)}.")
    return ForgetRequest(
        ref=Ref.read(asked["ref"]) if asked["ref"] else None,
        session_id=asked["session"] or None,
        conversation=asked["conversation"] or None,
        thread_id=asked["thread"] or None,
        everything=bool(asked["everything"]),
        agent=asked["agent"] or "assistant",
    )


def _what(request: ForgetRequest) -> str:
    if request.ref is not None:
        kind = {RefKind.FACT: "a fact, with all its versions", RefKind.DOCUMENT: "a document, in all its versions"}
        return kind.get(request.ref.kind, f"a {request.ref.kind.replace('_', ' ')}")
    if request.session_id is not None:
        return "a session"
    if request.conversation is not None:
        return "a conversation"
    return "a thread of working memory" if request.thread_id is not None else "everything in this space"


def _counted(forgotten: Forgotten) -> list[str]:
    found = [(getattr(forgotten, name), words) for name, words in _WORDS.items()]
    return [plural(count, *words) for count, words in found if count]


def _total(forgotten: Forgotten) -> int:
    return sum(getattr(forgotten, name) for name in _WORDS)


def told(forgotten: Forgotten) -> list[tuple[str, Any]]:
    """Return whatever else a result says, by name: ids of tests that hold words of it, and what newer versions add."""
    found = {each.name: getattr(forgotten, each.name) for each in fields(forgotten)}
    return [
        (name.replace("_", " "), value)
        for name, value in found.items()
        if name not in (*_WORDS, "dry_run") and value not in (None, "", (), False)
    ]


async def forget(visit: Visit) -> Page:
    """Forget what was looked at. What would go now must be what was seen, and a whole space is named once more."""
    visit.require(FORGET)
    asked = {name: visit.filled(name).strip() for name in (*_NAMES, "agent")}
    request = _request(asked)
    if request.everything and visit.filled("name").strip() != visit.space:
        raise Invalid("the name is not that of this space.", hint="Go back, and type the name as it is shown.")
    again = await visit.run(FORGET, replace(request, dry_run=True))
    if visit.filled_number("total") != _total(again):
        raise Conflict("what would go has changed meanwhile. Nothing was forgotten.", hint="Look at it again.")
    done = await visit.run(FORGET, request)
    values = _values() | {"done": done, "what": _what(request), "counted": _counted(done), "told": told(done)}
    return Page(template="erasure.html", values=values)


ROUTES = (
    PageRoute(path="/s/{space}/erasure", handler=erasure),
    PageRoute(path="/s/{space}/erasure/forget", handler=forget, method="POST"),
)
MENU = (
    MenuItem(section="Keeping it right", name="Erasure", step="erasure", operation=FORGET, shortcut="e", position=30),
)
