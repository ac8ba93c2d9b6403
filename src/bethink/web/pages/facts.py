"""Current and replaced facts, with dates."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from bethink.base.frozen import frozen
from bethink.model.facts import Fact, FactStatus
from bethink.model.operations.facts import FACT_HISTORY, FACT_VERSIONS, LIST_FACTS, FactHistoryRequest, FactRequest
from bethink.model.operations.memory import CORRECT, FORGET, CorrectRequest
from bethink.model.pages import FactEntry
from bethink.model.recall import Lineage
from bethink.model.refs import Ref, RefKind
from bethink.model.status_words import status_mark
from bethink.web import draw
from bethink.web.lineage import chain_of, link_of
from bethink.web.text import day
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit

_PAGE = 50
_PAST = (FactStatus.ENDED, FactStatus.REPLACED, FactStatus.CORRECTED)


@frozen(kw_only=False)
class Row:
    """A fact with its period of validity."""

    fact: Fact
    begin: datetime
    end: datetime | None
    bar: Markup
    mark: str = ""
    cause_link: str = ""
    learned: datetime | None = None
    """Set if the fact was learned on another day than the one from which it is valid."""


def _list_request(visit: Visit) -> Twin:
    status = visit.query_value("status")
    return FACT_HISTORY, FactHistoryRequest(
        status=FactStatus(status) if status in set(FactStatus) else None,
        subject=visit.query_value("subject") or None,
        slot=visit.query_value("slot") or None,
        **visit.times,
        limit=_PAGE,
        after=visit.query_value("after"),
    )


async def facts(visit: Visit) -> PageView:
    """List facts, each with a bar on a shared time axis."""
    operation, request = _list_request(visit)
    page = await visit.run(operation, request)
    rows, months = _rows(visit, page.items, visit.moment or datetime.now(UTC))
    chosen: dict[str, object] = {"status": request.status, "subject": request.subject, "slot": request.slot}

    def narrow(**query: object) -> str:
        return visit.link("facts", **(chosen | query))

    values: dict[str, Any] = {
        "rows": rows,
        "axis": draw.axis(months),
        "more": visit.link("facts", **chosen, after=page.next) if page.next else "",
        "chosen": chosen,
        "statuses": tuple(status for status in FactStatus if status is not FactStatus.EARLIER),
        "narrow": narrow,
    }
    return PageView(template="facts.html", values=values)


def _rows(visit: Visit, entries: Sequence[FactEntry], now: datetime) -> tuple[list[Row], list[tuple[str, float]]]:
    """Return the rows of a page by subject on a shared time axis, and the positions of its months."""
    begins = [_begin(entry.fact, now) for entry in entries]
    learned = [entry.fact.recorded_at or now for entry in entries]
    first = min([*begins, *learned, now])
    span = max((now - first).total_seconds(), 86_400.0)

    def position(at: datetime) -> float:
        return min(max((at - first).total_seconds() / span, 0.0), 1.0)

    rows: list[Row] = []
    for entry in _sort_by_subject(entries, now):
        fact, begin = entry.fact, _begin(entry.fact, now)
        end = _end(entry, begin, now)
        label = f"{fact.text} Valid from {day(begin)} to {day(end) if end else 'today'}."
        until, learned_position = position(end) if end else 1.0, position(fact.recorded_at or begin)
        bar = draw.validity_bar(
            min(position(begin), until), until, learned_position, ended=end is not None, label=label
        )
        cause = entry.doubted_by if entry.status is FactStatus.DOUBTFUL else entry.replaced_by
        learned = fact.recorded_at if fact.recorded_at and day(fact.recorded_at) != day(begin) else None
        rows.append(Row(fact, begin, end, bar, status_mark(entry), link_of(visit, cause) if cause else "", learned))
    return rows, _months(first, now, position)


def _sort_by_subject(entries: Sequence[FactEntry], now: datetime) -> list[FactEntry]:
    """Sort facts by subject in order of appearance, then by slot, then by time."""
    subjects = {subject: index for index, subject in enumerate(dict.fromkeys(entry.fact.subject for entry in entries))}
    slots: dict[object, datetime] = {}
    for entry in entries:
        slot, begin = (entry.fact.subject, entry.fact.slot or entry.fact.id), _begin(entry.fact, now)
        slots[slot] = min(slots.get(slot, begin), begin)

    def order(entry: FactEntry) -> tuple[int, datetime, str, datetime]:
        slot = entry.fact.slot or entry.fact.id
        return subjects[entry.fact.subject], slots[entry.fact.subject, slot], slot, _begin(entry.fact, now)

    return sorted(entries, key=order)


def _begin(fact: Fact, now: datetime) -> datetime:
    return fact.valid_from or fact.event_from or fact.recorded_at or now


def _end(entry: FactEntry, begin: datetime, now: datetime) -> datetime | None:
    """Return when the fact stopped being valid; None if it has not."""
    if entry.status not in _PAST:
        return None
    ends = [at for at in (entry.fact.valid_to, entry.fact.expires_at) if at is not None]
    return max(begin, min([*ends, now]) if ends else entry.fact.replaced_at or now)


def _months(first: datetime, now: datetime, position: Any) -> list[tuple[str, float]]:
    """Return the positions of month starts, few enough to be readable."""
    count = (now.year - first.year) * 12 + now.month - first.month + 1
    step = max(1, -(-count // 8))
    months: list[tuple[str, float]] = []
    for number in range(0, count + 1, step):
        year, month = divmod(first.year * 12 + first.month - 1 + number, 12)
        at = datetime(year, month + 1, 1, tzinfo=UTC)
        if first <= at <= now:
            months.append((f"{at:%b}" if at.month > step else f"{at:%b %Y}", position(at)))
    return months


async def fact(visit: Visit) -> PageView:
    """Show one fact: its versions, its lineage, and a form to correct it."""
    name = visit.names["fact"]
    versions = await visit.run(FACT_VERSIONS, FactRequest(fact_id=name))
    number = versions[-1].version if versions and visit.view.is_now else 0
    chain = await chain_of(visit, Ref(RefKind.FACT, name, visit.query_number("version", number)))
    current = bool(versions) and versions[-1].replaced_at is None and visit.view.is_now
    if not visit.view.is_now:
        versions = _as_shown(versions, chain.line)
    values: dict[str, Any] = {
        "versions": versions,
        "chain": chain,
        "fact": chain.line.fact,
        "may_correct": current and visit.may_change(CORRECT),
        "may_forget": visit.may_change(FORGET),
    }
    return PageView(template="fact.html", values=values)


def _as_shown(versions: Sequence[Fact], line: Lineage) -> list[Fact]:
    """Return the versions of a fact that a lineage of another time has, without what followed."""
    ends = {version.ref.number: version.until for version in line.versions}
    return [
        line.fact
        if line.fact is not None and version.version == line.fact.version
        else replace(version, replaced_at=ends[version.version], valid_to=None, doubted_by=None)
        for version in versions
        if version.version in ends
    ]


def _versions(visit: Visit) -> Twin:
    return FACT_VERSIONS, FactRequest(fact_id=visit.names["fact"])


async def correct(visit: Visit) -> Goto:
    """Correct the text of a fact."""
    request = CorrectRequest(ref=Ref.coerce(visit.form_value("ref")), text=visit.form_value("text").strip())
    correction = await visit.run(CORRECT, request)
    return Goto(visit.link("facts", correction.ref.id, told="corrected"))


ROUTES = (
    PageRoute(path="/s/{space}/facts", handler=facts, twin=_list_request),
    PageRoute(path="/s/{space}/facts/{fact}", handler=fact, twin=_versions),
    PageRoute(path="/s/{space}/facts/{fact}/correct", handler=correct, method="POST"),
)
MENU = (
    MenuItem(
        section="Memory",
        name="Facts",
        step="facts",
        operation=LIST_FACTS,
        shortcut="f",
        position=50,
        templates=("facts", "fact"),
    ),
)
