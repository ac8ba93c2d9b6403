"""Commands that say how things are: status and doctor."""

import math
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.frame import SPACE, Answer, Code, Door, Problem, command
from bethink.cli.terminal import Line, columns, many
from bethink.errors import BethinkError

if TYPE_CHECKING:
    from bethink.cli.place import Place
    from bethink.memory import Memory
    from bethink.settings import Settings
    from bethink.worker import Audit

app = typer.Typer()

_LEAST_DISK = 100_000_000
_MANY = 1_000
_FIRST_YEAR, _LAST_YEAR = 2026, 2100


@command(app)
async def status(door: Door) -> Answer:
    """Show which memory this is, and what it holds."""
    memory, place = door.memory, door.place
    audit = await memory.audit() if place.settings.learn else None
    newest = await memory.sessions(space=door.space, limit=1)
    data = {
        "version": version(),
        "database": place.target,
        "named_by": place.named_by,
        "settings_file": place.file,
        "space": door.space,
        "spaces": await count_spaces(memory),
        "newest_session": newest[0].session.created_at if newest else None,
        "facts": await memory.facts(space=door.space).length(),
        "documents": len(await memory.documents(space=door.space).tree()),
        "model": place.settings.model or None,
        "embedder": place.settings.embedder or None,
        "jobs": _job_counts(audit),
        "spent_today": 0.0 if audit is None else audit.spent_today.cost / 1e6,
        "daily_spend_cap": place.settings.daily_spend_cap,
    }
    return Answer(data=data, lines=columns(_status_rows(data)))


def _status_rows(data: dict[str, Any]) -> list[list[str]]:
    from bethink.cli.plain import when  # noqa: PLC0415

    jobs = ", ".join(f"{count} {name}" for name, count in data["jobs"].items()) or "none"
    return [
        ["version", data["version"]],
        ["database", f"{data['database']} ({data['named_by']})"],
        ["settings", data["settings_file"] or "no file"],
        ["space", f"{data['space']} (one of {data['spaces']}{' or more' if data['spaces'] == _MANY else ''})"],
        ["newest session", when(data["newest_session"]) or "none"],
        ["facts", str(data["facts"])],
        ["documents", str(data["documents"])],
        ["model", data["model"] or "none: memory quotes"],
        ["embedder", data["embedder"] or "none: found by words"],
        ["jobs, all spaces", jobs],
        ["spent today", f"${data['spent_today']:.2f} of ${data['daily_spend_cap']:.2f}"],
    ]


def _job_counts(audit: "Audit | None") -> dict[str, int]:
    return {} if audit is None else {f"{kind} {status}": count for (kind, status), count in audit.counts.items()}


def version() -> str:
    """Return the version that is installed."""
    from importlib.metadata import version as version_of  # noqa: PLC0415

    return version_of("bethink")


