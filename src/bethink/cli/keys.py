"""Commands about the API keys of a server: create, list, rotate and revoke."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.forgetting import DryRun, Yes
from bethink.cli.frame import SPACE, Answer, Door, Usage, command
from bethink.cli.terminal import Line
from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.model.access import KeyInfo, NewKey

app = typer.Typer()
keys = typer.Typer(help="Make, list, rotate and revoke the API keys of a server.")
app.add_typer(keys, name="keys")

_SCOPES = ("read", "write")
Prefix = Annotated[str, typer.Argument(help="The key's prefix, as list shows it.")]


@command(keys, does="makes", without=SPACE)
async def create(
    door: Door,
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="read, write, erase or admin; repeat it for more.  [default: read, write]"),
    ] = None,
    for_space: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only for this space; repeat it for more.  [default: all]")
    ] = None,
    expires: Annotated[str | None, typer.Option(metavar="DAY", help="The last day it is good for.")] = None,
) -> Answer:
    """Make a key. It is shown this once and can never be read again."""
    from bethink.model.moments import moment_or_none  # noqa: PLC0415

    until = moment_or_none(expires)
    if until is not None and until <= datetime.now(UTC):
        raise Usage(
            f"{expires} is over.", hint="Give a day to come, such as 2099-12-31: the key is good until its end."
        )
    made = await door.memory.access().create(name=name, scopes=scope or _SCOPES, spaces=for_space, expires_at=until)
    return _made(door, made)


@command(keys, "list", without=SPACE)
async def list_keys(door: Door) -> Answer:
    """List every key there ever was, without its secret."""
    from bethink.cli.plain import when  # noqa: PLC0415

    found = await door.memory.access().list()
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
    return Answer(data=found, lines=door.table(rows, head=head))


@command(keys, does="changes", without=SPACE)
async def rotate(
    door: Door,
    prefix: Prefix,
    *,
    overlap: Annotated[float, typer.Option(metavar="SECONDS", help="How long the old one stays good.", min=0)] = 86_400,
) -> Answer:
    """Make a key that may do the same as another, which expires after a while."""
    return _made(door, await door.memory.access().rotate(prefix, overlap=overlap))


@command(keys, does="changes", without=SPACE)
async def revoke(door: Door, prefix: Prefix, *, dry_run: DryRun = False, yes: Yes = False) -> Answer:
    """Let a key in no more; running servers follow within seconds."""
    info = await _info(door, prefix)
    if dry_run:
        return Answer(data={"key": info, "dry_run": True}, lines=[Line(f"would revoke {prefix} ({info.name})")])
    door.confirm(f"Revoke {prefix} ({info.name})?", yes=yes)
    await door.memory.access().revoke(prefix)
    return Answer(data={"key": await _info(door, prefix), "dry_run": False}, lines=[Line(f"revoked {prefix}")])


async def _info(door: Door, prefix: str) -> "KeyInfo":
    for each in await door.memory.access().list():
        if each.prefix == prefix:
            return each
    raise NotFound(f"no key {prefix[:20]!r}.", hint="Run 'bethink keys list' for the prefixes there are.")


def _made(door: Door, made: "NewKey") -> Answer:
    door.note("note: this is the only time the key is shown")
    return Answer(data=made, lines=[Line(made.key)])
