"""The web UI: pages on which people see what is stored, trace it to its source, and correct it."""
