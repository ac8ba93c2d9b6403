"""Commands in hints: each repeats the options that select a space and a database, so that it can be run as printed."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_COMMAND = re.compile(r"(?<!that )'(bethink [^'\n]+)'")  # not a file that a command wrote


_find_root: list[Callable[[], Any]] = []


def set_root(find: Callable[[], Any]) -> None:
    """Set the function that returns the top-level command. It is set from there, because it imports all others."""
    _find_root[:] = [find]


def repeat_options(text: str, options: Mapping[str, Sequence[str]]) -> str:
    """Return a text whose quoted commands repeat these options, by flag, where they take them."""
    if not any(options.values()):
        return text
    return _COMMAND.sub(lambda match: f"'{_with_options(match[1], options)}'", text)


def _with_options(command: str, options: Mapping[str, Sequence[str]]) -> str:
    from bethink.cli.target import is_server  # noqa: PLC0415 - most commands print no hint
    from bethink.config.masking import mask_secrets  # noqa: PLC0415

    accepted = _options_by_flag(command.split()[1:])
    if "--api-key" not in accepted and any(map(is_server, options.get("--database", ()))):
        return command  # it runs where the server runs, with options of its own
    words = [
        f"{flag} {_quote(mask_secrets(value))}"
        for flag, values in options.items()
        if flag in accepted and flag not in command.split() and (len(values) == 1 or accepted[flag].multiple)
        for value in values
    ]
    return " ".join([command, *words])


def _quote(value: str) -> str:
    """Return a value as a shell word. Double quotes, because a hint puts the whole command into single ones."""
    return value if _PLAIN.fullmatch(value) else '"' + re.sub(r'([\\"$`])', r"\\\1", value) + '"'


def _options_by_flag(words: list[str]) -> dict[str, Any]:
    """Return the options of a command by flag; none for a command that does not exist."""
    command: Any = _find_root[0]() if _find_root else None
    names = [word for word in words if not word.startswith("-")]
    while (inner := getattr(command, "commands", None)) is not None:
        name = names.pop(0) if names else getattr(command, "default", None)  # a group may run one of its commands
        if name is None or name not in inner:
            return {}
        command = inner[name]
    return {flag: parameter for parameter in command.params for flag in parameter.opts}
