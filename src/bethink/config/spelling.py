"""Suggests the right name for a misspelled setting."""

from collections.abc import Iterable

from bethink.errors import ConfigurationError


def unknown_setting(name: str, origin: str, *, choices: Iterable[str]) -> ConfigurationError:
    """Return the error for a setting that does not exist."""
    return ConfigurationError(f"Unknown setting: {name!r} ({origin}).", hint=suggestion(name, choices))


def suggestion(name: str, choices: Iterable[str]) -> str:
    """Return the closest of the names, or all of them."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for a misspelled name

    spellings = {choice.lower().removeprefix("bethink_"): choice for choice in choices}
    spellings.pop("module", None)  # `database` sets it
    similar = get_close_matches(name.lower().removeprefix("bethink_"), spellings, n=2, cutoff=0.7)
    return (
        f"Did you mean {' or '.join(spellings[choice] for choice in similar)}?"
        if similar
        else f"Known: {', '.join(choices)}."
    )
