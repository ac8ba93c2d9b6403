"""The redactor for when redaction is switched off. It changes nothing, and warns about it."""

from bethink.base.logs import logger

_log = logger("redaction")


class NoRedaction:
    """Leaves every text as it is, and logs a warning on first use."""

    def __init__(self) -> None:
        self._warned = False

    def redact(self, text: str) -> str:
        """Return the text unchanged."""
        if not self._warned:
            self._warned = True
            _log.warning("redaction is switched off: secrets in messages are stored as they are sent")
        return text
