"""Parses a page as a browser would, and lists what a strict policy would block."""

from html.parser import HTMLParser

_WORDS = """
html head meta title link script body a nav div p b h1 h2 h3 ul ol li form button input label textarea fieldset legend
main span details summary w-copy w-asof output svg rect text table thead tbody tr th td article section aside time dl
dt dd kbd code pre ins del i dialog blockquote
"""
_TAGS = frozenset(_WORDS.split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in _TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in given.items():
            if name == "style" or name.startswith(("on", "hx-on", "hx-vals", "hx-headers")):
                self.wrong.append(f"{tag} {name}={value[:40]}")
            if name in ("href", "src", "action", "hx-get", "hx-post") and not value.startswith(("/ui", "#")):
                self.wrong.append(f"{tag} {name}={value[:40]}")
            if name.startswith("hx-") and ("js:" in value or "[" in value):
                self.wrong.append(f"{tag} {name}={value[:40]}")
        if tag == "script" and "src" not in given:
            self.wrong.append("inline script")


def wrong_in(page: str) -> list[str]:
    """Return what is wrong with the markup of a page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.wrong
