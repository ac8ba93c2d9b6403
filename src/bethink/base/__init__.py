"""Helpers without a subject of their own: frozen records, logging, languages, backoff."""
