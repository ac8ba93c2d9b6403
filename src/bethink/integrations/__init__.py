"""Adapters to other frameworks. Each is one file with its own extra and uses only the public API."""
