"""Finds what installed distributions add to Bethink through entry points."""

from collections.abc import Mapping
from typing import Any

from bethink.errors import Misconfigured

BACKENDS = "bethink.backends"
"""The entry-point group of backends: the name is the scheme of the address, the value a factory."""
COMMANDS = "bethink.commands"
"""The entry-point group of CLI command groups: the name is the command, the value a `typer.Typer`."""

DISTRIBUTIONS: Mapping[str, tuple[str, str]] = {
    "shards": ("bethink-shards", "List, add and drain shards, and move a space to another one."),
    "temporal": ("bethink-temporal", "Run background jobs on a Temporal cluster."),
}
"""The command groups of our other distributions, with their summaries: `--help` lists them without any lookup."""
SCHEMES = ("shards",)
"""The address schemes of our other distributions."""


def registered(group: str, name: str) -> Any | None:
    """Return what an installed distribution registers under a name, or None."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - it reads the metadata of every installed package

    for entry in entry_points(group=group, name=name):
        return entry.load()
    return None


def is_backend(scheme: str) -> bool:
    """Return whether an address scheme is one of ours, or one that an installed distribution registers."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - as above

    return scheme in SCHEMES or bool(entry_points(group=BACKENDS, name=scheme))


def not_installed(name: str) -> Misconfigured:
    """Return the error for a command group or an address scheme whose distribution is missing."""
    distribution, _ = DISTRIBUTIONS[name]
    return Misconfigured(f"{distribution} is not installed.", hint=f"Run 'pip install {distribution}'.")
