"""The access log: who read, wrote and deleted what."""

COMMANDS = {"admin access": "Show who read or changed what."}
