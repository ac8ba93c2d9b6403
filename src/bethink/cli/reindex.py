"""The command that rebuilds vectors in all spaces: data reindex."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Yes, command
from bethink.cli.results import ExitCode, Failure, Result
from bethink.cli.spaces import all_spaces
from bethink.cli.terminal import OutputLine, Progress
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.memory.recall.reindex import Vectors

app = typer.Typer()


@command(app, "data reindex", effect="changes", local=True, without=NO_SPACE)
async def reindex(
    ctx: CommandContext,
    *,
    build_indexes: Annotated[
        bool, typer.Option("--build-indexes", help="Also build an index for each large space (PostgreSQL).")
    ] = False,
    delete_old_vectors: Annotated[
        bool, typer.Option("--delete-old-vectors", help="Also delete the vectors of replaced embedders.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Rebuild vectors for the configured embedder. Covers all spaces.

    Until it is done, recall uses words and the existing vectors.
    """
    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415 - like every import here, for a quick --help

    vectors, embedder = ctx.memory.backend.local().vectors(), embedder_in_use(ctx.target.settings)
    if dry_run:
        spaces = len([space async for space in all_spaces(ctx.memory)])
        return Result(
            data={"embedder": embedder, "spaces": spaces, "dry_run": True},
            lines=[
                OutputLine(f"would search {plural(spaces, 'space')} for texts without a vector of {embedder}"),
                *([OutputLine("would delete the vectors of replaced embedders")] if delete_old_vectors else []),
            ],
        )
    also = ", and delete the vectors of replaced embedders" if delete_old_vectors else ""
    ctx.confirm(f"Embed every text that has no vector of {embedder}, in all spaces{also}?", yes=yes)
    await vectors.reindex()
    embedded, remaining = await _embed(ctx, vectors)
    grown: list[str] = []
    if build_indexes:
        grown = [space async for space in all_spaces(ctx.memory) if await vectors.grow(space=space)]
    dropped = await vectors.drop_retired() if delete_old_vectors else []
    parts = [
        f"Indexed {plural(embedded, 'text')}.",
        *([f"Built indexes for {plural(len(grown), 'large space')}."] if build_indexes else []),
        *([f"Deleted the vectors of {plural(len(dropped), 'embedder')}."] if delete_old_vectors else []),
    ]
    return Result(
        data={
            "embedder": embedder,
            "embedded": embedded,
            "left": remaining,
            "grown": grown,
            "dropped": dropped,
            "dry_run": False,
        },
        lines=[OutputLine(" ".join(parts))],
        code=ExitCode.PARTIAL if remaining else ExitCode.OK,
        failure=_unfinished_failure(remaining) if remaining else None,
    )


async def _embed(ctx: CommandContext, vectors: "Vectors") -> tuple[int, int]:
    """Run the queued jobs. Returns the number of embedded texts and of unfinished spaces."""
    from bethink.model.jobs import JobKind  # noqa: PLC0415 - as above

    embedded, total = 0, await vectors.count_pending()
    with Progress("spaces", total, quiet=ctx.options.quiet or ctx.options.json) as progress:
        while True:
            report = await ctx.memory.learn(kinds=(JobKind.INDEX,))
            embedded += report.settled["embedded"]
            remaining = await vectors.count_pending()
            progress.advance(max(0, total - remaining - progress.done))
            if not report.leased or not remaining:
                return embedded, remaining


def _unfinished_failure(remaining: int) -> Failure:
    return Failure(
        code="unfinished",
        message=f"{plural(remaining, 'space is', 'spaces are')} not done: the embedder failed, or a worker is busy.",
        hint="Check 'bethink learn jobs' and 'bethink doctor --online', then run this again.",
    )
