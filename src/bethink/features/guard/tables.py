"""Helper for tables of words."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, for tables that would be long lists otherwise."""
    return frozenset(text.split())
