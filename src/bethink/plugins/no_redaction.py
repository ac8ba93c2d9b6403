"""The redactor of a Bethink that has no rules yet: it changes nothing, and says so."""

import logging

log = logging.getLogger("bethink.redaction")


class NoRedaction:
    """Leaves every text as it is. Warns once, when it is put to use."""

    def __init__(self) -> None:
        log.warning("no redaction rules are installed: secrets in messages will be stored as they are sent")

    def redact(self, text: str) -> str:
        """Return the text unchanged."""
        return text
