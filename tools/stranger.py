"""Test the README as a new user would: build the wheel, install it in an empty environment, and run it offline."""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAX_SECONDS = 60.0
_TIMEOUT = 600.0
_ROOT = Path(__file__).resolve().parent.parent
_PYTHON = re.compile(r"<!-- docs_src/\S+ -->\n```python\n((?:(?!```).)*)```\n\n```\n(.*?)```", re.DOTALL)
_INSTALL = re.compile(r"## Install\n.*?```sh\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^(bethink[^#\n]*)", re.MULTILINE)
_OMITTED = "…"

_NO_NETWORK = '''"""Block all network connections."""

import socket


def _refuse(*arguments: object, **options: object) -> object:
    raise OSError("the network is disabled")


socket.getaddrinfo = _refuse
socket.socket.connect = _refuse
socket.socket.connect_ex = _refuse
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="an existing wheel")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        wheel = options.wheel or _build_wheel(home)
        started, cpu = time.monotonic(), _cpu_seconds()
        subprocess.run([sys.executable, "-m", "venv", str(home / "env")], check=True)
        pip = [str(home / "env" / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", str(wheel)], check=True)
        wrong = _follow_readme(home)
        seconds, cpu = time.monotonic() - started, _cpu_seconds() - cpu
    for problem in wrong:
        print(problem)
    print(f"{len(wrong)} problems; {cpu:.1f} s of CPU (at most {MAX_SECONDS:.0f}), {seconds:.1f} s in all")
    return 1 if wrong or cpu > MAX_SECONDS else 0


def _cpu_seconds() -> float:
    """Return the CPU time of all child processes: on a shared machine, waiting says nothing about the README."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _build_wheel(home: Path) -> Path:
    subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", str(home), str(_ROOT)], check=True)
    return next(home.glob("*.whl"))


def _follow_readme(home: Path) -> list[str]:
    """Run the commands of the section on installing and every Python block with output, and return the differences."""
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    (home / "guard").mkdir()
    (home / "guard" / "sitecustomize.py").write_text(_NO_NETWORK, encoding="utf-8")
    work = home / "work"
    work.mkdir()
    wrong: list[str] = []
    commands = [command.split() for install in _INSTALL.findall(readme) for command in _COMMAND.findall(install)]
    programs = _PYTHON.findall(readme)
    for command in commands:
        wrong += _differences(command, _OMITTED, home=home, work=work)
    for code, output in programs:
        wrong += _differences(["python", "-c", code], output, home=home, work=work)
    if not commands or not programs:
        wrong.append(f"the README has {len(commands)} commands to install and {len(programs)} programs with output")
    return wrong


def _differences(command: list[str], output: str, *, home: Path, work: Path) -> list[str]:
    environment = {
        "PATH": f"{home / 'env' / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(home / "guard"),
        "HOME": str(work),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        [str(home / "env" / "bin" / command[0]), *command[1:]],
        cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT,
    )  # fmt: skip
    if done.returncode:
        return [f"{command[:2]} ended with {done.returncode}: {done.stderr[-500:]}"]
    printed = iter([line.rstrip() for line in done.stdout.splitlines()])
    # `in` consumes the iterator: the lines must come in this order, with others between them where some are omitted.
    missing = [line for line in output.splitlines() if line.strip() != _OMITTED and line.rstrip() not in printed]
    if missing:
        return [f"{command[:2]} did not print: {missing[0]}", done.stdout]
    if _OMITTED not in output and list(printed):
        return [f"{command[:2]} printed more than the README shows"]
    return []


if __name__ == "__main__":
    sys.exit(main())
