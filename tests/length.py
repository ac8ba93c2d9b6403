"""How long tests may take: `.ci/run --long` allows more than a push."""

import os

LONG = bool(os.environ.get("BETHINK_TEST_LONG"))


def often(push: int, *, long: int) -> int:
    """Return how often something is tried: on a push, or where there is time."""
    return long if LONG else push
