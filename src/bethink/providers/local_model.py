"""What models in a folder of this machine share: their files, a name that stands for them, and a few threads."""

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

from bethink.errors import Misconfigured

_WHOLE = 1_000_000
_SAMPLES = 32
_SAMPLE = 8_192
_MAX_THREADS = 2

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_threads: RunVar[CapacityLimiter] = RunVar("bethink.embedding")


def need(extra: str, *modules: str) -> None:
    """Refuse to go on without what an extra brings; nothing is imported yet. Raises `Misconfigured`."""
    if any(find_spec(module) is None for module in modules):
        raise Misconfigured(f"this needs {', '.join(modules)}.", hint=f"Install the extra: bethink[{extra}].")


def path_of(given: str | Path, *, hint: str) -> Path:
    """Return an absolute path; `~` is the home folder. Raises `Misconfigured` if there is nothing."""
    with suppress(RuntimeError, ValueError):  # nobody's home, or a NUL
        # Links are not followed: the caches of model hubs link names to files that have none.
        path = Path(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100 - resolve follows them
        if path.exists():
            return path
    raise Misconfigured(f"there is nothing at {str(given)!r}.", hint=hint)


def stamp(recipe: str, files: Iterable[Path]) -> str:
    """Return a short hash of files and of how they are used, the same on every machine. Large files are sampled."""
    digest = hashlib.sha256(recipe.encode())
    for file in files:
        size = file.stat().st_size
        digest.update(b"%d;" % size)
        with file.open("rb") as opened:
            if size <= _WHOLE:
                digest.update(opened.read())
                continue
            for part in range(_SAMPLES):
                opened.seek((size - _SAMPLE) * part // (_SAMPLES - 1))
                digest.update(opened.read(_SAMPLE))
    return digest.hexdigest()[:12]


class Once(Generic[T]):
    """Makes something when it is first asked for, and once only, whichever thread asks."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._lock = threading.Lock()

    def __call__(self) -> T:
        """Return it; what goes wrong in making it is tried again next time."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


async def in_thread(work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
    """Do work that keeps a processor busy, in one of two threads of this event loop."""
    limiter = _threads.get(None)
    if limiter is None:  # a limiter belongs to one event loop, and an embedder may be called from several
        limiter = CapacityLimiter(_MAX_THREADS)
        _threads.set(limiter)
    return await to_thread.run_sync(work, *arguments, limiter=limiter)
