"""How a real process uses its streams, and how quickly it answers."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.cli_kit import ROOT, environment, ok, process

pytestmark = pytest.mark.usefixtures("home")


def test_closed_reader_causes_no_traceback(home: Path) -> None:
    for number in range(3):
        ok("add", f"{number} " + "tea " * 8_000)
    with process(home, "data", "export") as child:
        assert child.stdout
        assert child.stderr
        child.stdout.read(10)
        child.stdout.close()
        errors = child.stderr.read()
        code = child.wait(timeout=300)

    assert code == 0
    assert "Traceback" not in errors
    assert "Exception" not in errors


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["sessions"], 0), (["add", "coffee"], 1)])
def test_closed_pipe_fails_only_reports_of_changes(home: Path, words: list[str], code: int) -> None:
    ok("add", "tea")
    reader, writer = os.pipe()
    os.close(reader)
    with process(home, *words, stdout=writer) as child:
        os.close(writer)
        assert child.stderr
        errors = child.stderr.read()

    assert child.returncode == code
    assert errors == ""


def test_help_is_quick(home: Path) -> None:
    def cpu(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True, cwd=ROOT, env=environment(home))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    cpu("-m", "bethink", "--help")  # the first writes bytecode
    beside = min(cpu("-c", "import asyncio") for _ in range(5))
    helped = min(cpu("-m", "bethink", "--help") for _ in range(5))

    assert helped < 6 * beside, f"{helped:.3f} s beside {beside:.3f} s"


def test_help_loads_nothing_heavy(home: Path) -> None:
    heavy = ("anyio", "rich", "apsw", "bethink.host.build", "bethink.api.connect", "pydantic", "bethink.cli.demo")
    probe = (
        "import sys; from bethink.cli.app import main; main(['--help']);"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], check=True, capture_output=True, text=True, cwd=ROOT, env=environment(home)
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_stdin_must_be_valid_utf8(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bethink", "add", "--json"],
        check=False,
        capture_output=True,
        input=b"\xff\xfe\xff",
        cwd=ROOT,
        env=environment(home, LC_ALL="C"),
    )

    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["message"] == "stdin is not valid UTF-8."


@pytest.mark.parametrize(
    "words", [["add", "coffee"], ["admin", "keys", "create", "lost"], ["fact", "list"], ["fact", "list", "--json"]]
)
def test_a_command_whose_stdout_is_closed_does_nothing_and_says_so(home: Path, words: list[str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "bethink", *words],
        capture_output=True, check=False, cwd=ROOT, env=environment(home), text=True,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "error: stdout is closed."
    assert not (home / ".local/share/bethink/memory.db").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(("words", "carried_out"), [(["add", "coffee"], True), (["sessions", "--json"], False)])
def test_full_disk_on_stdout_reports_if_the_command_was_done(
    home: Path, words: list[str], *, carried_out: bool
) -> None:
    ok("add", "tea")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bethink", *words],
            stdout=full, stderr=subprocess.PIPE, check=False, cwd=ROOT, env=environment(home), text=True,
        )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.startswith("error: Cannot write the output: No space left on device.\n")
    assert ("was carried out" in done.stderr) is carried_out
    assert "Traceback" not in done.stderr
    assert ("coffee" in str(ok("data", "export"))) is carried_out


def test_a_command_that_reads_a_closed_stdin_says_so(home: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "bethink", "add", "-"],
        capture_output=True, check=False, cwd=ROOT, env=environment(home), text=True,
    )  # fmt: skip

    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: stdin is closed.")
