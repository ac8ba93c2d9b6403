"""Counts in sentences."""


def plural(count: int, one: str, more: str = "", *, form: str = "") -> str:
    """Write a count with its noun: 1 message, 2 messages. `more` is the noun in the plural where an s is not enough."""
    return f"{count:{form}} {one if count == 1 else more or f'{one}s'}"
