"""Webhooks: changes are posted to addresses, signed and in order."""

COMMANDS = {"webhooks": "Create, list and delete webhooks, and see what was sent to them."}
EXPORTS = {"records": ("verify_webhook",)}
