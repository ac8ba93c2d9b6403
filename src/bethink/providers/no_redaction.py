"""The redactor that is used when redaction is off. It logs a warning and changes nothing."""

from bethink.base.logs import logger

_log = logger("redaction")


class NoRedaction:
    """Returns every text unchanged and logs a warning on first use."""

    def __init__(self) -> None:
        self._warned = False

    def redact(self, text: str) -> str:
        """Return the text unchanged."""
        if not self._warned:
            self._warned = True
            _log.warning("redaction is switched off: secrets in messages are stored as they are sent")
        return text
