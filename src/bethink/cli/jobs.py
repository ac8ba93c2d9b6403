"""The command that lists background jobs."""

from typing import TYPE_CHECKING

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.paging import After, Limit, list_page
from bethink.cli.results import Result
from bethink.cli.terminal import in_words, one_line, when

if TYPE_CHECKING:
    from bethink.model.jobs import Job

app = typer.Typer()

_WIDTH = 100
_HEAD = ("KIND", "STATUS", "OUTCOME", "ATTEMPTS", "QUEUED", "FINISHED", "COST", "TARGET", "ERROR")


@command(app, "learn jobs")
async def jobs(ctx: CommandContext, *, limit: Limit = 20, after: After = "") -> Result:
    """List background jobs. Newest first."""
    page = await ctx.space.admin.jobs.list(limit=limit, after=after)
    if any(job.status == "waiting" for job in page.items):
        ctx.note("note: a waiting job is done for now and runs again when it is due")
    if _has_no_embedder(ctx) and any(job.kind == "index" and job.status == "queued" for job in page.items):
        ctx.note("note: index jobs stay queued until an embedder is set; until then, recall searches by words")
    return list_page(ctx, page, _row, _HEAD)


def _row(job: "Job") -> list[str]:
    return [
        job.kind,
        job.status,
        in_words(job.outcome or ""),
        str(job.attempts),
        when(job.queued_at),
        when(job.finished_at),
        f"${job.usage.cost / 1e6:.4f}",
        job.key,
        one_line(job.last_error or "", _WIDTH),
    ]


def _has_no_embedder(ctx: CommandContext) -> bool:
    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415 - for a quick --help

    return not ctx.target.server and not embedder_in_use(ctx.target.settings)
