"""The entry of `bethink` and of `python -m bethink`."""

import os
import sys
from collections.abc import Sequence

from bethink.cli.root import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing it raises gets out."""
    try:
        code = run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has read enough; nothing may be flushed there when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code
