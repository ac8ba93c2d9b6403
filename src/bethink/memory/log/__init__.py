"""The message log: append-only sessions, and their learning marks."""
