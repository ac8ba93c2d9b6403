"""API keys and the access log."""
