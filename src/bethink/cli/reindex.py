"""The command that builds vectors in all spaces: reindex."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, ExitCode, Failure, Result, Yes, command
from bethink.cli.lists import all_spaces
from bethink.cli.terminal import OutputLine, Progress
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.memory.recall.reindex import Vectors

app = typer.Typer()


@command(app, effect="changes", local=True, without=NO_SPACE)
async def reindex(
    ctx: CommandContext,
    *,
    grow: Annotated[
        bool, typer.Option("--grow", help="Also build an index for each large space (PostgreSQL only).")
    ] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Also remove the vectors of embedders that were replaced.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Build missing vectors for the configured embedder, then switch to them. Works on all spaces.

    Until it is done, recall uses words and the vectors it already has.
    """
    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415 - like every import here, for a quick --help

    vectors, embedder = ctx.memory.local().vectors(), embedder_in_use(ctx.target.settings)
    if dry_run:
        spaces = len([space async for space in all_spaces(ctx.memory)])
        return Result(
            data={"embedder": embedder, "spaces": spaces, "dry_run": True},
            lines=[
                OutputLine(f"would search {plural(spaces, 'space')} for texts without a vector of {embedder}"),
                *([OutputLine("would remove the vectors of embedders that were replaced")] if drop_old else []),
            ],
        )
    also = ", and remove the vectors of embedders that were replaced" if drop_old else ""
    ctx.confirm(f"Embed every text that has no vector of {embedder}, in all spaces{also}?", yes=yes)
    await vectors.reindex()
    embedded, left = await _embed(ctx, vectors)
    grown = [space async for space in all_spaces(ctx.memory) if await vectors.grow(space=space)] if grow else []
    dropped = await vectors.drop_retired() if drop_old else []
    parts = [
        f"embedded {plural(embedded, 'text')}",
        *([f"indexed {plural(len(grown), 'large space')}"] if grow else []),
        *([f"removed the vectors of {plural(len(dropped), 'embedder')}"] if drop_old else []),
    ]
    return Result(
        data={
            "embedder": embedder,
            "embedded": embedded,
            "left": left,
            "grown": grown,
            "dropped": dropped,
            "dry_run": False,
        },
        lines=[OutputLine("; ".join(parts))],
        code=ExitCode.PARTIAL if left else ExitCode.OK,
        failure=_unfinished(left) if left else None,
    )


async def _embed(ctx: CommandContext, vectors: "Vectors") -> tuple[int, int]:
    """Run the queued jobs. Returns how many texts were embedded and how many spaces are not done."""
    from bethink.model.jobs import JobKind  # noqa: PLC0415 - as above

    embedded, total = 0, await vectors.left()
    with Progress("spaces", total, quiet=ctx.options.quiet or ctx.options.json) as progress:
        while True:
            report = await ctx.memory.learn(only=(JobKind.INDEX,))
            embedded += report.settled["embedded"]
            left = await vectors.left()
            progress.advance(max(0, total - left - progress.done))
            if not report.claimed or not left:
                return embedded, left


def _unfinished(left: int) -> Failure:
    return Failure(
        code="unfinished",
        message=f"{plural(left, 'space is', 'spaces are')} not done: the embedder failed, or another worker is busy.",
        hint="Check 'bethink jobs' and 'bethink doctor --online', then run this again.",
    )
