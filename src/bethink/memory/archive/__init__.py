"""A space in one file: export, check, import, and sync between two databases."""
