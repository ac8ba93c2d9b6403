"""Settings in effect, and the source of each value."""

from typing import Any

from bethink.model.operations.base import Empty
from bethink.model.operations.monitoring import LIST_SETTINGS
from bethink.model.setting_entries import SettingEntry
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit

_FEW = 3


def _list_request(visit: Visit) -> Twin:
    del visit
    return LIST_SETTINGS, Empty()


async def settings(visit: Visit) -> PageView:
    """Show the settings in effect: changed ones first, then defaults grouped by prefix."""
    entries = await visit.run(LIST_SETTINGS, Empty())
    words = visit.query_value("q").lower().split()
    matches = [entry for entry in entries if all(word in f"{entry.name} {entry.origin}".lower() for word in words)]
    values: dict[str, Any] = {
        "changed": [entry for entry in matches if entry.origin != "default"],
        "groups": _groups([entry for entry in matches if entry.origin == "default"]),
        "asked": visit.query_value("q"),
        "count": len(entries),
    }
    return PageView(template="settings.html", values=values)


def _groups(entries: list[SettingEntry]) -> list[tuple[str, list[SettingEntry]]]:
    """Group entries by the first word of their names; small groups are merged."""
    by_prefix: dict[str, list[SettingEntry]] = {}
    for entry in entries:
        by_prefix.setdefault(entry.name.partition("_")[0], []).append(entry)
    ungrouped = [entry for group in by_prefix.values() if len(group) < _FEW for entry in group]
    groups = sorted((name, group) for name, group in by_prefix.items() if len(group) >= _FEW)
    return [*([("general", ungrouped)] if ungrouped else []), *groups]


ROUTES = (PageRoute(path="/settings", handler=settings, twin=_list_request),)
MENU = (
    MenuItem(
        section="Administration",
        name="Settings",
        step="settings",
        operation=LIST_SETTINGS,
        shortcut="x",
        position=20,
        in_space=False,
    ),
)
