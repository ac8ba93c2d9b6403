"""`bethink ui`: opens the window, signed in, on a server of its own or on one that serves this memory already."""

import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest


@contextmanager
def ui(file: Path, *more: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Run the command, and find the link that it prints."""
    words = [sys.executable, "-m", "bethink", "ui", "--database", str(file), "--no-browser", *more]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        link = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/ui/enter\?once=\S+", line)))
        try:
            yield process, link
        finally:
            process.terminate()


def test_the_link_that_it_prints_signs_in_once_and_a_second_call_uses_the_same_server(tmp_path: Path) -> None:
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
