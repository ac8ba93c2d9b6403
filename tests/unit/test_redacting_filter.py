import io
import logging

from bethink.base.logs import RedactingFilter
from bethink.providers.redaction import SecretRedactor

KEY = b"a key for tests, and for nothing else"


def _logged() -> str:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(RedactingFilter(SecretRedactor(KEY)))
    logger = logging.Logger("redaction-test")
    logger.addHandler(handler)
    try:
        int("password: kestrel42")
    except ValueError:
        logger.exception("login with %s", "password kestrel42", stack_info=True)
    logger.warning("%d apples", 3)
    return out.getvalue()


def test_no_secret_reaches_a_log_in_a_message_or_in_a_traceback() -> None:
    logged = _logged()

    assert "login with password [REDACTED:password:" in logged
    assert "ValueError: invalid literal for int() with base 10: 'password: [REDACTED:password:" in logged
    assert "Traceback" in logged
    assert "3 apples" in logged
    assert "kestrel42" not in logged


def test_a_handler_gets_no_exception_to_read_a_secret_from() -> None:
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "a %s", ("pw: kestrel42",), None)
    record.exc_text = "cached: pw: kestrel42"

    assert RedactingFilter(SecretRedactor(KEY)).filter(record)

    assert record.args is None
    assert record.exc_info is None
    assert "kestrel42" not in f"{record.getMessage()}{record.exc_text}"


def test_unredactable_log_record_is_omitted() -> None:
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "%d of %d", ("pw: kestrel42",), None)
    record.given = "pw: kestrel42"

    assert RedactingFilter(SecretRedactor(KEY)).filter(record)
    assert not hasattr(record, "given")

    assert record.getMessage() == "omitted a log record that could not be redacted"
