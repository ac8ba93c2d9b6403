"""Values that cannot be secrets, whatever is around them. They have a bounded length."""

import re

_NO_SECRET = re.compile(
    r"\$[A-Z_a-z{(]|%[A-Za-z_(]|[<{(\[]|--?[A-Za-z]+\Z|AAAA[BCE]3Nza|MI[GIH][a-zA-Z]MA0G|ssh-|arn:|urn:|(?:https?|file|s3|data):"
    r"|sha(?:1|256|512)-|pk_|phc_|(?:[\w-]{1,60}\.){1,8}"
    r"(?:py|js|ts|go|rs|md|json|ya?ml|txt|html?|com|org|net|io|pem|crt|sh|sql|log|toml|cfg|ini)\Z"
    r"|(?:\.{0,2}|~)/(?![\w+/]{42}=?\Z)[\w./-]*\Z|(?i:process\.env|os\.environ|(?:self|this|config|settings|var|secrets|env|req|args|data)\.)"
    r"|\d{1,2}[:.]\d{2}\Z|v?\d+(?:\.\d+)+\Z|\d{4}-\d{2}-\d{2}"
    r"|[\d.,]+(?:kb|mb|gb|ms|s|m|h|d|x|px|em|rem|%|k|st|nd|rd|th)?\Z(?<!\d{4})(?<!\d{5})(?<!\d{6})(?<!\d-\d\d)|\$\d(?!\d?\$)|[€£]"
)
"""Values that are no secrets: variables, public keys, addresses, files, times, versions and amounts."""
_PLACEHOLDER = re.compile(r"(?i)example|placeholder|change[-_]?me|your[-_]|xxxx|redacted|\*\*\*|•••")


def is_no_secret(value: str) -> bool:
    """Return whether a value cannot be a secret, whatever is around it."""
    return "://" in value or _NO_SECRET.match(value) is not None or _PLACEHOLDER.search(value) is not None
