"""Forgetting: by lineage, in one transaction, and counted."""
