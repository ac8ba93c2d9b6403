"""The command that brings the schema up to date: migrate."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, ExitCode, Failure, Result, UsageError, command
from bethink.cli.terminal import OutputLine
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.store.db import Database
    from bethink.store.migrate import SchemaStanding
    from bethink.store.migration_plan import PlannedStatement

app = typer.Typer()


@command(app, effect="changes", opens=False, local=True, without=NO_SPACE)
async def migrate(
    ctx: CommandContext,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 unless the schema is current.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Change nothing; print what would run, and which locks it takes.")
    ] = False,
    runner: Annotated[
        str | None,
        typer.Option("--runner", metavar="ROLE", help="Also let this PostgreSQL role work, without owning anything."),
    ] = None,
) -> Result:
    """Bring the schema of the database up to date.

    Writers wait meanwhile; processes that do not know the new schema are refused from then on.
    """
    from bethink.host.databases import database_from  # noqa: PLC0415 - like every import here, for a quick --help
    from bethink.store.migrate import standing  # noqa: PLC0415
    from bethink.store.migration_plan import plan as planned  # noqa: PLC0415

    if check and plan:
        raise UsageError("--check and --plan are two questions.", hint="Give one of them.")
    if ctx.target.settings.module == "memory.sqlite":
        ctx.target.must_exist()
    database = database_from(ctx.target.settings)
    found = await database.look(standing)
    if check:
        return _checked(found)
    found.check()
    if plan:
        return _planned(found, planned(found, database.dialect))
    await _applied(database, runner)
    done = plural(len(found.missing), "migration") if found.version else "a new schema"
    line = f"schema {found.newest}: nothing to do" if found.is_current else f"schema {found.newest}: applied {done}"
    lines = [OutputLine(line), *([OutputLine(f"role {runner} may work here")] if runner else [])]
    return Result(data={"version": found.newest, "applied": list(found.missing)}, lines=lines)


async def _applied(database: "Database", runner: str | None) -> None:
    from bethink.store.sql import Dialect  # noqa: PLC0415 - as above

    if runner and database.dialect is Dialect.SQLITE:
        raise UsageError("--runner names a role of PostgreSQL, and this memory is a file.", hint="Leave it out.")
    await database.open()
    try:
        if runner:
            from bethink.store.engines.postgres_roles import grant_runner  # noqa: PLC0415 - the driver is an extra

            await database.transact(lambda tx: grant_runner(tx, runner), repeatable=True)
    finally:
        await database.close()


def _checked(found: "SchemaStanding") -> Result:
    data = {"version": found.version, "newest": found.newest, "missing": found.missing, "altered": found.altered}
    if found.is_current:
        return Result(data=data, lines=[OutputLine(f"schema {found.version}: current")])
    if found.predates_release:
        what, hint = "from before the first release", "Export archives with the version that wrote it, and import them."
    elif found.altered:
        what, hint = f"migration {found.altered[0]} was altered after it was applied", "Install a published release."
    elif found.version > found.newest:
        what, hint = f"newer than this version, which knows {found.newest}", "Upgrade: pip install --upgrade bethink."
    else:
        what, hint = f"behind by {plural(len(found.missing), 'migration')}", "Run 'bethink migrate'."
    failure = Failure(code="schema", message=f"schema {found.version}: {what}.", hint=hint)
    return Result(data=data, code=ExitCode.FAILURE, failure=failure)


def _planned(found: "SchemaStanding", steps: "list[PlannedStatement]") -> Result:
    lines: list[OutputLine] = []
    for step in steps:
        lines += [OutputLine(f"-- {step.version}: {step.locks}"), OutputLine(f"{step.statement};"), OutputLine("")]
    lines.append(OutputLine(f"schema {found.version} to {found.newest}: {plural(len(steps), 'statement')}"))
    return Result(data={"version": found.version, "newest": found.newest, "statements": steps}, lines=lines)
