"""Files as sources: `service.py` first; a reader for each format, `passages.py` cuts what was read into passages."""

COMMANDS = {"add-file": "Store files as passages that can be recalled."}
