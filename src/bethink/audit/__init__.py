"""API keys, where a memory comes from, and what was shown."""
