"""Units of settings: times are in seconds, except in the `[modules]` tables of a file."""

_TIMES = ("timeout", "deadline", "lag")


def seconds_of(name: str, value: object) -> object:
    """Convert a time of a `[modules]` table, where times are in milliseconds."""
    return value / 1000 if isinstance(value, int) and name.endswith(_TIMES) else value


def milliseconds(seconds: float) -> int:
    """Return a time of the settings in milliseconds, as databases take it."""
    return round(seconds * 1000)
