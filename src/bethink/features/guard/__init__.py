"""Guard."""

COMMANDS = {"guard try": "Count how often agents followed your instructions."}
