"""Reads memories of mem0, as its `get_all` returns them: `{"results": [{"id", "memory", "created_at", …}]}`."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.lines import id_at, mapping, objects, text_at
from bethink.errors import BethinkError, InvalidRequestError
from bethink.features.importers.items import ImportedFact, Item, UnreadableItem, json_files, parse_time, texts_only
from bethink.model.facts import Fact

_EXPORT = "a JSON file with what get_all() of mem0 returned"
_ABOUT = ("user_id", "agent_id", "run_id", "app_id", "categories", "updated_at")


def read_items(path: Path, *, user: str | None = None) -> Iterator[Item]:
    """Yield each memory as a fact. `user` selects one user's memories.

    Raises:
        InvalidRequestError: if there are several users and `user` is None: a space belongs to one user.
    """
    for name, tree in json_files(path, "*.json", _EXPORT):
        entries = mapping(tree).get("results") or mapping(tree).get("memories") or tree
        memories = [memory for memory in objects(entries) if text_at(memory, "memory")]
        if not memories:
            raise InvalidRequestError(f"{name} contains no mem0 memories.", hint=f"Use {_EXPORT}.")
        users = {memory["user_id"] for memory in memories if text_at(memory, "user_id")}
        if user is None and len(users) > 1:
            raise InvalidRequestError(
                f"{name} has memories of {len(users)} users.", hint="Select one with --user, and its space."
            )
        for number, memory in enumerate(memories, 1):
            if user in (None, memory.get("user_id")):
                yield _fact(memory, f"{name}, memory {number}")


def _fact(tree: Mapping[str, Any], location: str) -> Item:
    try:
        fact = Fact(
            id=f"mem0:{id_at(tree, 'id') or hashlib.sha256(tree['memory'].encode()).hexdigest()[:32]}",
            text=tree["memory"],
            source="mem0",
            valid_from=parse_time(tree.get("created_at")),
            metadata=texts_only({**mapping(tree.get("metadata")), **{name: tree.get(name) for name in _ABOUT}}),
        )
    except BethinkError as error:
        return UnreadableItem(location, str(error))
    return ImportedFact(location, fact)
