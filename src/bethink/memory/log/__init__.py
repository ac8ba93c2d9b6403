"""The message log: append-only sessions, and the marks that say what to learn from."""
