"""Loads extensions of Bethink that installed packages register as entry points, and says how to install the rest."""

from collections.abc import Mapping
from typing import Any

from bethink.errors import ConfigurationError

BACKENDS = "bethink.backends"
"""The entry-point group of backends: the name is the scheme of the address, the value a factory."""
COMMANDS = "bethink.commands"
"""The entry-point group of CLI command groups: the name is the command, the value a `typer.Typer`."""

DISTRIBUTIONS: Mapping[str, tuple[str, str]] = {
    "shards": ("bethink-shards", "Add, drain and list database shards."),
    "temporal": ("bethink-temporal", "Run jobs on a Temporal cluster."),
}
"""The command groups of our other distributions, with their summaries: `--help` lists them without any lookup."""
SCHEMES = ("shards",)
"""The address schemes of our other distributions."""


def load_entry_point(group: str, name: str) -> Any | None:
    """Load the object that an installed package registers under a name, or return None."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - it reads the metadata of every installed package

    for entry in entry_points(group=group, name=name):
        return entry.load()
    return None


def is_backend(scheme: str) -> bool:
    """Return whether Bethink or an installed package provides a backend for an address scheme."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - as above

    return scheme in SCHEMES or bool(entry_points(group=BACKENDS, name=scheme))


def not_installed(name: str) -> ConfigurationError:
    """Return the error for a command group or an address scheme whose distribution is missing."""
    distribution, _ = DISTRIBUTIONS[name]
    hint = f"From a clone of Bethink, run: pip install ./packages/{distribution}"
    return ConfigurationError(f"{distribution} is not installed.", hint=hint)


def install_hint(extra: str) -> str:
    """Return the command that installs an extra. Bethink is not on a package index yet, so it needs a clone."""
    return f"From a clone of Bethink, run: pip install '.[{extra}]'"
