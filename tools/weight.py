"""Installs Bethink alone into an empty environment and says how many packages and megabytes that is."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MAX_PACKAGES = 15
MAX_MEGABYTES = 40.0
MAX_IMPORT_SECONDS = 0.15
_ROOT = Path(__file__).resolve().parent.parent
_IMPORT = "import time; before = time.process_time(); import bethink; print(time.process_time() - before)"


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
        packages = [f"{each['name']} {each['version']}" for each in json.loads(listed.stdout)]
        size = sum(file.stat().st_size for file in (home / "lib").rglob("*") if file.is_file()) / 1e6
        # The first import writes bytecode; of the others the quickest has met the least noise.
        subprocess.check_output([str(python), "-c", _IMPORT])
        times: list[float] = []
        while len(times) < 5 or (min(times) >= MAX_IMPORT_SECONDS and len(times) < 25):
            times.append(float(subprocess.check_output([str(python), "-c", _IMPORT])))
    heavy = len(packages) > MAX_PACKAGES or size > MAX_MEGABYTES or min(times) >= MAX_IMPORT_SECONDS
    if options.json:
        print(json.dumps({"packages": packages, "megabytes": round(size, 1), "import_seconds": round(min(times), 3)}))
    else:
        print("\n".join(packages))
        print(
            f"{len(packages)} packages (at most {MAX_PACKAGES}), {size:.1f} MB (at most {MAX_MEGABYTES:.0f}), "
            f"import {min(times):.3f} s of CPU (under {MAX_IMPORT_SECONDS})"
        )
    return 1 if heavy else 0


if __name__ == "__main__":
    sys.exit(main())
