"""Install Bethink into an empty environment, and report the number of packages and megabytes."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MAX_PACKAGES = 25
MAX_MEGABYTES = 40.0
MAX_IMPORT = 5.0
"""Maximum CPU time of importing `bethink.connect`, as a multiple of `import asyncio`: 0.15 s for 0.03 s."""

_ROOT = Path(__file__).resolve().parent.parent
_TIMED = "import time; before = time.process_time(); {}; print(time.process_time() - before)"
_OURS = _TIMED.format("import bethink; bethink.connect")
_YARDSTICK = _TIMED.format("import asyncio")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "env"
        subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(home)], check=True)
        python = home / "bin" / "python"
        subprocess.run(["uv", "pip", "install", "--quiet", "--python", str(python), str(_ROOT)], check=True)
        listed = subprocess.run(
            ["uv", "pip", "list", "--python", str(python), "--format", "json"],
            check=True,
            capture_output=True,
            text=True,
        )
        packages = [f"{package['name']} {package['version']}" for package in json.loads(listed.stdout)]
        size = sum(file.stat().st_size for file in (home / "lib").rglob("*") if file.is_file()) / 1e6
        seconds, ratio = _import_cost(python)
    heavy = len(packages) > MAX_PACKAGES or size > MAX_MEGABYTES or ratio > MAX_IMPORT
    if options.json:
        figures = {"packages": packages, "megabytes": round(size, 1), "import_ratio": round(ratio, 2)}
        print(json.dumps(figures | {"import_seconds": round(seconds, 3)}))
    else:
        print("\n".join(packages))
        print(
            f"{len(packages)} packages (at most {MAX_PACKAGES}), {size:.1f} MB (at most {MAX_MEGABYTES:.0f}), "
            f"import {seconds:.3f} s of CPU, {ratio:.1f} times that of asyncio (at most {MAX_IMPORT:.0f})"
        )
    return 1 if heavy else 0


def _import_cost(python: Path) -> tuple[float, float]:
    """Measure both imports alternately, and use the fastest of each. The first run writes bytecode."""
    # Without bytecode, each run would compile our files again, but not those of asyncio.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ours: list[float] = []
    yardstick: list[float] = []
    for turn in range(11):
        for code, times in ((_OURS, ours), (_YARDSTICK, yardstick)):
            seconds = float(subprocess.check_output([str(python), "-c", code], env=environment))
            if turn:
                times.append(seconds)
    return min(ours), min(ours) / min(yardstick)


if __name__ == "__main__":
    sys.exit(main())
