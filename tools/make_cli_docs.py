"""Writes docs/reference/cli.md from the commands themselves: the help of every one of them."""

import argparse
import io
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

_ROOT = Path(__file__).parent.parent
_TARGET = _ROOT / "docs" / "reference" / "cli.md"
_HEAD = """\
# Command line

Written by `python -m tools.make_cli_docs` from the commands themselves. It comes with
`pip install bethink`; where `bethink` is not on the path, `python -m bethink` is the same.

Data goes to stdout, notes and progress to stderr. `--json` answers every command with one envelope,
`{"ok": bool, "data": …, "error": {"code", "message", "hint"} | null}`. Nothing is asked where nobody can answer: what
destroys or writes in bulk then needs `--yes`, and `--dry-run` says what it would do. There is colour only at a
terminal, and none with `NO_COLOR`. A reader that stops reading, such as `head`, is no failure of a command that only
reads. The stdout of `mcp` is the protocol's alone.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | it failed, or somebody who was asked said no |
| 2 | it was called in a way it cannot be, or a value cannot be read |
| 3 | there is nothing by that name, or no database there |
| 4 | settings, extras or access are not as they must be |
| 5 | done in part: some lines of an import were refused |
| 130 | interrupted |

The database is, in this order: `--database`, the environment and the settings file (`--config`, `BETHINK_CONFIG`, or
`bethink.toml` in the user's settings folder, which `bethink init` writes), else `memory.db` in the user's data folder
(`$XDG_DATA_HOME/bethink` or `~/.local/share/bethink`); `bethink status` says which, and why.
Who only looks makes no database: `add`, `import`, `init`, `demo --keep`, `keys create`, `worker`, `serve` and `mcp` do.
"""


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every command that does something, by the words that call it."""
    from typer.main import get_command  # noqa: PLC0415 - an extra

    from bethink.cli.root import app  # noqa: PLC0415

    def walk(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
        inner: dict[str, Any] = getattr(command, "commands", {})
        if not inner:
            yield path, command
        for name, each in inner.items():
            yield from walk((*path, name), each)

    yield from walk((), get_command(app))


def generate() -> str:
    """Write the page."""
    parts = [_HEAD, _block(())]
    parts += [f"## {' '.join(('bethink', *path))}\n\n{_block(path)}" for path, _ in commands()]
    return "\n".join(parts)


def _block(path: tuple[str, ...]) -> str:
    from bethink.cli.app import main as call  # noqa: PLC0415 - an extra

    with mock.patch.dict(os.environ, COLUMNS="100"), redirect_stdout(io.StringIO()) as page:
        call([*path, "--help"])
    return f"```console\n$ {' '.join(('bethink', *path))} --help\n{page.getvalue().rstrip()}\n```\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the page is not what would be written")
    options = parser.parse_args()
    wanted = generate()
    if options.check:
        if not _TARGET.exists() or _TARGET.read_text(encoding="utf-8") != wanted:
            print("docs/reference/cli.md is out of date: run python -m tools.make_cli_docs")
            return 1
        print("docs/reference/cli.md is up to date")
        return 0
    _TARGET.write_text(wanted, encoding="utf-8")
    print("wrote docs/reference/cli.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
