"""The ids in an answer: `f1` is a fact of the request, `c1` a claim of the answer. Facts get their real ids."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from bethink.memory.learning.extraction.answer import fields_of
from bethink.memory.learning.extraction.claims import claim_position
from bethink.memory.learning.extraction.request import short_id
from bethink.model.facts import Fact

_LISTS = ("known", "earlier", "rests_on")


def with_fact_ids(tree: dict[str, Any], known_facts: Sequence[Fact]) -> dict[str, Any]:
    """Replace the short ids of known facts with their real ids: a recorded answer must name the same facts later.

    The ids of claims stay, because no fact has been stored for them yet.
    """
    ids = {short_id(position): fact.id for position, fact in enumerate(known_facts)}
    count = len(tree["claims"])

    def real_id(name: str) -> str | None:
        position = claim_position(name)
        return ids.get(name) if position is None else name if position < count else None

    return {**tree, "claims": [_rename_ids(entry, real_id) for entry in tree["claims"]]}


def merge_answers(first: Sequence[object], valid: Mapping[int, object], again: Sequence[object]) -> list[object]:
    """Return the `valid` claims of the `first` answer and the new ones of a second one, with the ids of claims adapted.

    A claim of the first answer that is not valid is taken to be the one in the second that states the same.
    """
    retained = list(valid.values())
    new_entries = [entry for entry in again if entry not in retained]  # a model may repeat all of them
    merged = [*retained, *new_entries]
    statements = {_statement(entry): position for position, entry in reversed(list(enumerate(merged)))}
    moved = {old: new for new, old in enumerate(valid)}
    first_positions = {
        old: moved.get(old, statements.get(_statement(entry)) if _statement(entry) else None)
        for old, entry in enumerate(first)
    }
    again_positions = {old: merged.index(entry) for old, entry in enumerate(again)}
    return [
        *(_rename_ids(entry, lambda name: _new_name(name, first_positions)) for entry in retained),
        *(_rename_ids(entry, lambda name: _new_name(name, again_positions)) for entry in new_entries),
    ]


def _new_name(name: str, positions: Mapping[int, int | None]) -> str | None:
    position = claim_position(name)
    if position is None:
        return name
    new = positions.get(position)
    return None if new is None else f"c{new + 1}"


def _statement(entry: object) -> str:
    statement = fields_of(entry).get("statement")
    return statement if isinstance(statement, str) else ""


def _rename_ids(entry: object, rename: Callable[[str], str | None]) -> object:
    """Return a claim with its ids renamed, without those that have no new name."""
    lists: dict[str, object] = {}
    for field_name in _LISTS:
        names = fields_of(entry).get(field_name)
        if isinstance(names, list):
            texts = [name.strip() for name in cast("list[object]", names) if isinstance(name, str)]
            lists[field_name] = [new for name in texts if (new := rename(name)) is not None]
    return {**fields_of(entry), **lists} if lists else entry
