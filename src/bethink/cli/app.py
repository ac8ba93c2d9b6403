"""The entry of `bethink` and of `python -m bethink`."""

import os
import sys
from collections.abc import Sequence

_EXTRA = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing it raises gets out."""
    try:
        from bethink.cli.root import run  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        sys.stderr.write(f"error: the command line needs {error.name}.\nhint: Run pip install 'bethink[cli]'.\n")
        return 4
    try:
        code = run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has read enough; nothing may be flushed there when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code
