"""`bethink ui`: opens the web UI, signed in, on its own server or on one that already serves this memory."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest


def ui(file: Path, *more: str) -> AbstractContextManager[tuple[subprocess.Popen[str], str]]:
    """Open the window of a file, and find the link that is printed."""
    return running("--database", str(file), *more)


@contextmanager
def running(*more: str, **environment: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Run the command, and find the link that it prints."""
    words = [sys.executable, "-m", "bethink", "ui", "--no-browser", *more]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ | environment) as process:
        assert process.stderr is not None
        link = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/ui/enter\?once=\S+", line)))
        try:
            yield process, link
        finally:
            process.terminate()


def test_ui_link_signs_in_once_and_second_call_reuses_the_server(tmp_path: Path) -> None:
    with ui(tmp_path / "memory.db", "--port", "0") as (_, link):
        with urlopen(link) as answer:
            assert answer.headers["set-cookie"].startswith("__Host-bethink=")
        with pytest.raises(HTTPError, match="401") as refused:
            urlopen(link)
        refused.value.close()
        port = re.search(r":(\d+)/", link)
        assert port
        with ui(tmp_path / "memory.db", "--port", port[1]) as (second, other):
            assert second.wait(timeout=30) == 0
            assert other.startswith(f"http://127.0.0.1:{port[1]}/")
            with urlopen(other) as answer:
                assert answer.status == 200


def test_a_server_of_another_memory_is_left_alone(tmp_path: Path) -> None:
    with ui(tmp_path / "one.db", "--port", "0") as (_, link):
        port = re.search(r":(\d+)/", link)
        assert port
        with ui(tmp_path / "two.db", "--port", port[1]) as (_, other):
            assert f":{port[1]}/" not in other
            with urlopen(other) as answer:
                assert answer.status == 200


def test_the_terminal_gets_one_line_and_not_the_log_of_the_server(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "bethink", "ui", "--database", str(tmp_path / "memory.db"), "--no-browser"]
    with subprocess.Popen(
        [*words, "--port", "0"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        first = process.stderr.readline()
        link = re.search(r"http://\S+/ui/enter\?once=\S+", first)
        assert link, first
        with urlopen(link[0]) as answer:
            assert answer.status == 200
        with pytest.raises(HTTPError, match="404") as missing:
            urlopen(link[0].partition("?")[0].replace("enter", "static/none"))
        missing.value.close()
        process.terminate()
        assert (process.stdout.read(), process.stderr.read()) == ("", "")


def read_by_someone(link: str, *paths: str) -> list[str]:
    """Sign in with a link as a browser does, and read some pages."""
    with urlopen(link) as answer:
        cookie = answer.headers["set-cookie"].partition(";")[0]
    base = link.partition("/ui/")[0]
    found: list[str] = []
    for path in paths:
        with urlopen(Request(base + path, headers={"cookie": cookie})) as answer:
            found.append(answer.read().decode())
    return found


@pytest.mark.slow
def test_two_commands_lead_from_the_wheel_to_the_demo_in_a_browser(tmp_path: Path) -> None:
    # The first is `pip install`: here without the network, so what it needs is what these tests have.
    root = Path(__file__).parent.parent.parent
    subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(root)], check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "installed")
    with running("--demo", "--port", "0", PYTHONPATH=str(tmp_path / "installed")) as (_, link):
        spaces, facts = read_by_someone(link, "/ui/spaces", "/ui/s/mira/facts")
    assert ">mira</a>" in spaces
    assert "User lives in Bergen, in Sandviken." in facts


def test_the_demo_needs_no_settings_and_leaves_nothing_behind(tmp_path: Path) -> None:
    outside = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "TMPDIR": str(tmp_path)}
    with running("--demo", "--port", "0", **outside, BETHINK_MODEL="openai:would-cost-money") as (process, link):
        (facts,) = read_by_someone(link, "/ui/s/mira/facts")
        assert "User lives in Bergen, in Sandviken." in facts
        process.terminate()
        process.wait(timeout=30)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
