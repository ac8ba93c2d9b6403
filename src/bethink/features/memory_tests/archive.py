"""Archives memory tests with their space."""

from bethink.store.archived import ArchivedTable

TABLES = (ArchivedTable(name="memory_tests", later="created_at", about=("about_kind", "about_id", "about_version")),)
