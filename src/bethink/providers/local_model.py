"""Shared parts of local models: finding files, naming them by their content, and threads."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, TypeVar, TypeVarTuple, Unpack

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from bethink.errors import ConfigurationError

_MAX_UNSAMPLED = 1_000_000
_SAMPLES = 32
_SAMPLE = 8_192
_MAX_THREADS = 2

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_threads: RunVar[CapacityLimiter] = RunVar("bethink.embedding")


def need(extra: str, *modules: str) -> None:
    """Raise `ConfigurationError` if a module of an extra is not installed. Nothing is imported yet."""
    if any(find_spec(module) is None for module in modules):
        raise ConfigurationError(
            f"Missing packages: {', '.join(modules)}.", hint=f"Install the extra: bethink[{extra}]."
        )


def path_of(location: str | Path, *, hint: str) -> Path:
    """Return an absolute path; `~` is the home folder. Raises `ConfigurationError` if nothing exists there."""
    with suppress(RuntimeError, ValueError):  # an unknown home folder, or a NUL in the path
        # Links are not followed: in the caches of model hubs, only the link has a meaningful name.
        path = Path(os.path.abspath(Path(location).expanduser()))  # noqa: PTH100 - resolve follows them
        if path.exists():
            return path
    raise ConfigurationError(f"No file or folder {str(location)!r}.", hint=hint)


def stamp(recipe: str, files: Iterable[Path]) -> str:
    """Return a short hash of files and of their use, the same on every machine. Large files are sampled."""
    digest = hashlib.sha256(recipe.encode())
    for file in files:
        size = file.stat().st_size
        digest.update(b"%d;" % size)
        with file.open("rb") as opened:
            if size <= _MAX_UNSAMPLED:
                digest.update(opened.read())
                continue
            for part in range(_SAMPLES):
                opened.seek((size - _SAMPLE) * part // (_SAMPLES - 1))
                digest.update(opened.read(_SAMPLE))
    return digest.hexdigest()[:12]


class Once(Generic[T]):
    """A value that is created on first use, once, even with several threads."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._lock = threading.Lock()

    @property
    def is_created(self) -> bool:
        """True after the first call."""
        return bool(self._made)

    def __call__(self) -> T:
        """Return the value. If creating it raises, the next call tries again."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


async def in_thread(work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
    """Run CPU-bound work in one of two threads of this event loop."""
    limiter = _threads.get(None)
    if limiter is None:  # a limiter belongs to one event loop, and an embedder may be called from several
        limiter = CapacityLimiter(_MAX_THREADS)
        _threads.set(limiter)
    return await to_thread.run_sync(work, *arguments, limiter=limiter)
