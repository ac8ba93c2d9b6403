"""Commands for the shards of a directory: list, add, drain and move."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.extensions.commands import NO_SPACE, CommandContext, OutputLine, Result, UsageError, Yes, command, plural

if TYPE_CHECKING:
    from bethink_shards.backend import Shards
    from bethink_shards.steps import MoveReport

app = typer.Typer(help="List, add and drain shards, and move a space to another one.")

_HINT = "Pass --database shards://user:password@host/directory, or set module = 'memory.shards' and postgres_dsn."


@command(app, "list", local=True, without=NO_SPACE)
async def list_shards(ctx: CommandContext) -> Result:
    """List the shards of the directory with their spaces, and the moves that have not ended."""
    from bethink.extensions.backends import masked  # noqa: PLC0415 - like every import here, for a quick --help

    directory = _shards(ctx).directory
    found, moves = await directory.shards(), await directory.moves()
    rows = [
        [each.name, each.state, str(each.spaces), str(each.weight), masked(each.dsn)] for each in found.values()
    ]  # fmt: skip
    lines = ctx.table(rows, head=("SHARD", "STATE", "SPACES", "WEIGHT", "ADDRESS"))
    lines += [OutputLine(f"{space} is on its way from {source} to {target}") for space, source, target in moves]
    data = {
        "shards": [
            {
                "name": each.name, "state": each.state, "spaces": each.spaces, "weight": each.weight,
                "address": masked(each.dsn),
            }
            for each in found.values()
        ],
        "moves": [{"space": space, "source": source, "target": target} for space, source, target in moves],
    }  # fmt: skip
    return Result(data=data, lines=lines)


@command(app, effect="creates", local=True, without=NO_SPACE)
async def add(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(help="What to call the shard.")],
    dsn: Annotated[str, typer.Argument(metavar="DSN", help="Its postgresql:// address, as every process reaches it.")],
    *,
    weight: Annotated[int, typer.Option(metavar="N", help="How many spaces it takes beside a shard of 1.")] = 1,
) -> Result:
    """Add a PostgreSQL database as a shard, with the spaces that it holds. Its schema is brought up to date.

    The directory keeps the address as it is given: leave the password out where PGPASSWORD or a .pgpass file has it.
    """
    from bethink_shards.operating import add_shard  # noqa: PLC0415 - as above

    if not dsn.startswith(("postgresql://", "postgres://")):
        raise UsageError("a shard is a PostgreSQL database.", hint="Give a postgresql:// address.")
    held = await add_shard(_shards(ctx), name, dsn, weight=weight)
    line = OutputLine(f"added {name} with {plural(held, 'space')}")
    return Result(data={"name": name, "weight": weight, "spaces": held}, lines=[line])


@command(app, effect="changes", local=True, without=NO_SPACE)
async def drain(
    ctx: CommandContext, name: Annotated[str, typer.Argument(help="The shard to empty.")], *, yes: Yes = False
) -> Result:
    """Give a shard no more spaces, and move those that it has to the emptiest others. If interrupted, run it again."""
    from bethink_shards.operating import drain_shard  # noqa: PLC0415 - as above

    found = _shards(ctx)
    known = await found.directory.shards()
    count = known[name].spaces if name in known else 0
    ctx.confirm(f"Move {plural(count, 'space')} out of {name}?", yes=yes)
    done: list[MoveReport] = []
    async for report in drain_shard(found, name):
        ctx.note(_told(report))
        done.append(report)
    return Result(
        data=[_data(each) for each in done], lines=[OutputLine(f"{name}: {plural(len(done), 'space')} moved")]
    )


@command(app, effect="changes", local=True, without=NO_SPACE)
async def move(
    ctx: CommandContext,
    moved: Annotated[str, typer.Argument(metavar="SPACE", help="The space to move.")],
    *,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="The shard to move it to.")],
) -> Result:
    """Move a space to another shard while it is in use. If interrupted, run it again.

    Writers wait for a moment at its end, and nothing is lost or stored twice. A move that was interrupted before its
    end can also be taken back: name the shard that the space was to leave.
    """
    from bethink_shards.operating import move_space  # noqa: PLC0415 - as above

    report = await move_space(_shards(ctx), moved, to)
    return Result(data=_data(report), lines=[OutputLine(_told(report))])


def _shards(ctx: CommandContext) -> "Shards":
    from bethink_shards.backend import Shards  # noqa: PLC0415 - as above

    backend = ctx.memory.backend
    if not isinstance(backend, Shards):
        raise UsageError("this command needs a directory of shards.", hint=_HINT)
    return backend


def _told(report: "MoveReport") -> str:
    if report.source == report.target:
        return f"{report.space} is in {report.target}"
    told = f"{report.space}: {report.source} to {report.target}"
    return f"{told}, {plural(report.rows, 'row')}, writers waited {report.paused:.1f} s" if report.rows else told


def _data(report: "MoveReport") -> dict[str, object]:
    return {
        "space": report.space, "source": report.source, "target": report.target, "rows": report.rows,
        "rounds": report.rounds, "paused": round(report.paused, 3),
    }  # fmt: skip
