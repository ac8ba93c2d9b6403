"""Reads what other programs keep, as messages, facts and documents to store here."""
