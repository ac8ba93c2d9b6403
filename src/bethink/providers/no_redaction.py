"""The redactor of a Bethink whose redaction was switched off: it changes nothing, and says so."""

from bethink.logs import logger

_log = logger("redaction")


class NoRedaction:
    """Leaves every text as it is. Warns once, when it is first put to use."""

    def __init__(self) -> None:
        self._warned = False

    def redact(self, text: str) -> str:
        """Return the text unchanged."""
        if not self._warned:
            self._warned = True
            _log.warning("redaction is switched off: secrets in messages are stored as they are sent")
        return text
