"""The command that shows what is in use: status."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from bethink.cli.command import CommandContext, Result, command
from bethink.cli.lists import MOST
from bethink.cli.review import waiting
from bethink.cli.terminal import columns, when
from bethink.errors import Denied, Unavailable
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.jobs import Audit

app = typer.Typer()

T = TypeVar("T")


@command(app)
async def status(ctx: CommandContext) -> Result:
    """Show which database is in use and what it holds."""
    from importlib.metadata import version  # noqa: PLC0415

    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415

    target, settings = ctx.target, ctx.target.settings
    audit = await _allowed(ctx.memory.audit())
    spaces = await _allowed(ctx.memory.list_spaces(limit=MOST))
    newest = await ctx.space.sessions(limit=1)
    data: dict[str, Any] = {
        "version": version("bethink"),
        "database": target.address,
        "named_by": target.named_by,
        "settings_file": target.file,
        "space": ctx.space_name,
        "spaces": None if spaces is None else len(spaces),
        "newest_session": newest[0].session.created_at if newest else None,
        "facts": await ctx.space.facts.count(),
        "documents": len(await ctx.space.documents.tree()),
        "to_review": await waiting(ctx.space),
        "jobs": {} if audit is None else _jobs(audit),
        "spent_today": 0.0 if audit is None else audit.spent_today.cost / 1e6,
    }
    if not target.server:  # a server has its own
        data |= {"model": settings.model.name or None, "embedder": embedder_in_use(settings) or None}
        data |= {"daily_spend_cap": settings.learning.daily_spend_cap}
    return Result(data=data, lines=columns(_rows(data)))


def _jobs(audit: "Audit") -> dict[str, int]:
    return {f"{kind} {state}": count for kind, states in audit.counts.items() for state, count in states.items()}


async def _allowed(asked: Awaitable[T]) -> T | None:
    """Return a result; None where the key does not allow it, or learning is switched off."""
    try:
        return await asked
    except (Denied, Unavailable):
        return None


def _to_review(count: dict[str, int]) -> str:
    parts = [plural(count["claims"], "claim")] if count["claims"] else []
    parts += [plural(count["changes"], "change set")] if count["changes"] else []
    return f"{' and '.join(parts)}; see 'bethink review'" if parts else "nothing"


def _rows(data: dict[str, Any]) -> list[list[str]]:
    known = data["spaces"] is not None
    more = " or more" if data["spaces"] == MOST else ""
    rows = [
        ["version", data["version"]],
        ["database", f"{data['database']} ({data['named_by']})"],
        ["settings", data["settings_file"] or "no file"],
        ["space", f"{data['space']} (one of {data['spaces']}{more})" if known else data["space"]],
        ["newest session", when(data["newest_session"]) or "none"],
        ["facts", str(data["facts"])],
        ["documents", str(data["documents"])],
        ["to review", _to_review(data["to_review"])],
    ]
    if "model" in data:
        rows.append(["model", data["model"] or "none: memory quotes"])
        rows.append(["embedder", data["embedder"] or "none: recall searches by words"])
    rows.append(["jobs, all spaces", ", ".join(f"{count} {name}" for name, count in data["jobs"].items()) or "none"])
    cap = f" of ${data['daily_spend_cap']:.2f}" if "model" in data else ""
    return [*rows, ["spent today", f"${data['spent_today']:.2f}{cap}"]]
