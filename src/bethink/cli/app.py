"""The entry of `bethink` and of `python -m bethink`."""

import sys
from collections.abc import Sequence

from bethink.cli.root import run
from bethink.cli.terminal import let_go


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing it raises gets out."""
    try:
        code = run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever asked for help has read enough
        let_go(sys.stdout)
        return 0
    return code
