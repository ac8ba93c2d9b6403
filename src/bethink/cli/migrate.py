"""The command that applies schema migrations: data migrate."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.results import ExitCode, Failure, Result, UsageError
from bethink.cli.terminal import OutputLine
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.store.db import Database
    from bethink.store.migrate import SchemaStatus
    from bethink.store.migration_plan import PlannedStatement

app = typer.Typer()


@command(app, "data migrate", effect="changes", opens=False, local=True, without=NO_SPACE)
async def migrate(
    ctx: CommandContext,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 unless the schema is current.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Change nothing; print the statements and their locks.")] = False,
    app_role: Annotated[
        str | None, typer.Option(metavar="ROLE", help="PostgreSQL role to grant access, without ownership.")
    ] = None,
) -> Result:
    """Apply pending schema migrations.

    Writers wait until it is done. Older processes that do not know the new schema are refused afterward.
    """
    from bethink.host.databases import database_from  # noqa: PLC0415 - like every import here, for a quick --help
    from bethink.store.migrate import schema_status  # noqa: PLC0415
    from bethink.store.migration_plan import plan as list_statements  # noqa: PLC0415

    if check and plan:
        raise UsageError("--check and --plan cannot be combined.", hint="Pass one of them.")
    if ctx.target.settings.module == "memory.sqlite":
        ctx.target.must_exist()
    database = database_from(ctx.target.settings)
    schema = await database.run_unopened(schema_status)
    if check:
        return _check_result(schema)
    schema.check()
    if plan:
        return _plan_result(schema, list_statements(schema, database.dialect))
    await _apply(database, app_role)
    applied = plural(len(schema.missing), "migration") if schema.version else "a new schema"
    line = "nothing to do" if schema.is_current else f"applied {applied}"
    lines = [OutputLine(f"schema {schema.newest}: {line}")]
    if app_role:
        lines.append(OutputLine(f"role {app_role} has access"))
    return Result(data={"version": schema.newest, "applied": list(schema.missing)}, lines=lines)


async def _apply(database: "Database", app_role: str | None) -> None:
    from bethink.store.sql import Dialect  # noqa: PLC0415 - as above

    if app_role and database.dialect is Dialect.SQLITE:
        raise UsageError("--app-role needs PostgreSQL, but this database is a file.", hint="Leave it out.")
    await database.open()
    try:
        if app_role:
            from bethink.store.engines.postgres_roles import grant_runner  # noqa: PLC0415 - the driver is an extra

            await database.transact(lambda tx: grant_runner(tx, app_role), repeatable=True)
    finally:
        await database.close()


def _check_result(schema: "SchemaStatus") -> Result:
    data = {"version": schema.version, "newest": schema.newest, "missing": schema.missing, "altered": schema.altered}
    if schema.is_current:
        return Result(data=data, lines=[OutputLine(f"schema {schema.version}: current")])
    if schema.predates_release:
        problem, hint = (
            "from before the first release",
            "Export archives with the version that wrote it, and import them.",
        )
    elif schema.altered:
        problem, hint = (
            f"migration {schema.altered[0]} was altered after it was applied",
            "Install a published release.",
        )
    elif schema.version > schema.newest:
        problem, hint = (
            f"newer than this version, which knows {schema.newest}",
            "Install a newer version of Bethink.",
        )
    else:
        problem, hint = f"behind by {plural(len(schema.missing), 'migration')}", "Run 'bethink data migrate'."
    failure = Failure(code="schema", message=f"Schema {schema.version}: {problem}.", hint=hint)
    return Result(data=data, code=ExitCode.FAILURE, failure=failure)


def _plan_result(schema: "SchemaStatus", steps: "list[PlannedStatement]") -> Result:
    lines: list[OutputLine] = []
    for step in steps:
        lines += [OutputLine(f"-- {step.version}: {step.locks}"), OutputLine(f"{step.statement};"), OutputLine("")]
    lines.append(OutputLine(f"schema {schema.version} to {schema.newest}: {plural(len(steps), 'statement')}"))
    return Result(data={"version": schema.version, "newest": schema.newest, "statements": steps}, lines=lines)
