"""Commands for API keys: admin keys create, list, rotate and revoke."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Yes, command
from bethink.cli.groups import called_alone
from bethink.cli.narrowing import repeatable
from bethink.cli.paging import After, Limit, list_page, slice_page
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, when
from bethink.errors import NotFoundError

if TYPE_CHECKING:
    from bethink.model.access import KeyInfo, NewKey

app = typer.Typer()
keys = typer.Typer(cls=called_alone("list"), help="Manage API keys.")
app.add_typer(keys, name="admin keys")

_SPACES = {"space": repeatable("NAME", "Space of the key.  [default: all]")}
Prefix = Annotated[str, typer.Argument(help="Prefix of the key, as 'bethink admin keys' lists it.")]


@command(keys, effect="creates", by_folder=False, without=NO_SPACE, more=_SPACES)
async def create(
    ctx: CommandContext,
    name: Annotated[str, typer.Argument(help="Name of the key.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE", help="read, write, steer, erase, keys or operate. Repeatable.  [default: read, write]"
        ),
    ] = None,
    expires_at: Annotated[str | None, typer.Option(metavar="DATE", help="Last day on which the key is valid.")] = None,
) -> Result:
    """Create an API key. It is shown only once."""
    from bethink.model.access import Scope  # noqa: PLC0415 - as every import here, for a quick --help
    from bethink.model.moments import moment_or_none  # noqa: PLC0415

    unknown = [word for word in scope or () if word not in set(Scope)]
    if unknown:
        raise UsageError(f"Unknown scope {unknown[0]!r}.", hint=f"Use one of {', '.join(Scope)}.")
    until = moment_or_none(expires_at)
    if until is not None and until <= datetime.now(UTC):
        raise UsageError(f"{expires_at} is in the past.", hint="Pass a later date, such as 2099-12-31.")
    scopes = tuple(map(Scope, scope or ("read", "write")))
    return _new_key(ctx, await ctx.memory.admin.keys.create(name, scopes, spaces=ctx.more["space"], expires_at=until))


@command(keys, "list", without=NO_SPACE)
async def list_keys(ctx: CommandContext, *, limit: Limit = 100, after: After = "") -> Result:
    """List API keys, without their secrets."""
    page = slice_page(await ctx.memory.admin.keys.list(), lambda key: key.prefix, after=after, limit=limit)
    head = ("PREFIX", "NAME", "SCOPES", "SPACES", "EXPIRES", "LAST USED", "REVOKED")
    return list_page(ctx, page, _key_row, head)


def _key_row(key: "KeyInfo") -> list[str]:
    return [
        key.prefix,
        key.name,
        ",".join(sorted(key.scopes)),
        "all" if key.spaces is None else ",".join(sorted(key.spaces)),
        when(key.expires_at),
        when(key.last_used_at),
        when(key.revoked_at),
    ]


@command(keys, effect="changes", without=NO_SPACE)
async def rotate(
    ctx: CommandContext,
    prefix: Prefix,
    *,
    overlap: Annotated[float, typer.Option(metavar="SECONDS", help="Time until the old key expires.", min=0)] = 86_400,
) -> Result:
    """Replace an API key. The new one has the same scopes; the old one expires after --overlap."""
    return _new_key(ctx, await ctx.memory.admin.keys.rotate(prefix, overlap=overlap))


@command(keys, effect="changes", without=NO_SPACE)
async def revoke(ctx: CommandContext, prefix: Prefix, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Revoke an API key. Running servers refuse it within seconds."""
    info = await _info(ctx, prefix)
    if dry_run:
        return Result(data={"key": info, "dry_run": True}, lines=[OutputLine(f"would revoke {prefix} ({info.name})")])
    ctx.confirm(f"Revoke {prefix} ({info.name})?", yes=yes)
    await ctx.memory.admin.keys.revoke(prefix)
    return Result(data={"key": await _info(ctx, prefix), "dry_run": False}, lines=[OutputLine(f"Revoked {prefix}.")])


async def _info(ctx: CommandContext, prefix: str) -> "KeyInfo":
    for key in await ctx.memory.admin.keys.list():
        if key.prefix == prefix:
            return key
    raise NotFoundError(f"No key with prefix {prefix[:20]!r}.", hint="Run 'bethink admin keys' to list the prefixes.")


def _new_key(ctx: CommandContext, key: "NewKey") -> Result:
    ctx.note("note: copy the key now; it is not shown again")
    return Result(data=key, lines=[OutputLine(key.key)])
