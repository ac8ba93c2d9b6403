"""Background jobs: what learns, when, and what became of it."""
