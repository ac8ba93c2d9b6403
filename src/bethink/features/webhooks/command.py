"""Commands for webhooks: admin webhooks create, list, delete and deliveries."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Yes, command
from bethink.cli.groups import called_alone
from bethink.cli.paging import MOST, After, Limit, list_page, slice_page
from bethink.cli.results import Result
from bethink.cli.terminal import OutputLine, when
from bethink.errors import NotFoundError

if TYPE_CHECKING:
    from bethink.features.webhooks.records import Delivery, WebhookInfo

app = typer.Typer()
webhooks = typer.Typer(cls=called_alone("list"), help="Manage webhooks and see deliveries.")
app.add_typer(webhooks, name="admin webhooks")

Id = Annotated[str, typer.Argument(help="Id of the webhook, as 'bethink admin webhooks' lists it.")]
_SPACE = {"space": (Annotated[str | None, typer.Option(metavar="NAME", help="Space.  [default: all]")], None)}


@command(webhooks, effect="creates", by_folder=False, without=NO_SPACE, more=_SPACE)
async def create(ctx: CommandContext, url: Annotated[str, typer.Argument(help="URL that receives changes.")]) -> Result:
    """Create a webhook. Its secret is shown only once."""
    webhook = await ctx.memory.admin.webhooks.create(url, space=ctx.more["space"])
    ctx.note(f"note: created {webhook.info.id}; copy the secret now, it is not shown again")
    return Result(data=webhook, lines=[OutputLine(webhook.secret)])


@command(webhooks, "list", without=NO_SPACE)
async def list_webhooks(ctx: CommandContext, *, limit: Limit = 100, after: After = "") -> Result:
    """List webhooks, including disabled ones, without secrets."""
    page = slice_page(await ctx.memory.admin.webhooks.list(), lambda webhook: webhook.id, after=after, limit=limit)
    return list_page(ctx, page, _webhook_row, ("WEBHOOK", "URL", "SPACE", "CREATED", "DISABLED", "REASON"))


def _webhook_row(webhook: "WebhookInfo") -> list[str]:
    return [
        webhook.id,
        webhook.url,
        webhook.space or "all",
        when(webhook.created_at),
        when(webhook.disabled_at),
        webhook.disable_reason or "",
    ]


@command(webhooks, effect="changes", without=NO_SPACE)
async def delete(ctx: CommandContext, webhook: Id, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Delete a webhook and its list of deliveries."""
    info = next((entry for entry in await ctx.memory.admin.webhooks.list() if entry.id == webhook), None)
    if info is None:
        raise NotFoundError(f"No webhook {webhook[:40]!r}.", hint="Run 'bethink admin webhooks' to list the ids.")
    data = {"webhook": info, "dry_run": dry_run}
    if dry_run:
        return Result(data=data, lines=[OutputLine(f"would delete {webhook} ({info.url})")])
    ctx.confirm(f"Delete {webhook} ({info.url})?", yes=yes)
    await ctx.memory.admin.webhooks.delete(webhook)
    return Result(data=data, lines=[OutputLine(f"Deleted {webhook}.")])


@command(webhooks, by_folder=False, without=NO_SPACE, more=_SPACE)
async def deliveries(ctx: CommandContext, webhook: Id, *, limit: Limit = 20, after: After = "") -> Result:
    """List the deliveries of a webhook, last attempt first."""
    entries = await ctx.memory.admin.webhooks.deliveries(webhook, space=ctx.more["space"], limit=MOST)
    page = slice_page(entries, lambda entry: f"{entry.space}:{entry.number}", after=after, limit=limit)
    head = ("SPACE", "NUMBER", "KIND", "TIME", "ATTEMPTS", "STATUS", "DELIVERED", "ERROR")
    return list_page(ctx, page, _delivery_row, head)


def _delivery_row(delivery: "Delivery") -> list[str]:
    return [
        delivery.space,
        str(delivery.number),
        delivery.kind,
        when(delivery.at),
        str(delivery.attempts),
        str(delivery.status or ""),
        when(delivery.delivered_at),
        delivery.error or "",
    ]
