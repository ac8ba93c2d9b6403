"""Files as sources: `service.py` first; a reader for each format, `passages.py` cuts texts into passages."""
