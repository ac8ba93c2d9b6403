"""The entry point of `bethink` and `python -m bethink`."""

import sys
from collections.abc import Sequence

from bethink.cli.root import run
from bethink.cli.terminal import release


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. It never raises."""
    try:
        code = run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of --help has stopped reading
        release(sys.stdout)
        return 0
    return code
