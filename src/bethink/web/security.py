"""Security headers and cookies of the web UI, and the origin check for requests that change data."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from bethink.http.problems import refusal

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
    """Reject with 403 a request that changes data, unless it comes from a page of this server.

    Browsers report the origin in Sec-Fetch-Site, older ones in Origin, so forms need no tokens.
    """
    if method in SAFE:
        return
    site = headers.get("sec-fetch-site")
    if site is not None:
        own = site in ("same-origin", "none")
    else:
        own = _netloc(headers.get("origin", "")) == headers.get("host", "").lower() != ""
    if not own:
        raise refusal(
            403,
            "Forbidden",
            "The request did not come from a page of this web UI.",
            hint="Open the web UI and try again there.",
        )


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def cookie(name: str, value: str, *, seconds: int | None = None) -> tuple[bytes, bytes]:
    """Return the header that sets a secure, HttpOnly, same-site cookie. An empty value deletes it."""
    age = "; Max-Age=0" if not value else "" if seconds is None else f"; Max-Age={seconds}"
    return b"set-cookie", f"{name}={value}; Path=/; HttpOnly; Secure; SameSite=Strict{age}".encode()


def cookies(header: str) -> dict[str, str]:
    """Parse the cookies of a request. The first cookie of a name wins, as it has the longest path."""
    values: dict[str, str] = {}
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        values.setdefault(name, value)
    return values


def theme_of(header: str) -> str:
    """Return the theme from the cookies of a request; empty for the system theme."""
    theme = cookies(header).get(THEME, "")
    return theme if theme in THEMES else ""
