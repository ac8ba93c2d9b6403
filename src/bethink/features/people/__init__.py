"""Data about one person: find, export and delete it."""

COMMANDS = {"admin person": "Find, export or delete all data about a person."}
