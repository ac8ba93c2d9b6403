"""Commands for erasures: list them, and verify a receipt."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.export import private
from bethink.cli.paging import MOST, After, Limit, list_page, slice_page
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, when
from bethink.errors import NotFoundError

if TYPE_CHECKING:
    from bethink.model.erasures import Erasure, OpenErasure

app = typer.Typer()
receipt = typer.Typer(help="Verify deletion receipts.")
app.add_typer(receipt, name="admin receipt")


@command(app, "admin erasures")
async def erasures(
    ctx: CommandContext,
    erasure: Annotated[str | None, typer.Argument(metavar="[ID]", help="Erasure whose receipt to print.")] = None,
    *,
    open_: Annotated[bool, typer.Option("--open", help="Unconfirmed erasures, in all spaces.")] = False,
    public_key: Annotated[bool, typer.Option("--public-key", help="Public key that verifies receipts.")] = False,
    limit: Limit = 20,
    after: After = "",
) -> Result:
    """List deletions and their receipts. Interrupted deletions are finished first."""
    if public_key:
        key = await ctx.memory.admin.erasures.public_key()
        return Result(data={"public_key": key}, lines=[OutputLine(key or "none")])
    if open_:
        unconfirmed = await ctx.memory.admin.erasures.list()
        waiting = slice_page(unconfirmed, lambda pending: pending.id, after=after, limit=limit)
        return list_page(ctx, waiting, _waiting_row, ("ERASURE", "SPACE", "NOT CONFIRMED"), all_spaces=True)
    if erasure is not None:
        chosen = await _find(ctx, erasure)
        return Result(data=chosen, lines=[OutputLine(chosen.receipt)])
    page = await ctx.space.admin.erasures.list(limit=limit, after=after)
    return list_page(ctx, page, _row, ("ERASURE", "REQUESTED", "STATE", "ACTOR", "KEY", "REASON"))


async def _find(ctx: CommandContext, erasure_id: str) -> "Erasure":
    async for erasure in (await ctx.space.admin.erasures.list(limit=MOST)).iterate():
        if erasure.id == erasure_id:
            return erasure
    message = f"No erasure {erasure_id!r} in space {ctx.space_name!r}."
    raise NotFoundError(message, hint="Run 'bethink admin erasures' to list them.")


def _waiting_row(pending: "OpenErasure") -> list[str]:
    return [pending.id, pending.space, ", ".join(pending.sinks)]


def _row(erasure: "Erasure") -> list[str]:
    return [
        erasure.id,
        when(erasure.requested_at),
        "confirmed" if erasure.settled_at is not None else f"open: {', '.join(erasure.open_sinks)}",
        erasure.requested_by,
        erasure.key_prefix or "",
        erasure.reason,
    ]


@command(receipt, "verify", opens=False, local=True, without=(*NO_SPACE, "config", "database"))
async def verify_receipt(
    ctx: CommandContext,  # noqa: ARG001 - every command has one
    file: Annotated[str, typer.Argument(metavar="FILE", help="Receipt, as forget wrote it.")],
    *,
    public_key: Annotated[
        str | None, typer.Option("--public-key", metavar="KEY", help="Public key of the installation.")
    ] = None,
) -> Result:
    """Verify a deletion receipt, without the database."""
    from bethink.memory.deletion.receipts import verify_receipt as check_receipt  # noqa: PLC0415 - it needs an extra

    checked = check_receipt(_read_receipt(file), public_key=public_key)
    content = checked.receipt
    counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in content["counts"].items() if count)
    state = f"confirmed {content['settled_at']}" if content["settled_at"] else "not confirmed when it was written"
    lines = [
        f"valid signature: {checked.public_key}",
        f"erasure {content['erasure']} in space {content['space']}, "
        f"requested by {content['requested_by']} {content['requested_at']}",
        f"{state}; deleted: {counts or 'nothing'}",
        *(f"out of reach: {copy['what']}: {copy['why']}" for copy in content["out_of_reach"]),
    ]
    return Result(
        data={"receipt": content, "public_key": checked.public_key}, lines=[OutputLine(line) for line in lines]
    )


def _read_receipt(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = "Pass the file that 'bethink forget --receipt' wrote."
        raise UsageError(f"Cannot read {file}: {type(error).__name__}.", hint=hint) from error


def write_receipt(file: str, text: str) -> None:
    """Write a receipt to a file that only its owner can read."""
    with open(file, "w", encoding="utf-8", opener=private) as sink:
        sink.write(f"{text}\n")
