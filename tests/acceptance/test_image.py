"""The image of deploy/Dockerfile, built and run as its own user with a read-only root."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.doors.cli_kit import ok
from tests.service_kit import Service, ask
from tools.cutting_proxy import CuttingProxy
from tools.image import USER, Images, UnpackedImage, missing

_FOLDER = os.environ.get("BETHINK_TEST_IMAGE", "")
pytestmark = [
    pytest.mark.image,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not _FOLDER, reason="builds an image of 400 MB: name a folder in BETHINK_TEST_IMAGE"),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> UnpackedImage:
    assert not missing()
    images = Images(Path(_FOLDER))
    images.build()
    return images.unpack(tmp_path_factory.mktemp("image"))


@contextmanager
def over_tcp(dsn: str) -> Generator[str]:
    """Lead to a database over TCP: a container does not see the folder of its socket."""
    proxy = CuttingProxy(dsn)
    try:
        yield proxy.dsn
    finally:
        proxy.close()


@pytest.fixture
def reached(clean_dsn: str) -> Iterator[str]:
    with over_tcp(clean_dsn) as dsn:
        yield dsn


class Container(Service):
    """A container that runs until it is stopped."""

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Tell the first process inside to stop: what started it takes no signals."""
        [inside] = Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text().split()
        os.kill(int(inside), number)
        code = self.child.wait(60)
        self.reader.join()
        return code


@contextmanager
def container(image: UnpackedImage, *words: str, **settings: str) -> Generator[Container]:
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    environ = image.environment(**{f"BETHINK_{name.upper()}": value for name, value in settings.items()})
    with subprocess.Popen(image.command(*words), env=environ, cwd="/", text=True, **streams) as child:
        running = Container(child)
        try:
            yield running
        finally:
            if child.poll() is None:
                running.end(signal.SIGKILL)


def test_image_is_small_and_does_not_run_as_root(image: UnpackedImage) -> None:
    figures = image.figures()
    assert figures["bytes_of_bethink"] < 200_000_000
    assert figures["python_packages"] < 60
    assert image.config["User"] == f"{USER}:{USER}"
    assert not (image.root / "opt/bethink/bin/pip").exists()
    assert not (image.root / "build").exists()
    assert "Healthcheck" in image.config


def test_image_processes_write_only_to_their_own_folders(image: UnpackedImage) -> None:
    python = "/opt/bethink/bin/python3"
    program = (
        "import os, pathlib\n"
        "def can(path):\n"
        "    try: pathlib.Path(path, 'x').write_text('x')\n"
        "    except OSError: return False\n"
        "    return True\n"
        "places = '/', '/etc', '/opt/bethink', '/usr/lib', '/tmp', '/var/lib/bethink'\n"
        "print(os.getuid(), [place for place in places if can(place)])"
    )
    words = image.command()
    inside = words[: words.index(image.config["Entrypoint"][0], 8)]
    done = subprocess.run(
        [*inside, python, "-c", program], env=image.environment(), cwd="/", check=False, capture_output=True, text=True
    )
    assert done.stdout.strip() == f"{USER} ['/tmp', '/var/lib/bethink']", done.stderr


def test_image_runs_server_and_worker_and_is_replaced_under_load(
    image: UnpackedImage, reached: str, clean_dsn: str
) -> None:
    named = {"module": "memory.postgres", "postgres_dsn": reached, "server_host": "127.0.0.1"}
    done = image.run("status", **{f"BETHINK_{key.upper()}": value for key, value in named.items()})
    assert done.returncode == 0, done.stderr
    key = ok("admin", "keys", "create", "app", "--scope", "read", "--scope", "write", "--database", clean_dsn)["key"]
    answered: list[tuple[int, str]] = []
    address = ""
    stopped = threading.Event()

    def write() -> None:
        while not stopped.is_set():
            body = {"messages": f"I drink tea number {len(answered)}."}
            answered.append(ask(address, "POST", "/v1/spaces/alice/remember", key, body))

    writer = threading.Thread(target=write)
    serve = {**named, "server_port": "0", "learn_in_background": "false"}
    with (
        container(image, "serve", "--workers", "2", **serve) as first,
        container(image, "worker", **named, worker_health_address="127.0.0.1:0") as worker,
    ):
        address = _address(first.wait_for("serving at"))
        beside = _address(worker.wait_for("health and metrics at"))
        assert ask(address, "GET", "/readyz")[0] == ask(beside, "GET", "/readyz")[0] == 200
        writer.start()
        with container(image, "serve", **serve) as second:  # the next release, beside the one that runs
            next_address = _address(second.wait_for("serving at"))
            assert ask(next_address, "GET", "/readyz")[0] == 200
            address = next_address
            before = len(answered)
            while len(answered) < before + 5:
                threading.Event().wait(0.05)
            assert first.end() == 0
            before = len(answered)
            while len(answered) < before + 20:
                threading.Event().wait(0.05)
            stopped.set()
            writer.join()
            assert second.end() == 0
        assert worker.end() == 0

    assert {status for status, _ in answered} == {201}
    stored = ok("recall", "tea number 1", "--database", clean_dsn, "--space", "alice")
    assert stored["items"]


def _address(line: str) -> str:
    return re.findall(r"http://[\d.:]+", line)[0]
