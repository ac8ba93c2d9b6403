"""The section of 'bethink try' about instructions."""

from typing import Any

from bethink.cli.terminal import OutputLine
from bethink.features.guard.counting import as_json, compliance_lines, count_compliance

_SHOWN = 5


def section(days: int, *, quiet: bool) -> tuple[list[OutputLine], dict[str, Any]]:
    """Return the lines and the data of the section; no lines if no instruction was found."""
    rules = count_compliance(days, quiet=quiet)[0].results()
    lines = compliance_lines(rules[:_SHOWN])
    heading = OutputLine("How your instructions were followed ('bethink guard try' has all)", "bold")
    return ([heading, *lines] if lines else []), {"instructions": [as_json(rule) for rule in rules]}