async def count_spaces(memory: "Memory") -> int:
    """Count the spaces that hold anything, up to a thousand: there may be a hundred million."""
    return len(await memory.spaces(limit=_MANY))


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at, and what to do if it is broken."""

    name: str
    ok: bool
    found: str
    fix: str = ""


@command(app, opens=False, without=SPACE)
async def doctor(
    door: Door,
    *,
    online: Annotated[bool, typer.Option("--online", help="Also ask the model and the embedder to answer.")] = False,
) -> Answer:
    """Look for what is broken, and say how to mend it."""
    checks = [check async for check in _checks(door, online=online)]
    broken = [check for check in checks if not check.ok]
    lines: list[Line] = []
    for check in checks:
        lines.append(Line(f"{'✓' if check.ok else '✗'} {check.name}: {check.found}", "" if check.ok else "red"))
        if not check.ok and check.fix:
            lines.append(Line(f"  fix: {check.fix}"))
    if not broken:
        return Answer(data={"checks": checks}, lines=lines)
    problem = Problem(
        code="unhealthy",
        message=f"{len(broken)} of {many(len(checks), 'check')} failed.",
        hint=broken[0].fix or "See the lines marked with ✗.",
    )
    code = Code.CONFIGURATION if broken[0].name in ("settings", "folder") else Code.FAILURE
    return Answer(data={"checks": checks}, lines=lines, code=code, problem=problem)


async def _checks(door: Door, *, online: bool) -> AsyncIterator[Check]:
    yield _clock()
    try:
        place = door.place
    except BethinkError as error:
        yield _failed("settings", error)
        return
    origins = sorted(place.settings.origins.items())
    given = [f"{name} ({origin})" for name, origin in origins if origin != "default"]
    yield Check(name="settings", ok=True, found=f"{place.file or 'no file'}; set: {', '.join(given) or 'nothing'}")
    if place.settings.module != "memory.postgres" and place.settings.database_path != ":memory:":
        yield _folder(place.settings.database_path)
    async for check in _database(place):
        yield check
    async for check in _senses(place, online=online):
        yield check


def _failed(name: str, error: BethinkError | OSError) -> Check:
    if isinstance(error, OSError):
        found = f"{error.strerror or error}: {error.filename or ''}".removesuffix(": ")
        return Check(name=name, ok=False, found=found, fix="Check the path and its permissions.")
    return Check(name=name, ok=False, found=Exception.__str__(error), fix=error.hint)


def _clock() -> Check:
    from datetime import UTC, datetime  # noqa: PLC0415

    now = datetime.now(UTC)
    ok = _FIRST_YEAR <= now.year <= _LAST_YEAR
    return Check(name="clock", ok=ok, found=f"{now:%Y-%m-%d %H:%M} UTC", fix="Set the clock of this machine.")


def _folder(file: str) -> Check:
    import os  # noqa: PLC0415
    import shutil  # noqa: PLC0415

    folder = Path(file).expanduser().parent
    try:
        there = next((each for each in (folder, *folder.parents) if each.exists()), Path())
    except OSError as error:
        return _failed("folder", error)
    if not there.is_dir() or not os.access(there, os.W_OK):
        return Check(
            name="folder",
            ok=False,
            found=f"{folder} cannot be written to",
            fix="Name a database in a folder you may write to, or let your user write there.",
        )
    free = shutil.disk_usage(there).free
    what = f"{folder}, {free / 1e9:.1f} GB free"
    return Check(name="folder", ok=free >= _LEAST_DISK, found=what, fix="Make room on the disk.")


async def _database(place: "Place") -> AsyncIterator[Check]:
    try:
        place.must_exist()
        async with replace(place, settings=_makeable(place.settings)).make() as memory:
            spaces = many(await count_spaces(memory), "space")
            yield Check(name="database", ok=True, found=f"{place.target}, schema up to date, {spaces}")
            if place.settings.learn:
                for check in _audited(await memory.audit(), place.settings):
                    yield check
    except (BethinkError, OSError) as error:
        yield _failed("database", error)


def _makeable(settings: "Settings") -> "Settings":
    """Leave out what cannot be made: it has a line of its own, and the database is not to blame."""
    from bethink.plugins import embedder_from, model_from  # noqa: PLC0415

    for name, make in (("model", model_from), ("embedder", embedder_from)):
        try:
            make(settings)
        except BethinkError:
            settings = replace(settings, **{name: ""})
    return replace(settings, reranker="")  # nothing is ranked here


def _cap(settings: "Settings") -> str:
    free = math.isinf(settings.daily_spend_cap) or not settings.model_price_input + settings.model_price_output
    cap = "no cap" if free else f"cap ${settings.daily_spend_cap:.2f} a day"
    return cap if settings.model else f"{cap}, no model set"


def _audited(audit: "Audit", settings: "Settings") -> list[Check]:
    return [
        Check(
            name="jobs",
            ok=not audit.overdue,
            found=f"{audit.overdue} overdue",
            fix="Run 'bethink worker', or 'bethink worker --once'.",
        ),
        Check(
            name="given up",
            ok=not audit.dead,
            found=many(audit.dead, "job"),
            fix="See 'bethink jobs' for why; then let them start over with Memory.retry.",
        ),
        Check(
            name="audit",
            ok=not audit.violations,
            found=f"{many(audit.violations, 'violation')} in a sample of {many(audit.spaces_checked, 'space')}",
            fix="Something wrote to the database beside Bethink: restore it from a backup.",
        ),
        Check(
            name="spending",
            ok=not audit.capped,
            found=f"${audit.spent_today.cost / 1e6:.2f} today; {_cap(settings)}",
            fix="Learning goes on after midnight, UTC; or raise daily_spend_cap.",
        ),
    ]


async def _senses(place: "Place", *, online: bool) -> AsyncIterator[Check]:
    from bethink.plugins import embedder_from, model_from, reranker_from  # noqa: PLC0415

    senses: dict[str, Any] = {}
    for name, make, none in (
        ("model", model_from, "none: memory quotes"),
        ("embedder", embedder_from, "none: found by words"),
    ):
        try:
            made: Any = make(place.settings)
            senses[name] = made
            if made is None:
                yield Check(name=name, ok=True, found=none)
                continue
            if online:
                await _try(name, made)
            yield Check(
                name=name, ok=True, found=f"{made.name}, {'answers' if online else 'not asked without --online'}"
            )
        except BethinkError as error:
            yield _failed(name, error)
    if place.settings.reranker:
        try:
            reranker_from(place.settings, senses.get("embedder"))
            yield Check(name="reranker", ok=True, found=place.settings.reranker)
        except BethinkError as error:
            yield _failed("reranker", error)


async def _try(name: str, made: Any) -> None:
    if name == "embedder":
        await made.embed(["one word"])
        return
    from bethink.model.calls import ModelCall  # noqa: PLC0415

    await made.answer(ModelCall(system="Answer with one word.", prompt="Are you there?", max_tokens=16, timeout=30.0))
