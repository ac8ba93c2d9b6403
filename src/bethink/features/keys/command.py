"""Commands for the API keys of a server: create, list, rotate and revoke."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Result, UsageError, Yes, command
from bethink.cli.terminal import OutputLine, when
from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.model.access import KeyInfo, NewKey

app = typer.Typer()
keys = typer.Typer(help="Create, list, rotate and revoke API keys.")
app.add_typer(keys, name="keys")

Prefix = Annotated[str, typer.Argument(help="The prefix of the key, as 'bethink keys list' shows it.")]


@command(keys, effect="creates", without=NO_SPACE)
async def create(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE", help="read, write, steer, erase, keys or operate. Repeatable.  [default: read, write]"
        ),
    ] = None,
    for_space: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Limit the key to a space. Repeatable.  [default: all]")
    ] = None,
    expires: Annotated[str | None, typer.Option(metavar="DATE", help="The last day on which it works.")] = None,
) -> Result:
    """Create a key. It is shown only once."""
    from bethink.model.access import Scope  # noqa: PLC0415 - as every import here, for a quick --help
    from bethink.model.moments import moment_or_none  # noqa: PLC0415

    unknown = [each for each in scope or () if each not in set(Scope)]
    if unknown:
        raise UsageError(f"unknown scope {unknown[0]!r}.", hint=f"Use one of {', '.join(Scope)}.")
    until = moment_or_none(expires)
    if until is not None and until <= datetime.now(UTC):
        raise UsageError(f"{expires} is in the past.", hint="Give a later date, such as 2099-12-31.")
    scopes = tuple(map(Scope, scope or ("read", "write")))
    return _made(ctx, await ctx.memory.keys.create(name, scopes, spaces=for_space, expires_at=until))


@command(keys, "list", without=NO_SPACE)
async def list_keys(ctx: CommandContext) -> Result:
    """List all keys without their secrets, expired and revoked ones included."""
    found = await ctx.memory.keys.all()
    rows = [
        [
            each.prefix,
            each.name,
            ",".join(sorted(each.scopes)),
            "all" if each.spaces is None else ",".join(sorted(each.spaces)),
            when(each.expires_at),
            when(each.last_used_at),
            when(each.revoked_at),
        ]
        for each in found
    ]
    head = ["PREFIX", "NAME", "SCOPES", "SPACES", "EXPIRES", "LAST USED", "REVOKED"]
    return Result(data=found, lines=ctx.table(rows, head=head))


@command(keys, effect="changes", without=NO_SPACE)
async def rotate(
    ctx: CommandContext,
    prefix: Prefix,
    *,
    overlap: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long the old key still works.", min=0)
    ] = 86_400,
) -> Result:
    """Replace a key with a new one that allows the same. The old one expires after --overlap."""
    return _made(ctx, await ctx.memory.keys.rotate(prefix, overlap=overlap))


@command(keys, effect="changes", without=NO_SPACE)
async def revoke(ctx: CommandContext, prefix: Prefix, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Revoke a key. Running servers refuse it within seconds."""
    info = await _info(ctx, prefix)
    if dry_run:
        return Result(data={"key": info, "dry_run": True}, lines=[OutputLine(f"would revoke {prefix} ({info.name})")])
    ctx.confirm(f"Revoke {prefix} ({info.name})?", yes=yes)
    await ctx.memory.keys.revoke(prefix)
    return Result(data={"key": await _info(ctx, prefix), "dry_run": False}, lines=[OutputLine(f"revoked {prefix}")])


async def _info(ctx: CommandContext, prefix: str) -> "KeyInfo":
    for each in await ctx.memory.keys.all():
        if each.prefix == prefix:
            return each
    raise NotFound(f"no key with prefix {prefix[:20]!r}.", hint="Run 'bethink keys list' to see all prefixes.")


def _made(ctx: CommandContext, made: "NewKey") -> Result:
    ctx.note("note: copy the key now; it is not shown again")
    return Result(data=made, lines=[OutputLine(made.key)])
