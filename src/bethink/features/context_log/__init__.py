"""The context log: memories injected into each session."""

COMMANDS = {"log": "Show what agents were told, and when."}
