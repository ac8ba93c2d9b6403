"""The two options that read memory at a past time, declared once for all commands."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping


def _option(text: str) -> tuple[Any, object]:
    return Annotated[str | None, typer.Option(metavar="DATE", help=text)], None


VIEW: "Mapping[str, tuple[Any, object]]" = {
    "as_of": _option("Day or time to read memory at: all said until then."),
    "known_at": _option("Time at which memory had learned what it shows."),
}
"""The options in the order in which help shows them: the type and the default of each."""


def view(options: "Mapping[str, Any]") -> dict[str, Any]:
    """Return the times that were passed, by the names of the parameters in Python."""
    return {name: options[name] for name in VIEW if options.get(name) is not None}
