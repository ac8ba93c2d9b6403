"""The filter options, declared once, and the syntax of metadata conditions."""

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.results import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CONDITION = re.compile(r"(?P<key>[^=<>!~]+?)\s*(?P<op>!=|>=|<=|=|>|<|~)\s*(?P<value>(?![=<>!~]).*)", re.DOTALL)
_OPS = {"!=": "ne", ">=": "gte", "<=": "lte", ">": "gt", "<": "lt", "~": "contains"}


def _option(metavar: str, text: str) -> tuple[Any, object]:
    return Annotated[str | None, typer.Option(metavar=metavar, help=text)], None


def repeatable(metavar: str, text: str) -> tuple[Any, object]:
    """Declare an option that may be repeated."""
    return Annotated[list[str] | None, typer.Option(metavar=metavar, help=f"{text} Repeatable.")], None


NARROWING: "Mapping[str, tuple[Any, object]]" = {
    "tag": repeatable("TAG", "Filter by tag. Repeat to require several."),
    "where": repeatable("CONDITION", "Metadata: key=value, key!=value, key>=3, key~part or key=[1,2]."),
    "origin": repeatable("ORIGIN", "Origin: user, assistant, document, import, memory, tool or tool:NAME."),
    "speaker": _option("NAME", "Filter by speaker."),
    "since": _option("DATE", "Items from this date on."),
    "until": _option("DATE", "Items up to this date."),
    "conversation": _option("NAME", "Filter by conversation."),
    "agent": _option("NAME", "Filter by agent."),
}
"""The options in the order in which help shows them: the type and the default of each."""


def narrowing(options: "Mapping[str, Any]") -> dict[str, Any]:
    """Return the filters that were passed, by the names of the parameters in Python."""
    filters = {
        "tags": tuple(options.get("tag") or ()),
        "origin": tuple(options["origin"]) if options.get("origin") else None,
        "where": conditions(options.get("where") or ()) or None,
    }
    filters |= {name: options.get(name) for name in ("speaker", "since", "until", "conversation", "agent")}
    return {name: value for name, value in filters.items() if value}


def conditions(texts: "Iterable[str]") -> dict[str, Any]:
    """Parse conditions such as `rank>=3`. Two on one key must both match."""
    parsed: dict[str, Any] = {}
    for text in texts:
        match = _CONDITION.fullmatch(text)
        if match is None or (match["value"][:1] in ("[", "{") and isinstance(_value(match["value"]), str)):
            hint = "Write key=value, key!=value, key>=3, key~part or key=[1,2]."
            raise UsageError(f"Cannot parse the condition {text[:80]!r}.", hint=hint)
        key, value = match["key"], _value(match["value"])
        if match["op"] == "=" and key not in parsed:
            parsed[key] = value
            continue
        if key in parsed and not isinstance(parsed[key], dict):
            parsed[key] = {"eq": parsed[key]}
        parsed.setdefault(key, {})[_OPS.get(match["op"], "eq")] = value
    return parsed


def values(texts: "Iterable[str]") -> dict[str, Any] | None:
    """Parse metadata written as `key=value`; None if there is none."""
    parsed: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise UsageError(f"Cannot parse the metadata {text[:80]!r}.", hint="Write key=value.")
        parsed[key] = _value(value)
    return parsed or None


def _value(text: str) -> Any:
    """Parse a value as JSON where it is JSON: 3 is a number, "3" and three are texts."""
    try:
        return json.loads(text)
    except ValueError:
        return text
