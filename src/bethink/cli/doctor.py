"""The command that checks the installation: doctor."""

import math
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.base.features import modules_named
from bethink.base.installed import install_hint
from bethink.cli.checks import Check
from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.paging import MOST
from bethink.cli.results import ExitCode, Failure, Result
from bethink.cli.review import pending_counts
from bethink.cli.terminal import OutputLine
from bethink.errors import BethinkError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.cli.target import Target
    from bethink.config.settings import Settings
    from bethink.model.jobs import Audit

app = typer.Typer()

_REVIEWED_SPACES = 100
"""Maximum number of spaces whose pending reviews are counted."""
_MIN_DISK = 100_000_000
_FIRST_YEAR, _LAST_YEAR = 2026, 2100
_NO_EMBEDDER = f"none: recall searches by words. For search by meaning: {install_hint('local')}"


@command(app, opens=False, local=True, without=NO_SPACE)
async def doctor(
    ctx: CommandContext,
    *,
    online: Annotated[
        bool, typer.Option("--online", help="Also send a request to the model and to the embedder.")
    ] = False,
    postgres: Annotated[
        bool, typer.Option("--postgres", help="Also test PostgreSQL: roles, pooler, deadlines.")
    ] = False,
) -> Result:
    """Check the installation and suggest fixes."""
    checks = [
        replace(check, detail=ctx.hint(check.detail), fix=ctx.hint(check.fix))
        async for check in _checks(ctx, online=online, postgres=postgres)
    ]
    broken = [check for check in checks if not check.ok]
    lines: list[OutputLine] = []
    for check in checks:
        lines.append(OutputLine(f"{'✓' if check.ok else '✗'} {check.name}: {check.detail}", "" if check.ok else "red"))
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
        yield _failed_check("settings", error)
        return
    origins = sorted(target.settings.origins.items())
    changed = [f"{name} ({origin})" for name, origin in origins if origin != "default"]
    values = f"changed: {', '.join(changed)}" if changed else "all defaults"
    detail = f"{target.file or 'no file'}; {values}"
    yield Check(name="settings", ok=True, detail=detail)
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
    """Check which coding agents are connected, trusted and up to date; nothing if none is installed."""
    from bethink.agents.health import findings  # noqa: PLC0415

    try:
        return [Check(name=item.name, ok=item.ok, detail=item.detail, fix=item.fix) for item in findings()]
    except (BethinkError, OSError) as error:
        return [_failed_check("coding agents", error)]


def _failed_check(name: str, error: BethinkError | OSError) -> Check:
    if isinstance(error, OSError):
        detail = f"{error.strerror or error}: {error.filename or ''}".removesuffix(": ")
        return Check(name=name, ok=False, detail=detail, fix="Check the path and its permissions.")
    return Check(name=name, ok=False, detail=Exception.__str__(error), fix=error.hint)


def _clock() -> Check:
    from datetime import UTC, datetime  # noqa: PLC0415

    now = datetime.now(UTC)
    ok = _FIRST_YEAR <= now.year <= _LAST_YEAR
    return Check(name="clock", ok=ok, detail=f"{now:%Y-%m-%d %H:%M} UTC", fix="Set the clock of this machine.")


def _folder(file: str) -> Check:
    import os  # noqa: PLC0415
    import shutil  # noqa: PLC0415

    folder = Path(file).expanduser().parent
    try:
        existing = next((path for path in (folder, *folder.parents) if path.exists()), Path())
    except OSError as error:
        return _failed_check("folder", error)
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return Check(
            name="folder",
            ok=False,
            detail=f"cannot write to {folder}",
            fix="Choose a database in a folder you can write to, or change its permissions.",
        )
    free = shutil.disk_usage(existing).free
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    return Check(name="folder", ok=free >= _MIN_DISK, detail=detail, fix="Free some disk space.")


async def _database(target: "Target") -> AsyncIterator[Check]:
    try:
        target.must_exist()
        async with replace(target, settings=_without_broken_providers(target.settings)).make() as memory:
            names = [space.name for space in await memory.spaces.list(limit=MOST)]
            spaces = plural(len(names), "space")
            yield Check(name="database", ok=True, detail=f"{target.address}, schema up to date, {spaces}")
            for module in modules_named("checks"):
                async for check in module.checks(memory, target.settings):
                    yield check
            yield await _to_review(memory, names[:_REVIEWED_SPACES])
            yield await _erasures(memory)
            if target.settings.learning.enabled:
                for check in _audit_checks(await memory.admin.audit(), target.settings):
                    yield check
            yield await _vectors(memory, target.settings)
    except (BethinkError, OSError) as error:
        yield _failed_check("database", error)


async def _server(target: "Target") -> AsyncIterator[Check]:
    """Test the PostgreSQL server. On SQLite this fails, because the test was requested."""
    if target.settings.module != "memory.postgres":
        is_file = target.settings.module == "memory.sqlite"
        detail = "the database is a SQLite file" if is_file else "there are several databases"
        yield Check(name="postgres", ok=False, detail=detail, fix="Omit --postgres, or pass the URL of one database.")
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
        yield _failed_check("postgres", error)
    finally:
        await database.close()


async def _to_review(memory: "Memory", names: list[str]) -> Check:
    """Count pending reviews. This check never fails."""
    counts = [await pending_counts(memory.space(name)) for name in names]
    claims, changes = (sum(count[kind] for count in counts) for kind in ("claims", "changes"))
    detail = f"{plural(claims, 'claim')} and {plural(changes, 'change set')} in {plural(len(names), 'space')}"
    return Check(name="to review", ok=True, detail=f"{detail}; see 'bethink review'" if claims + changes else detail)


