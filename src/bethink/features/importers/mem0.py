"""Reads memories of mem0, as its `get_all` returns them: `{"results": [{"id", "memory", "created_at", …}]}`."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.lines import id_at, mapping, objects, text_at
from bethink.errors import BethinkError, Invalid
from bethink.features.importers.items import ImportedFact, Item, UnreadableItem, json_files, texts_only, when
from bethink.model.facts import Fact

_EXPORT = "a JSON file with what get_all() of mem0 returned"
_ABOUT = ("user_id", "agent_id", "run_id", "app_id", "categories", "updated_at")


def read(path: Path, *, user: str | None = None) -> Iterator[Item]:
    """Yield each memory as a fact; with `user`, only those of one.

    Raises:
        Invalid: for memories of several users, if none is named: a space belongs to one.
    """
    for name, tree in json_files(path, "*.json", _EXPORT):
        listed = mapping(tree).get("results") or mapping(tree).get("memories") or tree
        found = [each for each in objects(listed) if text_at(each, "memory")]
        if not found:
            raise Invalid(f"{name} holds no memories of mem0.", hint=f"Give {_EXPORT}.")
        users = {each["user_id"] for each in found if text_at(each, "user_id")}
        if user is None and len(users) > 1:
            raise Invalid(f"{name} has memories of {len(users)} users.", hint="Name one with --user, and its space.")
        for number, each in enumerate(found, 1):
            if user in (None, each.get("user_id")):
                yield _fact(each, f"{name}, memory {number}")


def _fact(tree: Mapping[str, Any], place: str) -> Item:
    try:
        fact = Fact(
            id=f"mem0:{id_at(tree, 'id') or hashlib.sha256(tree['memory'].encode()).hexdigest()[:32]}",
            content=tree["memory"],
            source="mem0",
            valid_from=when(tree.get("created_at")),
            metadata=texts_only({**mapping(tree.get("metadata")), **{name: tree.get(name) for name in _ABOUT}}),
        )
    except BethinkError as error:
        return UnreadableItem(place, str(error))
    return ImportedFact(place, fact)
