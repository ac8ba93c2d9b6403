"""Counts with nouns."""


def plural(count: int, noun: str, plural_noun: str = "", *, form: str = "") -> str:
    """Format a count with its noun: 1 message, 2 messages. `plural_noun` is for irregular plurals."""
    return f"{count:{form}} {noun if count == 1 else plural_noun or f'{noun}s'}"
