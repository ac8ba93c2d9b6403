"""Data about one person: find, export and delete it."""

COMMANDS = {"person": "Find, export and forget what is held of a person, in all spaces."}
