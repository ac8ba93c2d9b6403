"""Interfaces required only by the specification, as thin layers on the API."""
