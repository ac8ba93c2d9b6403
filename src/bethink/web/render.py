"""Renders pages: the templates, the shared frame, and errors as pages."""

import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined

from bethink.host import codec
from bethink.http.problems import Problem
from bethink.model.status_words import status_mark
from bethink.model.text import canonical_json
from bethink.web import draw, static, text
from bethink.web.loader import templates
from bethink.web.navigation import MenuCounts, format_count, groups
from bethink.web.visit import ROOT, VIEW_PARAMETERS, PageView, Twin, Visit, address

_NOTICES = {
    "again": "The job was queued again.",
    "all-again": "The jobs were queued again.",
    "applied": "The changes were applied.",
    "approved": "Approved. The claim is now a fact.",
    "corrected": "Corrected. The previous wording is kept as a version.",
    "discarded": "The changes were discarded.",
    "none": "Nothing was selected.",
    "rejected": "Rejected.",
    "removed": "The test was removed.",
    "retried": "The session was queued for learning again.",
    "revoked": "The key was revoked.",
    "running": "Nothing to retry: the job has not failed.",
    "settled": "Nothing to retry: learning has not failed.",
    "undone": "The changes were undone.",
}
"""Notices shown after a form was submitted, by the `told` parameter."""


@cache
def environment() -> Environment:
    """Return the template environment. All values are escaped, and an undefined name is an error."""
    env = Environment(
        loader=templates(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    env.filters.update(
        said=text.visible_text,
        lead=text.lead,
        when=text.when,
        exactly=text.exactly,
        day=text.day,
        iso=text.iso,
        ago=text.ago,
        as_json=canonical_json,
        lasted=text.duration,
        money=text.money,
        short=text.short,
        short_id=text.short_id,
        kind_name=text.kind_name,
        origin_class=text.origin_class,
        mark=status_mark,
    )
    helpers: dict[str, Any] = {
        "address": address,
        "plural": text.plural,
        "counted": format_count,
        "swatch": draw.swatch,
        "title_of": text.title_of,
        "asset": _asset,
    }
    env.globals.update(helpers)
    return env


def _asset(name: str) -> str:
    """Return the address of a static file."""
    return f"{ROOT}/static/{static.version()}/{name}"


def render(page: PageView, visit: Visit, *, twin: Twin | None, menu_counts: MenuCounts) -> bytes:
    """Return a page as HTML, in the frame that all pages share."""
    values: dict[str, Any] = {
        "visit": visit,
        "theme": visit.theme,
        "nav": groups(visit, menu_counts),
        "stands": menu_counts,
        "page": page.template.partition(".")[0],
        "here": _own_address(visit),
        "now": _own_address(visit, exclude=VIEW_PARAMETERS),
        "notice": _NOTICES.get(visit.query_value("told"), ""),
        "twin": _own_address(visit, suffix=".json") if twin else "",
        "curl": _curl(visit, twin) if twin else "",
        **page.values,
    }
    return environment().get_template(page.template).render(values).encode("utf-8", "replace")


def render_plain(template: str, theme: str, **values: object) -> bytes:
    """Return a page that needs no session."""
    return environment().get_template(template).render({"theme": theme, **values}).encode()


def render_problem(problem: Problem, *, theme: str, request_id: str) -> bytes:
    """Return an error as a page, with the same text as the JSON response."""
    errors: Sequence[Mapping[str, str]] = problem.more.get("errors", ())
    return render_plain("problem.html", theme, problem=problem, errors=errors, request_id=request_id)


def _own_address(visit: Visit, *, suffix: str = "", exclude: Sequence[str] = ("told",)) -> str:
    """Return the address of the page itself."""
    pairs = {name: list(values) for name, values in visit.query.items() if name not in exclude}
    query = address(**pairs).partition("?")[2]
    return f"{visit.path}{suffix}" + (f"?{query}" if query else "")


def _curl(visit: Visit, twin: Twin) -> str:
    """Return the curl command that requests the data of the page from `/v1`."""
    operation, request = twin
    names, params = codec.encode_request(operation, request)
    steps = {"space": visit.space} | names
    path = operation.path.format(**{name: quote(value, safe="~@:") for name, value in steps.items()})
    url = f"http://{visit.host}/v1{path}"
    command = ["curl"]
    if operation.http_method == "POST":
        command += ["--json", canonical_json(params)]
    elif params:
        command.append("-G")
        for name, value in params.items():
            plain = value if isinstance(value, str) else canonical_json(value)
            command += ["--data-urlencode", f"{name}={plain}"]
    return f'{shlex.join([*command, url])} -H "Authorization: Bearer $BETHINK_API_KEY"'
