"""Lets `python -m bethink.mcp` serve one space over stdio."""

import argparse
import sys
from functools import partial

import anyio

from bethink.build import connect
from bethink.errors import BethinkError
from bethink.mcp.stdio import run_stdio


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and serve until stdin ends."""
    parser = argparse.ArgumentParser(prog="python -m bethink.mcp", description="Serve one space over stdio.")
    parser.add_argument("--database", default="", help="a file or postgresql://…; else the settings decide")
    parser.add_argument("--space", required=True, help="the space to serve; a model cannot choose another")
    parser.add_argument("--read-only", action="store_true", help="neither write nor erase")
    parser.add_argument("--no-erase", action="store_true", help="offer no tool that erases")
    given = parser.parse_args(arguments)
    try:
        serve = partial(
            run_stdio,
            connect(given.database),
            space=given.space,
            may_write=not given.read_only,
            may_erase=not (given.read_only or given.no_erase),
        )
        anyio.run(serve)
    except BethinkError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