async def _erasures(memory: "Memory") -> Check:
    """Finish interrupted deletions, and fail if one is not confirmed everywhere."""
    unconfirmed = await memory.admin.erasures.list()
    if not unconfirmed:
        return Check(name="erasures", ok=True, detail="all confirmed")
    where = ", ".join(sorted({sink for erasure in unconfirmed for sink in erasure.sinks}))
    return Check(
        name="erasures",
        ok=False,
        detail=f"{plural(len(unconfirmed), 'erasure')} not confirmed: {where}",
        fix="Stop programs that still read an older state of the database, then run 'bethink admin erasures --open'.",
    )


async def _vectors(memory: "Memory", settings: "Settings") -> Check:
    """Name the embedder whose vectors are in use. Fails if the default embedder is another one."""
    from bethink.memory.plugins import embedder_from  # noqa: PLC0415
    from bethink.memory.recall.reindex import find_protected_index  # noqa: PLC0415
    from bethink.store import vectors  # noqa: PLC0415

    indexes = await memory.backend.local().database.transact(vectors.indexes, read_only=True)
    try:
        embedder = embedder_from(settings)
    except BethinkError:
        embedder = None  # it has a check of its own
    other = None if embedder is None else find_protected_index(embedder, indexes)
    if embedder is not None and other is not None:
        return Check(
            name="vectors",
            ok=False,
            detail=f"built with {other.embedder}, the default embedder is {embedder.name}: recall searches by words",
            fix="Set embedder to the one that built them, or run 'bethink data reindex' to replace them.",
        )
    if not await memory.backend.local().database.transact(vectors.available, read_only=True):
        detail = "none: no pgvector, so recall searches by words (install it, then run 'bethink data reindex')"
        return Check(name="vectors", ok=True, detail=detail)
    in_use = [f"{index.embedder}, {index.status}" for index in indexes if index.status != "retired"]
    return Check(name="vectors", ok=True, detail="; ".join(in_use) or "none yet")


def _without_broken_providers(settings: "Settings") -> "Settings":
    """Leave out a model or an embedder that cannot be created: they have checks of their own."""
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
    dollars = settings.learning.daily_budget
    free = math.isinf(dollars) or not settings.model.input_price + settings.model.output_price
    cap = "no cap" if free else f"cap ${dollars:.2f} a day"
    return cap if settings.model.name else f"{cap}, no model set"


def _audit_checks(audit: "Audit", settings: "Settings") -> list[Check]:
    return [
        Check(
            name="jobs",
            ok=not audit.overdue,
            detail=f"{audit.overdue} overdue",
            fix="Run 'bethink worker', or 'bethink worker --once'.",
        ),
        Check(
            name="abandoned jobs",
            ok=not audit.abandoned,
            detail=plural(audit.abandoned, "job"),
            fix="See 'bethink learn jobs' for the reason, then retry with space.sessions.relearn(session_id).",
        ),
        Check(
            name="audit",
            ok=not audit.violations,
            detail=_sample(audit),
            fix="Another program has changed the database. Restore it from a backup.",
        ),
        Check(
            name="spending",
            ok=not audit.is_capped,
            detail=f"${audit.spent_today.cost / 1e6:.2f} today; {_cap(settings)}",
            fix="Wait until midnight UTC, or raise daily_budget.",
        ),
    ]


def _sample(audit: "Audit") -> str:
    if not audit.spaces_checked:
        return "not run (no learned facts yet)"
    return f"{plural(audit.violations, 'violation')} in a sample of {plural(audit.spaces_checked, 'space')}"


async def _providers(target: "Target", *, online: bool) -> AsyncIterator[Check]:
    from bethink.memory.plugins import embedder_from, model_from, reranker_from  # noqa: PLC0415

    providers: dict[str, Any] = {}
    for name, make, none in (
        ("model", model_from, "no model: messages only"),
        ("embedder", embedder_from, _NO_EMBEDDER),
    ):
        try:
            provider: Any = make(target.settings)
            providers[name] = provider
            if provider is None:
                yield Check(name=name, ok=True, detail=none)
                continue
            if online:
                await _try(name, provider)
            state = "answers" if online else "not contacted without --online"
            yield Check(name=name, ok=True, detail=f"{provider.name}, {state}{_missing_model(provider)}")
        except BethinkError as error:
            yield _failed_check(name, error)
    if target.settings.embedder.reranker:
        try:
            reranker_from(target.settings, providers.get("embedder"))
            yield Check(name="reranker", ok=True, detail=target.settings.embedder.reranker)
        except BethinkError as error:
            yield _failed_check("reranker", error)


def _missing_model(provider: Any) -> str:
    """Name the package that the default embedder lacks, if it is only the table of English word pieces."""
    from bethink.providers.local_extra import MODEL_HINT  # noqa: PLC0415
    from bethink.providers.static_embedder import LocalEmbedder  # noqa: PLC0415

    return f". For other languages than English: {MODEL_HINT}" if isinstance(provider, LocalEmbedder) else ""


async def _try(name: str, provider: Any) -> None:
    if name == "embedder":
        await provider.embed(["one word"], kind="question")
        return
    from bethink.model.calls import ModelCall  # noqa: PLC0415

    await provider.answer(
        ModelCall(system="Answer with one word.", prompt="Are you there?", max_tokens=16, timeout=30.0)
    )
