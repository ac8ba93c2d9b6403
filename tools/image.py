"""Build the image of deploy/Dockerfile without a container engine, and run commands in it.

    python -m tools.image build             build on Debian packages, and print size and packages
    python -m tools.image run --version     run a command of the image, with a read-only root filesystem

It needs root, `buildah` and `mmdebstrap`, and writes its files below --folder.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
NEEDS = ("buildah", "mmdebstrap", "unshare")
_BASE, _IMAGE = "localhost/bethink-base", "localhost/bethink"
_CERTIFICATES = Path("/etc/ssl/certs")
USER = 10001
WRITABLE = ("tmp", "var/lib/bethink")
"""The writable folders of a container."""


@dataclass(frozen=True, slots=True)
class Images:
    """Images in a separate folder."""

    folder: Path
    release: str = "bookworm"

    def buildah(self, *words: object) -> str:
        """Run buildah and return its output."""
        storage = ["--root", self.folder / "root", "--runroot", self.folder / "run", "--storage-driver", "vfs"]
        done = subprocess.run(
            ["buildah", *map(str, storage), *map(str, words)], check=False, capture_output=True, text=True, cwd=ROOT
        )
        if done.returncode:
            raise SystemExit(f"buildah {words[0]} failed:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def make_base(self) -> None:
        """Create a base image with Debian's python3, unless it exists."""
        if any(_BASE in (name or "") for image in self._list() for name in image.get("names") or [""]):
            return
        tar = self.folder / "base.tar"
        tar.parent.mkdir(parents=True, exist_ok=True)
        include = "--include=python3-venv,ca-certificates"
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", include, self.release, tar], check=True)
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, tar, "/")
        self.buildah("commit", "--quiet", "--rm", container, _BASE)
        tar.unlink()

    def build(self) -> None:
        """Build the image from this tree."""
        self.make_base()
        trust = ["--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro"] if _CERTIFICATES.is_dir() else []
        words = ["--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={_BASE}", "--quiet", *trust]
        self.buildah("bud", *words, "--file", "deploy/Dockerfile", "--tag", _IMAGE, ".")

    def unpack(self, into: Path) -> "UnpackedImage":
        """Unpack the image into a folder, with its run configuration."""
        container = self.buildah("from", "--pull-never", _IMAGE)
        config = json.loads(self.buildah("inspect", "--type", "image", _IMAGE))["Docker"]["config"]
        mounted = Path(self.buildah("mount", container))
        try:
            # Not shutil: it would read the devices below /dev to their end, and /dev/zero has none.
            subprocess.run(["cp", "--archive", f"{mounted}/.", into], check=True)
        finally:
            self.buildah("rm", container)
        return UnpackedImage(into, config)

    def _list(self) -> list[dict[str, Any]]:
        return json.loads(self.buildah("images", "--json") or "[]") or []


@dataclass(frozen=True, slots=True)
class UnpackedImage:
    """An image as a folder, with its run configuration."""

    root: Path
    config: dict[str, Any]

    def figures(self) -> dict[str, int]:
        """Return total bytes, bytes of Bethink with its dependencies, and the numbers of Python and Debian packages."""
        own = self.root / "opt" / "bethink"
        return {
            "bytes": _size(self.root),
            "bytes_of_bethink": _size(own),
            "python_packages": len(list(own.glob("lib/python*/site-packages/*.dist-info"))),
            "debian_packages": len(list((self.root / "var/lib/dpkg/info").glob("*.list"))),
        }

    def command(self, *words: str) -> list[str]:
        """Return the command line that runs a command as the image's user, with a read-only root and the host network.

        Mounts and process IDs are isolated; writable folders are in memory.
        """
        steps = [
            f"mount --rbind {self.root} {self.root}",
            f"mount -t proc proc {self.root}/proc",
            *(f"mount --bind {path} {self.root}{path}" for path in ("/dev/null", "/dev/urandom", "/dev/shm")),
            *(f"mount -t tmpfs -o uid={USER},gid={USER} tmpfs {self.root}/{path}" for path in WRITABLE),
            f"mount -o remount,bind,ro {self.root}",
            f'exec chroot --userspec={self.config["User"]} {self.root} "$@"',
        ]
        isolated = [
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child=SIGTERM",
            "sh",
            "-ec",
            "\n".join(steps),
            "sh",
        ]
        return [*isolated, *self.config["Entrypoint"], *(words or self.config["Cmd"])]

    def environment(self, **more: str) -> Mapping[str, str]:
        """Return the environment of the image with additional variables."""
        return dict(entry.partition("=")[::2] for entry in self.config["Env"]) | more

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of the image and wait for it."""
        return subprocess.run(
            self.command(*words), env=self.environment(**more), cwd="/", check=False, capture_output=True, text=True
        )


def _size(folder: Path) -> int:
    files = (entry.lstat() for entry in folder.rglob("*") if entry.is_symlink() or entry.is_file())
    return sum({(entry.st_dev, entry.st_ino): entry.st_size for entry in files}.values())


def missing() -> list[str]:
    """Return the missing requirements."""
    absent = [program for program in NEEDS if shutil.which(program) is None]
    return absent if os.geteuid() == 0 else [*absent, "root"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "bethink-image")
    parser.add_argument("what", choices=["build", "run"])
    parser.add_argument("words", nargs=argparse.REMAINDER, help="the command to run")
    options = parser.parse_args(arguments)
    if missing():
        raise SystemExit(f"missing: {', '.join(missing())}")
    images = Images(options.folder)
    if options.what == "build":
        images.build()
    with tempfile.TemporaryDirectory(prefix="bethink-root-") as folder:
        image = images.unpack(Path(folder))
        if options.what == "build":
            print(json.dumps(image.figures(), indent=2))
        else:
            done = image.run(*options.words)
            print(done.stdout, end="")
            sys.stderr.write(done.stderr)
            raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
