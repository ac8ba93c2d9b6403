"""Adapters to other frameworks: one file each, an extra of its own, on the public API alone."""
