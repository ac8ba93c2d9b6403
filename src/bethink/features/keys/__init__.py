"""API keys: create, list, rotate and revoke them."""

COMMANDS = {"admin keys": "Manage API keys."}
