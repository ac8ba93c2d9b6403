"""A person's spoken requests to forget: what they are about, and what a space does with them."""

from enum import StrEnum


class ForgetScope(StrEnum):
    """Subject of a request to forget."""

    ONE = "one"
    """One statement."""
    PERSON = "person"
    TOPIC = "topic"


class ForgetPolicy(StrEnum):
    """Reaction when a person says in a conversation that something should be forgotten."""

    ASK = "ask"
    """It is hidden at once, and a pending review decides whether it is deleted."""
    DELETE = "delete"
    """It is hidden at once, and deleted without a review."""
    IGNORE = "ignore"
    """Nothing happens. The request is noted."""


class ForgetStatus(StrEnum):
    """Result of a request to forget."""

    SUPPRESSED = "suppressed"
    """What it names is hidden, and a person decides whether it is deleted."""
    DELETED = "deleted"
    IGNORED = "ignored"
