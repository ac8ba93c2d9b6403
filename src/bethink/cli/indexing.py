"""The command that makes the vectors of all spaces anew: reindex."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.forgetting import DryRun, Yes
from bethink.cli.frame import SPACE, Answer, Code, Door, Problem, command
from bethink.cli.terminal import Line, Progress, many
from bethink.cli.watching import every_space

if TYPE_CHECKING:
    from bethink.recall.reindex import Vectors

app = typer.Typer()


@command(app, does="changes", without=SPACE)
async def reindex(
    door: Door,
    *,
    grow: Annotated[
        bool, typer.Option("--grow", help="Also build an index for every space too large to scan, on PostgreSQL.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Make what vectors the embedder in the settings lacks, in every space, and find by them from then on.

    Until all are made, recall goes on by words and the vectors there are.
    """
    vectors, embedder = door.memory.vectors(), door.place.settings.embedder
    if dry_run:
        spaces = len([space async for space in every_space(door.memory)])
        return Answer(
            data={"embedder": embedder, "spaces": spaces, "dry_run": True},
            lines=[Line(f"would look through {many(spaces, 'space')} for what {embedder} has not embedded")],
        )
    door.confirm(f"Embed every text that {embedder} has not, in every space?", yes=yes)
    await vectors.reindex()
    embedded, left = await _fill(door, vectors)
    grown = [space async for space in every_space(door.memory) if await vectors.grow(space=space)] if grow else []
    told = [f"{many(embedded, 'text')} embedded"] + ([f"{many(len(grown), 'space')} grown"] if grow else [])
    data = {"embedder": embedder, "embedded": embedded, "left": left, "grown": grown, "dry_run": False}
    problem = _unfinished(left) if left else None
    return Answer(data=data, lines=[Line("; ".join(told))], code=Code.PARTIAL if left else Code.OK, problem=problem)


async def _fill(door: Door, vectors: "Vectors") -> tuple[int, int]:
    """Do what was promised, and say how many texts were embedded and how many spaces are left to others."""
    from bethink.model.jobs import JobKind  # noqa: PLC0415 - as every import here, for a quick --help

    embedded, total = 0, await vectors.left()
    with Progress("spaces", total, quiet=door.common.quiet or door.common.json) as progress:
        while True:
            report = await door.memory.learn(only=(JobKind.INDEX,))
            embedded += report.settled["embedded"]
            left = await vectors.left()
            progress.advance(max(0, total - left - progress.done))
            if not report.claimed or not left:
                return embedded, left


def _unfinished(left: int) -> Problem:
    return Problem(
        code="unfinished",
        message=f"{many(left, 'space is', 'spaces are')} not done: the embedder failed, or a worker is at it.",
        hint="See 'bethink jobs' and 'bethink doctor --online', then run this again.",
    )
