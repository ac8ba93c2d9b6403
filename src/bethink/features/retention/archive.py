"""Moves retention rules with their space. Archives exclude them: set deletion rules where they apply."""

from bethink.store.archived import ArchivedTable

TABLES = (ArchivedTable(name="retention_rules", moved_only=True),)
