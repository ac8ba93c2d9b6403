"""Who may do what, where a memory comes from, and what was shown."""
