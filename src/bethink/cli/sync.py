"""The command that brings two memories together."""

from typing import Annotated

import typer

from bethink.cli.command import CommandContext, Result, UsageError, Yes, command
from bethink.model.plural import plural

app = typer.Typer()

_SPACES = {
    "space": (
        Annotated[
            list[str] | None, typer.Option(metavar="NAME", help="Only this space; may be repeated.  [default: all]")
        ],
        None,
    )
}


@command(app, "sync", effect="creates", opens=False, without=("space", "database", "key"), more=_SPACES)
async def sync(
    ctx: CommandContext,
    first: Annotated[str, typer.Argument(metavar="A", help="A file or a postgresql:// address.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one; a file that is not there is created.")],
    *,
    yes: Yes = False,
) -> Result:
    """Let two memories exchange what each lacks. Both have the same afterwards.

    What was changed on both sides is kept from both: the later version of a fact or a document holds, and messages of
    the same session follow one another. If it is interrupted, run it again.
    """
    from bethink.cli.target import find_target, is_server  # noqa: PLC0415 - it loads the settings

    names: list[str] = ctx.more["space"] or []
    if is_server(first) or is_server(second):
        hint = "Run it where the databases are, or move a space with 'bethink export --archive'."
        raise UsageError("sync needs two databases, not a server.", hint=hint)
    if first == second:
        raise UsageError("A and B are the same.", hint="Name two databases.")
    ours, theirs = find_target(ctx.options.config, first), find_target(ctx.options.config, second)
    ours.must_exist()
    ctx.confirm(f"Sync {plural(len(names), 'space') if names else 'all spaces'} of {first} and {second}?", yes=yes)
    async with ours.make() as one, theirs.make() as other:
        done = await one.sync(other, *names)
    data = [{"space": each.space, "first": each.first, "second": each.second} for each in done]
    rows = [[each.space, str(each.first), str(each.second)] for each in done]
    return Result(data=data, lines=ctx.table(rows, head=("SPACE", "CHANGED IN A", "CHANGED IN B")))
