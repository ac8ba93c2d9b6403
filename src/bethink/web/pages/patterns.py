"""A page with every UI component, for developers and tests."""

from bethink.web import draw
from bethink.web.compare import compare
from bethink.web.visit import PageRoute, PageView, Visit

_BEFORE = "Mira lives in Oslo.\nShe has no car.\n"
_AFTER = "Mira lives in Bergen, since February.\nShe has no car.\nPixel lives with her.\n"


async def patterns(visit: Visit) -> PageView:
    """Show every component once."""
    del visit
    values = {
        "bar": draw.stacked_bar([("words", 0.3), ("session", 0.1), ("recency", 0.05)], 0.6, "Score 0.45: words 0.30"),
        "held": draw.validity_bar(0.1, 0.6, 0.15, ended=True, label="Valid from January to March"),
        "holds": draw.validity_bar(0.6, 1.0, 0.62, ended=False, label="Valid since March"),
        "strip": draw.strip([1, 0, 2, 0, 3, 1, 0, 0, 2], [0.2, 0.5], 0.7, "Nine sessions over nine days"),
        "tokens": draw.token_bar([("user", 40), ("answer", 80), ("result", 120)], 400, [("soft", 300)], "240 tokens"),
        "lines": compare(_BEFORE, _AFTER),
        "hidden": "pay\u202e500 kr\u202c to\u200b account",
    }
    return PageView(template="patterns.html", values=values)


ROUTES = (PageRoute(path="/patterns", handler=patterns),)
