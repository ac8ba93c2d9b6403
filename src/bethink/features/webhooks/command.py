"""The commands `webhooks …`."""

from typing import Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Result, Yes, command
from bethink.cli.lists import Limit
from bethink.cli.terminal import OutputLine, when
from bethink.errors import NotFound

app = typer.Typer()
webhooks = typer.Typer(help="Create, list and delete webhooks, and see what was sent to them.")
app.add_typer(webhooks, name="webhooks")

Id = Annotated[str, typer.Argument(help="The id of the webhook, as 'bethink webhooks list' shows it.")]


@command(webhooks, effect="creates", without=NO_SPACE)
async def create(
    ctx: CommandContext,
    url: Annotated[str, typer.Argument(help="The address that changes are sent to.")],
    *,
    for_space: Annotated[
        str | None, typer.Option(metavar="NAME", help="Send only the changes of this space.  [default: all]")
    ] = None,
) -> Result:
    """Create a webhook. Its secret is shown only once."""
    made = await ctx.memory.webhooks.create(url, space=for_space)
    ctx.note(f"note: created {made.info.id}; copy the secret now, it is not shown again")
    return Result(data=made, lines=[OutputLine(made.secret)])


@command(webhooks, "list", without=NO_SPACE)
async def list_webhooks(ctx: CommandContext) -> Result:
    """List all webhooks without their secrets, disabled ones included."""
    found = await ctx.memory.webhooks.all()
    rows = [
        [
            each.id,
            each.url,
            each.space or "all",
            when(each.created_at),
            when(each.disabled_at),
            each.disabled_because or "",
        ]
        for each in found
    ]
    head = ["WEBHOOK", "URL", "SPACE", "CREATED", "DISABLED", "BECAUSE"]
    return Result(data=found, lines=ctx.table(rows, head=head))


@command(webhooks, effect="changes", without=NO_SPACE)
async def delete(ctx: CommandContext, webhook: Id, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Delete a webhook with what was noted of its deliveries."""
    found = next((each for each in await ctx.memory.webhooks.all() if each.id == webhook), None)
    if found is None:
        raise NotFound(f"no webhook {webhook[:40]!r}.", hint="Run 'bethink webhooks list' to see all ids.")
    data = {"webhook": found, "dry_run": dry_run}
    if dry_run:
        return Result(data=data, lines=[OutputLine(f"would delete {webhook} ({found.url})")])
    ctx.confirm(f"Delete {webhook} ({found.url})?", yes=yes)
    await ctx.memory.webhooks.delete(webhook)
    return Result(data=data, lines=[OutputLine(f"deleted {webhook}")])


@command(webhooks, without=NO_SPACE)
async def deliveries(
    ctx: CommandContext,
    webhook: Id,
    *,
    of_space: Annotated[str | None, typer.Option(metavar="NAME", help="List only those of this space.")] = None,
    limit: Limit = 20,
) -> Result:
    """List what was sent to a webhook, the last tried first."""
    found = await ctx.memory.webhooks.deliveries(webhook, space=of_space, limit=limit)
    rows = [
        [
            each.space,
            str(each.number),
            each.kind,
            when(each.at),
            str(each.attempts),
            str(each.status or ""),
            when(each.delivered_at),
            each.error or "",
        ]
        for each in found
    ]
    head = ["SPACE", "NUMBER", "KIND", "TRIED", "TRIES", "STATUS", "DELIVERED", "ERROR"]
    return Result(data=found, lines=ctx.table(rows, head=head))
