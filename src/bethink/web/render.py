"""Puts pages together: the templates, what every page has in common, and problems as pages."""

import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined

from bethink.host import codec
from bethink.http.problems import Problem
from bethink.model.text import canonical_json
from bethink.web import draw, static, text
from bethink.web.loader import templates
from bethink.web.navigation import Standing, counted, groups
from bethink.web.visit import ROOT, Page, Twin, Visit, address

_TOLD = {
    "again": "It starts over as soon as a worker is free.",
    "all-again": "They start over as soon as a worker is free.",
    "applied": "The changes were applied.",
    "approved": "Approved: it is a fact now.",
    "corrected": "Corrected. The earlier wording stays as a version.",
    "discarded": "The changes were discarded.",
    "none": "Nothing was chosen, so nothing was decided.",
    "rejected": "Rejected, with your reason.",
    "removed": "The test was removed.",
    "retried": "It will be learnt from again.",
    "revoked": "The key was revoked.",
    "running": "There was nothing to start over: it had not failed.",
    "settled": "There was nothing to repeat: learning had not failed.",
    "undone": "The tree is as it was before.",
}
"""What a page says after a form was carried out."""


@cache
def environment() -> Environment:
    """Return the templates. Everything in them is escaped, and a name that is missing is an error."""
    made = Environment(
        loader=templates(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        said=text.said,
        lead=text.lead,
        when=text.when,
        exactly=text.exactly,
        day=text.day,
        iso=text.iso,
        ago=text.ago,
        as_json=canonical_json,
        lasted=text.lasted,
        money=text.money,
        short=text.short,
        short_id=text.short_id,
        kind_name=text.kind_name,
        origin_class=text.origin_class,
    )
    known: dict[str, Any] = {
        "address": address,
        "plural": text.plural,
        "counted": counted,
        "swatch": draw.swatch,
        "title_of": text.title_of,
        "asset": _asset,
    }
    made.globals.update(known)
    return made


def _asset(name: str) -> str:
    """Return the address of a static file."""
    return f"{ROOT}/static/{static.version()}/{name}"


def render(page: Page, visit: Visit, *, twin: Twin | None, stands: Standing) -> bytes:
    """Return a page as HTML, in the frame that all pages share."""
    values: dict[str, Any] = {
        "visit": visit,
        "theme": visit.theme,
        "nav": groups(visit, stands),
        "stands": stands,
        "page": page.template.partition(".")[0],
        "here": _same(visit),
        "now": _same(visit, without=("as_of",)),
        "notice": _TOLD.get(visit.ask("told"), ""),
        "twin": _same(visit, ending=".json") if twin else "",
        "curl": _curl(visit, twin) if twin else "",
        **page.values,
    }
    return environment().get_template(page.template).render(values).encode("utf-8", "replace")


def render_plain(template: str, theme: str, **values: object) -> bytes:
    """Return a page that needs no session."""
    return environment().get_template(template).render({"theme": theme, **values}).encode()


def render_problem(problem: Problem, *, theme: str, request_id: str) -> bytes:
    """Return what went wrong as a page: the same words that a program gets as JSON."""
    errors: Sequence[Mapping[str, str]] = problem.more.get("errors", ())
    return render_plain("problem.html", theme, problem=problem, errors=errors, request_id=request_id)


def _same(visit: Visit, *, ending: str = "", without: Sequence[str] = ("told",)) -> str:
    """Return the address of the page itself."""
    pairs = {name: list(values) for name, values in visit.query.items() if name not in without}
    query = address(**pairs).partition("?")[2]
    return f"{visit.path}{ending}" + (f"?{query}" if query else "")


def _curl(visit: Visit, twin: Twin) -> str:
    """Return the command that asks `/v1` for what the page shows."""
    verb, request = twin
    names, given = codec.encode_request(verb, request)
    steps = {"space": visit.space} | names
    path = verb.path.format(**{name: quote(value, safe="~@:") for name, value in steps.items()})
    url = f"http://{visit.host}/v1{path}"
    words = ["curl"]
    if verb.http_method == "POST":
        words += ["--json", canonical_json(given)]
    elif given:
        words.append("-G")
        for name, value in given.items():
            plain = value if isinstance(value, str) else canonical_json(value)
            words += ["--data-urlencode", f"{name}={plain}"]
    return f'{shlex.join([*words, url])} -H "Authorization: Bearer $BETHINK_KEY"'
