"""What is set, and where each value comes from."""

from typing import Any

from bethink.model.operations.base import Empty
from bethink.model.operations.monitoring import SETTINGS
from bethink.model.setting_entries import SettingEntry
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit

_FEW = 3


def _listed(visit: Visit) -> Twin:
    del visit
    return SETTINGS, Empty()


async def settings(visit: Visit) -> Page:
    """Show the settings in force: those that were changed first, then all of them by the word that they begin with."""
    found = await visit.run(SETTINGS, Empty())
    words = visit.ask("q").lower().split()
    shown = [each for each in found if all(word in f"{each.name} {each.origin}".lower() for word in words)]
    values: dict[str, Any] = {
        "changed": [each for each in shown if each.origin != "default"],
        "groups": _groups([each for each in shown if each.origin == "default"]),
        "asked": visit.ask("q"),
        "count": len(found),
    }
    return Page(template="settings.html", values=values)


def _groups(entries: list[SettingEntry]) -> list[tuple[str, list[SettingEntry]]]:
    """Return entries by the first word of their names; words with few settings are put together."""
    found: dict[str, list[SettingEntry]] = {}
    for each in entries:
        found.setdefault(each.name.partition("_")[0], []).append(each)
    alone = [each for group in found.values() if len(group) < _FEW for each in group]
    groups = sorted((name, group) for name, group in found.items() if len(group) >= _FEW)
    return [*([("general", alone)] if alone else []), *groups]


ROUTES = (PageRoute(path="/settings", handler=settings, twin=_listed),)
MENU = (
    MenuItem(
        section="Governing",
        name="Settings",
        step="settings",
        operation=SETTINGS,
        shortcut="x",
        position=20,
        in_space=False,
    ),
)
