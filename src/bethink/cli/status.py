"""The command that shows the state of a memory and the next steps: status, or 'bethink' alone."""

import shlex
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.paging import MOST
from bethink.cli.results import Result
from bethink.cli.review import pending_counts
from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.errors import DatabaseUnavailableError, NotFoundError, PermissionDeniedError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.model.jobs import Audit

app = typer.Typer()

T = TypeVar("T")
_KNOWN_TOKENS = 400
_WIDTH = 100
_NAMED = 5
"""Maximum number of spaces to name."""

_NO_MODEL = "no model: messages only"
_NO_LONGER = "no model: new messages are stored, not learned from"
_FIRST_STEPS = {
    "bethink try": "preview what Bethink would learn from your coding sessions",
    "bethink demo": "explore three months of sample conversations",
    "bethink connect": "connect Claude Code, Codex, Cursor or VS Code",
    'bethink add "I moved to Bergen in May."': "",
}


@command(app, opens=False)
async def status(ctx: CommandContext) -> Result:
    """Show the database, the space and pending work. 'bethink' alone does the same."""
    from importlib.metadata import version  # noqa: PLC0415

    target = ctx.target
    data: dict[str, Any] = {
        "version": version("bethink"),
        "database": target.address,
        "named_by": target.named_by,
        "settings_file": target.file,
    }
    try:
        target.must_exist()
    except NotFoundError:
        if not target.is_default:
            raise
        data |= {"exists": False, "next": list(_FIRST_STEPS)}
        rows = [["version", data["version"]], ["database", f"none yet ({data['database']} does not exist)"]]
        return Result(data=data, lines=[*columns(rows), *_next_lines(_FIRST_STEPS)])
    async with target.make() as memory:
        if ctx.options.space is None:
            await ctx.use_folder_space(memory)
        data |= {"exists": True, **await _contents(ctx, memory)}
    steps = {ctx.hint(f"'{step}'")[1:-1]: purpose for step, purpose in _next_steps(data).items()}
    data["next"] = list(steps)
    return Result(data=data, lines=[*columns(_rows(ctx, data)), *_known_lines(data), *_next_lines(steps)])


async def _contents(ctx: CommandContext, memory: "Memory") -> dict[str, Any]:
    """Return the counts of a space and the jobs of all spaces."""
    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415

    space, settings = memory.space(ctx.space_name), ctx.target.settings
    audit = await _if_allowed(memory.admin.audit())
    spaces = await _if_allowed(memory.spaces.list(limit=MOST))
    newest = await space.sessions.list(limit=1)
    block = await space.context(budget=_KNOWN_TOKENS, kinds=("message", "fact"), citations=False)
    data: dict[str, Any] = {
        "space": ctx.space_name,
        "spaces": None if spaces is None else len(spaces),
        "space_names": [space.name for space in spaces or ()][:_NAMED],
        "newest_session": newest[0].session.created_at if newest else None,
        "facts": await space.facts.count(),
        "documents": len(await space.documents.list()),
        "to_review": await pending_counts(space),
        "known": [{"text": item.text, "origin": item.origin, "said_at": item.said_at} for item in block.items],
        "jobs": {} if audit is None else _jobs(audit),
        "spent_today": 0.0 if audit is None else audit.spent_today.cost / 1e6,
    }
    if not ctx.target.server:  # a server has its own
        data |= {"model": settings.model.name or None, "embedder": embedder_in_use(settings) or None}
        data |= {"daily_budget": settings.learning.daily_budget}
    return data


def _jobs(audit: "Audit") -> dict[str, int]:
    return {f"{kind} {state}": count for kind, states in audit.counts.items() for state, count in states.items()}


async def _if_allowed(call: Awaitable[T]) -> T | None:
    """Return a result; None if the key does not allow it, or learning is off."""
    try:
        return await call
    except (PermissionDeniedError, DatabaseUnavailableError):
        return None


def _next_steps(data: dict[str, Any]) -> dict[str, str]:
    """Return the commands that are useful now, with their purposes."""
    if _is_empty(data):
        if not data["space_names"]:
            return _FIRST_STEPS
        other = shlex.quote(data["space_names"][0])
        return {f"bethink recall QUESTION --space {other}": "search memory", "bethink ui": "open the web UI"}
    steps = {"bethink review": "approve or reject pending items"} if any(data["to_review"].values()) else {}
    if any(name.endswith((" queued", " failed")) for name in data["jobs"]):
        steps["bethink worker --once"] = "run pending jobs"
    return {**steps, "bethink recall QUESTION": "search memory", "bethink ui": "open the web UI"}


def _is_empty(data: dict[str, Any]) -> bool:
    return not (data["newest_session"] or data["facts"] or data["documents"] or any(data["to_review"].values()))


def _space_rows(ctx: CommandContext, data: dict[str, Any]) -> list[list[str]]:
    """Return the space in use and its content; if it is empty, the spaces that are not."""
    count, names = data["spaces"], ", ".join(data["space_names"])
    more = " or more" if count == MOST else ""
    if _is_empty(data):
        others = f"{names}{', …' if count > _NAMED else ''} ({count}{more}); " if count else ""
        return [["spaces" if count else "space", f"{others}{data['space']!r} is empty"]]
    return [
        ["space", data["space"] if count is None else f"{data['space']} (one of {count}{more})"],
        ["newest session", when(data["newest_session"]) or "none"],
        ["facts", str(data["facts"])],
        ["documents", str(data["documents"])],
        ["to review", ctx.hint(_to_review(data["to_review"]))],
    ]


def _next_lines(steps: dict[str, str]) -> list[OutputLine]:
    width = max(len(step) for step, purpose in steps.items() if purpose)
    lines = [f"  {step:<{width}}   # {purpose}" if purpose else f"  {step}" for step, purpose in steps.items()]
    return [OutputLine(), OutputLine("Next:", "bold"), *map(OutputLine, lines)]


def _known_lines(data: dict[str, Any]) -> list[OutputLine]:
    """Return what every session starts with: lasting words of the user, and facts."""
    if not data["known"]:
        return []
    lines = [
        OutputLine(f"  {one_line(item['text'], _WIDTH)} ({item['origin']}, {when(item['said_at'])[:10]})")
        for item in data["known"]
    ]
    return [OutputLine(), OutputLine("What is known:", "bold"), *lines]


def _to_review(counts: dict[str, int]) -> str:
    parts = [plural(counts["claims"], "claim")] if counts["claims"] else []
    parts += [plural(counts["changes"], "change set")] if counts["changes"] else []
    return f"{' and '.join(parts)}; see 'bethink review'" if parts else "nothing"


def _rows(ctx: CommandContext, data: dict[str, Any]) -> list[list[str]]:
    rows = [
        ["version", data["version"]],
        ["database", f"{data['database']} ({data['named_by']})"],
        ["settings", data["settings_file"] or "no file"],
        *_space_rows(ctx, data),
    ]
    if "model" in data:
        rows.append(["model", data["model"] or (_NO_LONGER if data["facts"] else _NO_MODEL)])
        rows.append(["embedder", data["embedder"] or "none: recall searches by words"])
    rows.append(["jobs, all spaces", ", ".join(f"{count} {name}" for name, count in data["jobs"].items()) or "none"])
    budget = f" of ${data['daily_budget']:.2f}" if "model" in data else ""
    return [*rows, ["spent today", f"${data['spent_today']:.2f}{budget}"]]
