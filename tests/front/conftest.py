"""Fixtures that several files here share."""

from tests.front.shards_kit import dsns, fleet, killed, name

__all__ = ["dsns", "fleet", "killed", "name"]
