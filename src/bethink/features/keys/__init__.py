"""API keys: create, list, rotate and revoke them."""

COMMANDS = {"keys": "Create, list, rotate and revoke API keys."}
