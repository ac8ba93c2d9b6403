"""The access log: who read, wrote and deleted what."""

COMMANDS = {"access": "List who read, wrote, erased or made keys, the newest first."}
