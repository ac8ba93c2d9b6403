"""What every answer of the window carries, and which requests may change something."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from bethink.http.problems import refused

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    # Not no-referrer: browsers would then send `Origin: null` with our own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
COOKIE = "__Host-bethink"
THEME = "bethink-theme"
THEMES = frozenset({"light", "dark"})
SAFE = frozenset({"GET", "HEAD"})


def check_origin(method: str, headers: Mapping[str, str]) -> None:
    """Refuse with 403 a request that changes something, unless it comes from a page of this server.

    Browsers say so themselves: in Sec-Fetch-Site, and older ones in Origin. Forms therefore carry no tokens.
    """
    if method in SAFE:
        return
    site = headers.get("sec-fetch-site")
    if site is not None:
        own = site in ("same-origin", "none")
    else:
        own = _netloc(headers.get("origin", "")) == headers.get("host", "").lower() != ""
    if not own:
        raise refused(
            403,
            "Forbidden",
            "This did not come from a page of this window.",
            hint="Open the window itself and try again there.",
        )


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def cookie(name: str, value: str, *, seconds: int | None = None) -> tuple[bytes, bytes]:
    """Return the header that sets a cookie no script can read and no other site can send; without a value, end it."""
    age = "; Max-Age=0" if not value else "" if seconds is None else f"; Max-Age={seconds}"
    return b"set-cookie", f"{name}={value}; Path=/; HttpOnly; Secure; SameSite=Strict{age}".encode()


def cookies(header: str) -> dict[str, str]:
    """Read the cookies of a request. The first of a name counts, as it has the longest path."""
    found: dict[str, str] = {}
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        found.setdefault(name, value)
    return found


def theme_of(header: str) -> str:
    """Return the look that was chosen, from the cookies of a request; empty for the system's."""
    theme = cookies(header).get(THEME, "")
    return theme if theme in THEMES else ""
