"""Commands for database shards: admin shards list, add, drain and move."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.extensions.commands import NO_SPACE, CommandContext, OutputLine, Result, UsageError, Yes, command, plural

if TYPE_CHECKING:
    from bethink_shards.backend import Shards
    from bethink_shards.steps import MoveReport

app = typer.Typer(help="Add, drain and list database shards.")

_HINT = "Pass --database shards://user:password@host/directory, or set module = 'memory.shards' and postgres_dsn."


@command(app, "list", local=True, without=NO_SPACE)
async def list_shards(ctx: CommandContext) -> Result:
    """List shards with their spaces, and unfinished moves."""
    from bethink.extensions.backends import mask_secrets  # noqa: PLC0415 - like every import here, for a quick --help

    directory = _shards(ctx).directory
    shards, moves = await directory.shards(), await directory.moves()
    rows = [
        [shard.name, shard.state, str(shard.spaces), str(shard.weight), mask_secrets(shard.dsn)]
        for shard in shards.values()
    ]  # fmt: skip
    lines = ctx.table(rows, head=("SHARD", "STATE", "SPACES", "CAPACITY", "ADDRESS"))
    lines += [OutputLine(f"{space} is moving from {source} to {target}") for space, source, target in moves]
    data = {
        "shards": [
            {
                "name": shard.name, "state": shard.state, "spaces": shard.spaces, "capacity": shard.weight,
                "address": mask_secrets(shard.dsn),
            }
            for shard in shards.values()
        ],
        "moves": [{"space": space, "source": source, "target": target} for space, source, target in moves],
    }  # fmt: skip
    return Result(data=data, lines=lines)


@command(app, effect="creates", local=True, without=NO_SPACE)
async def add(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(help="Name of the shard.")],
    dsn: Annotated[str, typer.Argument(metavar="DSN", help="postgresql:// URL that works from every process.")],
    *,
    capacity: Annotated[int, typer.Option(metavar="N", help="Relative capacity.")] = 1,
) -> Result:
    """Add a PostgreSQL database as a shard. Its spaces are registered, and its schema is migrated.

    The directory stores the URL as it is: leave the password out if PGPASSWORD or a .pgpass file has it.
    """
    from bethink_shards.operating import add_shard  # noqa: PLC0415 - as above

    if not dsn.startswith(("postgresql://", "postgres://")):
        raise UsageError("A shard must be a PostgreSQL database.", hint="Pass a postgresql:// URL.")
    spaces = await add_shard(_shards(ctx), name, dsn, weight=capacity)
    line = OutputLine(f"Added {name} with {plural(spaces, 'space')}.")
    return Result(data={"name": name, "capacity": capacity, "spaces": spaces}, lines=[line])


@command(app, effect="changes", local=True, without=NO_SPACE)
async def drain(
    ctx: CommandContext, name: Annotated[str, typer.Argument(help="Shard to empty.")], *, yes: Yes = False
) -> Result:
    """Move all spaces of a shard to the emptiest other shards. If interrupted, run it again."""
    from bethink_shards.operating import drain_shard  # noqa: PLC0415 - as above

    shards = _shards(ctx)
    entries = await shards.directory.shards()
    count = entries[name].spaces if name in entries else 0
    ctx.confirm(f"Move {plural(count, 'space')} out of {name}?", yes=yes)
    reports: list[MoveReport] = []
    async for report in drain_shard(shards, name):
        ctx.note(_line(report))
        reports.append(report)
    lines = [OutputLine(f"{name}: {plural(len(reports), 'space')} moved")]
    return Result(data=[_data(report) for report in reports], lines=lines)


@command(app, effect="changes", local=True, without=NO_SPACE)
async def move(
    ctx: CommandContext,
    moved: Annotated[str, typer.Argument(metavar="SPACE", help="Space to move.")],
    *,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="Target shard.")],
) -> Result:
    """Move a space to another shard while it is in use. If interrupted, run it again.

    Writers wait briefly at the end. Nothing is lost or stored twice. To cancel an interrupted move, pass the
    shard that the space was leaving.
    """
    from bethink_shards.operating import move_space  # noqa: PLC0415 - as above

    report = await move_space(_shards(ctx), moved, to)
    return Result(data=_data(report), lines=[OutputLine(_line(report))])


def _shards(ctx: CommandContext) -> "Shards":
    from bethink_shards.backend import Shards  # noqa: PLC0415 - as above

    backend = ctx.memory.backend
    if not isinstance(backend, Shards):
        raise UsageError("This command needs a directory of shards.", hint=_HINT)
    return backend


def _line(report: "MoveReport") -> str:
    if report.source == report.target:
        return f"{report.space} is in {report.target}"
    line = f"{report.space}: {report.source} to {report.target}"
    return f"{line}, {plural(report.rows, 'row')}, writers waited {report.paused:.1f} s" if report.rows else line


def _data(report: "MoveReport") -> dict[str, object]:
    return {
        "space": report.space, "source": report.source, "target": report.target, "rows": report.rows,
        "rounds": report.rounds, "paused": round(report.paused, 3),
    }  # fmt: skip
