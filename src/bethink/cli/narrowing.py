"""The options that narrow a command, declared once, and how conditions on metadata are written."""

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CONDITION = re.compile(r"(?P<key>[^=<>!~]+?)\s*(?P<op>!=|>=|<=|=|>|<|~)\s*(?P<value>(?![=<>!~]).*)", re.DOTALL)
_OPS = {"!=": "ne", ">=": "gte", "<=": "lte", ">": "gt", "<": "lt", "~": "contains"}


def _option(metavar: str, text: str) -> tuple[Any, object]:
    return Annotated[str | None, typer.Option(metavar=metavar, help=text)], None


def repeatable(metavar: str, text: str) -> tuple[Any, object]:
    """Declare an option that may be given several times."""
    return Annotated[list[str] | None, typer.Option(metavar=metavar, help=f"{text} Repeatable.")], None


_WHERE = "Only what has such metadata: key=value, key!=value, key>=3, key~part or key=[1,2]."
NARROWING: "Mapping[str, tuple[Any, object]]" = {
    "tag": repeatable("TAG", "Only what has this tag, and each other that is given."),
    "where": repeatable("CONDITION", _WHERE),
    "origin": repeatable("ORIGIN", "Only what came from user, assistant, document, import, memory, tool or tool:NAME."),
    "speaker": _option("NAME", "Only what this speaker said."),
    "since": _option("DATE", "Only what was said on this day or later."),
    "until": _option("DATE", "Only what was said up to the end of this day."),
    "conversation": _option("NAME", "Only this conversation."),
    "agent": _option("NAME", "Only sessions with this agent."),
}
"""The options in the order in which help shows them: the type and the default of each."""


def narrowing(given: "Mapping[str, Any]") -> dict[str, Any]:
    """Return the options that were given, by the names of the parameters in Python."""
    found = {
        "tags": tuple(given.get("tag") or ()),
        "origins": tuple(given["origin"]) if given.get("origin") else None,
        "where": conditions(given.get("where") or ()) or None,
    }
    found |= {name: given.get(name) for name in ("speaker", "since", "until", "conversation", "agent")}
    return {name: value for name, value in found.items() if value}


def conditions(written: "Iterable[str]") -> dict[str, Any]:
    """Read conditions such as `rank>=3`. Two on one key must both hold."""
    found: dict[str, Any] = {}
    for each in written:
        read = _CONDITION.fullmatch(each)
        if read is None or (read["value"][:1] in ("[", "{") and isinstance(_value(read["value"]), str)):
            hint = "Write key=value, key!=value, key>=3, key~part or key=[1,2]."
            raise UsageError(f"cannot read the condition {each[:80]!r}.", hint=hint)
        key, value = read["key"], _value(read["value"])
        if read["op"] == "=" and key not in found:
            found[key] = value
            continue
        if key in found and not isinstance(found[key], dict):
            found[key] = {"eq": found[key]}
        found.setdefault(key, {})[_OPS.get(read["op"], "eq")] = value
    return found


def values(written: "Iterable[str]") -> dict[str, Any] | None:
    """Read metadata written as `key=value`; None if there is none."""
    found: dict[str, Any] = {}
    for each in written:
        key, equals, value = each.partition("=")
        if not key or not equals:
            raise UsageError(f"cannot read the metadata {each[:80]!r}.", hint="Write key=value.")
        found[key] = _value(value)
    return found or None


def _value(text: str) -> Any:
    """Read a value as JSON where it is JSON: 3 is a number, "3" and three are texts."""
    try:
        return json.loads(text)
    except ValueError:
        return text
