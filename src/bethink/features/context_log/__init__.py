"""The context log: memories injected into each session."""
