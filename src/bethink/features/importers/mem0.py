"""Reads memories of mem0, as its `get_all` returns them: `{"results": [{"id", "memory", "created_at", …}]}`."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from bethink.agents.transcripts.lines import id_at, mapping, text_at
from bethink.errors import BethinkError, InvalidRequestError
from bethink.features.importers.items import (
    ImportedFact,
    Item,
    UnreadableItem,
    json_files,
    parse_time,
    without_empty,
)
from bethink.model.facts import Fact
from bethink.model.plural import plural
from bethink.model.records import checked_name, checked_tags

_EXPORT = "a JSON file with what get_all() of mem0 returned, or a list of such pages"
_ABOUT = ("agent_id", "run_id", "app_id", "updated_at")
_NAMED_USERS = 10


class Mem0Export:
    """Memories of one file, or of all files in a folder or zip file, with the number of memories of each user.

    Raises:
        InvalidRequestError: for a file of another kind.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._entries: list[tuple[str, Any]] = []
        for name, tree in json_files(path, "*.json", _EXPORT):
            entries = _entries(tree)
            if entries is None or (entries and not any(text_at(mapping(entry), "memory") for entry in entries)):
                raise InvalidRequestError(f"{name} contains no mem0 memories.", hint=f"Use {_EXPORT}.")
            self._entries += [(f"{name}, memory {number}", entry) for number, entry in enumerate(entries, 1)]
        if not self._entries:
            raise InvalidRequestError(f"{self._name} contains no mem0 memories.", hint=f"Use {_EXPORT}.")
        owners = Counter(_user(entry) for _, entry in self._entries)
        self.without_user = owners.pop(None, 0)
        self.users = cast("Counter[str]", owners)

    def items(self, *, user: str | None = None, by_user: bool = False) -> Iterator[Item]:
        """Yield each memory as a fact: of one user, or of every user for a space of its own.

        Raises:
            InvalidRequestError: if `user` has no memories, or if several users would share a space.
        """
        if user is not None and user not in self.users:
            raise InvalidRequestError(
                f"{self._name} has no memories of user {user!r}.",
                hint=f"Choose one of its users: {self._named_users()}.",
            )
        if user is None and not by_user and len(self.users) > 1:
            raise InvalidRequestError(
                f"{self._name} has memories of {len(self.users)} users: {self._named_users()}.",
                hint="Choose one with --user ID and --space NAME, or pass --by-user for one space per user.",
            )
        return self._items(user, by_user=by_user)

    def _items(self, user: str | None, *, by_user: bool) -> Iterator[Item]:
        first: dict[tuple[str, str], tuple[str, Any]] = {}
        for location, entry in self._entries:
            owner = _user(entry)
            if user not in (None, owner):
                continue
            item = _fact(mapping(entry), location, owner)
            if by_user and isinstance(item, ImportedFact):
                item = _in_own_space(item, owner)
            if isinstance(item, ImportedFact):
                earlier, same = first.setdefault((item.space, item.fact.id), (location, entry))
                if same != entry:
                    item = UnreadableItem(location, f"Another memory with this id is at {earlier}.")
            yield item

    def _named_users(self) -> str:
        names = [f"{name} ({count})" for name, count in self.users.most_common(_NAMED_USERS)]
        others = len(self.users) - len(names)
        return ", ".join(names) + (f" and {plural(others, 'other')}" if others else "") or "none"


def _entries(tree: Any) -> list[Any] | None:
    """Return the memories of a response or of a list of pages. Returns None for anything else."""
    if isinstance(tree, dict):
        tree = mapping(tree).get("results") if "results" in tree else mapping(tree).get("memories")
    if not isinstance(tree, list):
        return None
    entries: list[Any] = []
    for child in cast("list[Any]", tree):
        page = mapping(child).get("results")
        entries += cast("list[Any]", page) if isinstance(page, list) else [child]
    return entries


def _user(entry: Any) -> str | None:
    value = mapping(entry).get("user_id")
    return str(value) if isinstance(value, str | int) and value != "" else None


def _fact(tree: Mapping[str, Any], location: str, user: str | None) -> Item:
    try:
        text = text_at(tree, "memory")
        if text is None or not text.strip():
            raise InvalidRequestError("The memory has no text.")
        own_id = id_at({"id": str(tree.get("id") or "")}, "id") or hashlib.sha256(text.encode()).hexdigest()[:32]
        about = {"user_id": user, **{name: tree.get(name) for name in _ABOUT}}
        fact = Fact(
            id=f"mem0:{own_id}",
            text=text,
            source="mem0",
            tags=checked_tags(_categories(tree)),
            valid_from=_time(tree, "created_at"),
            expires_at=_time(tree, "expiration_date"),
            metadata=without_empty(mapping(tree.get("metadata"))) | without_empty(about),
        )
        return ImportedFact(location, fact, changed_at=_time(tree, "updated_at"))
    except BethinkError as error:
        return UnreadableItem(location, str(error))


def _in_own_space(item: ImportedFact, user: str | None) -> Item:
    if user is None:
        hint = "Save such memories to a file of their own, and import it with --space NAME."
        return UnreadableItem(item.location, f"The memory has no `user_id`. {hint}")
    try:
        return item._replace(space=checked_name(user, "a space"))
    except InvalidRequestError as error:
        return UnreadableItem(item.location, str(error))


def _categories(tree: Mapping[str, Any]) -> list[str]:
    value = tree.get("categories")
    names = cast("list[Any]", value) if isinstance(value, list) else []
    return [name for name in names if isinstance(name, str) and name]


def _time(tree: Mapping[str, Any], name: str) -> datetime | None:
    value = tree.get(name)
    at = parse_time(value)
    if at is None and value not in (None, ""):
        raise InvalidRequestError(f"Cannot parse `{name}` {str(value)[:40]!r} as a date or time.", hint="Use ISO 8601.")
    return at
