"""Webhooks: changes are posted to URLs, signed and in order."""

COMMANDS = {"admin webhooks": "Manage webhooks and see deliveries."}
EXPORTS = {"records": ("verify_webhook",)}
