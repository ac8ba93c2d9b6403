"""The context log: which memories were injected into which session."""
