"""The commands about erasures: list them, and check a receipt."""

from pathlib import Path
from typing import Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, UsageError, command
from bethink.cli.export import private
from bethink.cli.lists import Limit
from bethink.cli.terminal import OutputLine, when
from bethink.errors import NotFound

app = typer.Typer()


@command(app)
async def erasures(
    ctx: CommandContext,
    erasure: Annotated[str | None, typer.Argument(metavar="[ID]", help="Print the receipt of this one.")] = None,
    *,
    open_: Annotated[bool, typer.Option("--open", help="List what is not settled yet, in all spaces.")] = False,
    public_key: Annotated[
        bool, typer.Option("--public-key", help="Print the key that receipts of this installation are signed with.")
    ] = False,
    limit: Limit = 20,
) -> Result:
    """List what was forgotten, who asked, and what is not settled yet. What was interrupted is finished first."""
    if open_ or public_key:
        state = await ctx.memory.open_erasures()
        if public_key:
            return Result(data={"public_key": state.public_key}, lines=[OutputLine(state.public_key or "none")])
        rows = [[each.id, each.space, ", ".join(each.sinks)] for each in state.waiting]
        return Result(data=state.waiting, lines=ctx.table(rows, head=["ERASURE", "SPACE", "NOT CONFIRMED"]))
    found = await ctx.space.erasures(limit=1_000 if erasure else limit)
    if erasure is not None:
        chosen = next((each for each in found if each.id == erasure), None)
        if chosen is None:
            raise NotFound(f"no erasure {erasure!r} in space {ctx.space_name!r}.", hint="Run 'bethink erasures'.")
        return Result(data=chosen, lines=[OutputLine(chosen.receipt)])
    rows = [
        [
            each.id,
            when(each.requested_at),
            "settled" if each.settled_at is not None else f"open: {', '.join(each.open_sinks)}",
            each.asked_by,
            each.key_prefix or "",
            each.reason,
        ]
        for each in found
    ]
    return Result(data=found, lines=ctx.table(rows, head=["ERASURE", "ASKED", "STATE", "BY", "KEY", "REASON"]))


@command(app, "verify-receipt", opens=False, local=True, without=(*NO_SPACE, "config", "database"))
async def verify_receipt(
    ctx: CommandContext,  # noqa: ARG001 - every command has one
    file: Annotated[str, typer.Argument(metavar="FILE", help="The receipt, as forget wrote it.")],
    *,
    public_key: Annotated[
        str | None, typer.Option("--public-key", metavar="KEY", help="The key that it must be signed with.")
    ] = None,
) -> Result:
    """Check the receipt of an erasure, without the database."""
    from bethink.memory.deletion.receipts import verified  # noqa: PLC0415 - it needs an extra

    found = verified(_read(file), public_key=public_key)
    said = found.receipt
    went = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in said["went"].items() if count)
    state = f"settled {said['settled_at']}" if said["settled_at"] else "not settled when it was written"
    lines = [
        f"the signature fits: {found.public_key}",
        f"erasure {said['erasure']} of space {said['space']}, asked by {said['asked_by']} {said['requested_at']}",
        f"{state}; went: {went or 'nothing'}",
        *(f"out of reach: {each['what']}: {each['why']}" for each in said["out_of_reach"]),
    ]
    return Result(data={"receipt": said, "public_key": found.public_key}, lines=[OutputLine(line) for line in lines])


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = "Pass the file that 'bethink forget --receipt' wrote."
        raise UsageError(f"cannot read {file}: {type(error).__name__}.", hint=hint) from error


def write_receipt(file: str, receipt: str) -> None:
    """Write a receipt to a file that only its owner can read."""
    with open(file, "w", encoding="utf-8", opener=private) as sink:
        sink.write(f"{receipt}\n")
