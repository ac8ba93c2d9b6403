"""A plain Python model of filters, with random items and filters to compare the databases with."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ["team", "rank", "done", "note", "a.b", 'q"uote', "$.x", "Ünï", "", "0", "back\\slash", "list"]
TEXTS = ["", "a", "ab", "b", "B", "ä", "zz", "10", "9", "true", "null", "%", "_", "\U0001f600", "\uffff", "line\nbreak"]
NUMBERS = [0, 1, -1, 2, 10, 9, 1.0, 0.1, 0.30000000000000004, -0.0, 1e-7, 2.5, 2**53 - 1, 123456789.125]
WIDE = [2**53 + 1, 2**63, 10**30, -(2**70), 1e300]
"""Numbers that can be stored, but that no condition names."""
ORIGINS = ["user", "assistant", "document", "import", "tool:web", "tool:files"]
TAGS = ["red", "green", "blue", "Red", "re"]
AGENTS, CONVERSATIONS = ["assistant", "coach"], ["desk", "phone"]
SPEAKERS = ["Ann", "Bo", "ann"]


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What filters look at. Several sessions, and several speakers, may stand behind one memory."""

    id: str
    kind: str
    at: datetime
    origin: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inherited: tuple[Mapping[str, Any], ...] = ()
    """The metadata of what it comes from, which counts under keys that it has not itself."""
    behind: tuple[tuple[str, str, str | None], ...] = ()
    """The agent, the conversation and the speaker of each source."""


def fits(memory: Memory, given: Mapping[str, Any]) -> bool:
    """Say whether a memory fits what a caller gave."""
    return (
        _of_origin(memory, given.get("origin"))
        and set(given.get("tags", ())) <= set(memory.tags)
        and given.get("since", memory.at) <= memory.at <= given.get("until", memory.at)
        and _from(memory, given)
        and all(_holds(memory, key, wanted) for key, wanted in given.get("where", {}).items())
    )


def _of_origin(memory: Memory, wanted: list[str] | None) -> bool:
    return wanted is None or (
        memory.origin is not None and (memory.origin in wanted or memory.origin.partition(":")[0] in wanted)
    )


def _from(memory: Memory, given: Mapping[str, Any]) -> bool:
    wanted = [given.get(name) for name in ("agent", "conversation", "speaker")]
    if wanted == [None, None, None]:
        return True
    return any(
        all(each is None or each == is_ for each, is_ in zip(wanted, source, strict=True)) for source in memory.behind
    )


def _holds(memory: Memory, key: str, wanted: Any) -> bool:
    held = [memory.metadata] if key in memory.metadata else memory.inherited
    values = [each[key] for each in held if key in each]
    if isinstance(wanted, list):
        return any(_same(value, each) for value in values for each in cast("list[Any]", wanted))
    if not isinstance(wanted, dict):
        return any(_same(value, wanted) for value in values)
    return all(
        not any(_same(value, than) for value in values)
        if op == "ne"
        else any(_compares(value, op, than) for value in values)
        for op, than in cast("dict[str, Any]", wanted).items()
    )


def _compares(value: Any, op: str, than: Any) -> bool:
    if op == "eq":
        return _same(value, than)
    if op == "contains":
        if isinstance(value, list):
            return any(_same(each, than) for each in cast("list[Any]", value))
        return isinstance(value, str) and isinstance(than, str) and than in value
    if _sort(value) != _sort(than) or _sort(value) not in ("text", "number"):
        return False
    return {"gt": value > than, "gte": value >= than, "lt": value < than, "lte": value <= than}[op]


def _same(one: Any, other: Any) -> bool:
    return _sort(one) == _sort(other) and one == other


def _sort(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, (int, float)) else "other"


def scalar(dice: random.Random, *, wide: bool = False) -> Any:
    return dice.choice(
        [dice.choice(TEXTS), dice.choice(NUMBERS + (WIDE if wide else [])), dice.choice([True, False, None])]
    )


def metadata(dice: random.Random) -> dict[str, Any]:
    """Make metadata; some of it nested, where conditions must find nothing to compare."""
    found: dict[str, Any] = {}
    for key in dice.sample(KEYS, dice.randint(0, 5)):
        match dice.randint(0, 9):
            case 0:
                found[key] = [scalar(dice) for _ in range(dice.randint(0, 3))]
            case 1:
                found[key] = {"b": scalar(dice)}
            case 2:
                found[key] = [[scalar(dice)], {"x": 1}]
            case _:
                found[key] = scalar(dice, wide=True)
    return found


def asked(dice: random.Random) -> dict[str, Any]:
    """Make what a caller may give: mostly one thing or two, so that something is left."""
    given: dict[str, Any] = {}
    for _ in range(dice.choice([1, 1, 1, 2, 2, 3, 5])):
        match dice.randint(0, 9):
            case 0:
                given["origin"] = dice.sample([*ORIGINS, "tool", "memory"], dice.randint(1, 3))
            case 1:
                given["tags"] = dice.sample(TAGS, dice.randint(1, 2))
            case 2:
                name, of = dice.choice([("agent", AGENTS), ("conversation", CONVERSATIONS), ("speaker", SPEAKERS)])
                given[name] = dice.choice([*of, "nobody"])
            case 3:
                since, until = sorted(BEGIN + timedelta(hours=dice.randint(0, 60)) for _ in range(2))
                for name in ("since", "until"):
                    given.pop(name, None)
                given |= dice.choice([{"since": since}, {"until": until}, {"since": since, "until": until}])
            case _:
                given.setdefault("where", {})[dice.choice([key for key in KEYS if key])] = _wanted(dice)
    return given


def _wanted(dice: random.Random) -> Any:
    match dice.randint(0, 3):
        case 0:
            return scalar(dice)
        case 1:
            return [scalar(dice) for _ in range(dice.randint(1, 4))]
        case _:
            return dict(_comparison(dice) for _ in range(dice.randint(1, 2)))


def _comparison(dice: random.Random) -> tuple[str, Any]:
    op = dice.choice(["eq", "ne", "gt", "gte", "lt", "lte", "contains"])
    if op in ("eq", "ne", "contains"):
        return op, scalar(dice)
    return op, dice.choice([dice.choice(TEXTS), dice.choice(NUMBERS)])
