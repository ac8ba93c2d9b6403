"""Lets retention rules move with their space. An archive has none: a rule that deletes is set where it deletes."""

from bethink.store.archived import ArchivedTable

TABLES = (ArchivedTable(name="retention_rules", moved_only=True),)
