"""Serves one space over stdin and stdout."""

import logging
import sys

from bethink.api.connect import Memory
from bethink.mcp.grant import Grant
from bethink.model.access import Caller, Interface, caller
from bethink.model.records import checked_name


async def run_stdio(
    memory: Memory,
    *,
    space: str,
    also: tuple[str, ...] = (),
    may_write: bool = True,
    may_erase: bool = True,
    may_confirm: bool = True,
) -> None:
    """Open a memory, serve one space until stdin ends, and close it. Recall also searches the spaces in `also`.

    Only the protocol goes to stdout; logs go to stderr. The command line sets the space and the permissions, never
    the model.
    """
    from bethink.mcp.server import make_server  # noqa: PLC0415 - loads the MCP package, which takes over a second

    if not logging.getLogger().handlers:
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    others = tuple(checked_name(name, "a space") for name in also)
    grant = Grant(
        space=checked_name(space, "a space"),
        also=others,
        may_write=may_write,
        may_erase=may_erase,
        may_confirm=may_confirm,
    )
    async with memory:
        caller.set(Caller(interface=Interface.MCP))
        await make_server(memory, grant=lambda: grant).run_stdio_async()
