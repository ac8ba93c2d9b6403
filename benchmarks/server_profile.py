"""A server that looks at itself while it works: what its threads are at, some hundred times a second."""

import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType

COMMAND = ("-m", "benchmarks.server_profile")
_EVERY = 0.004
_HEAD = "where the server's time goes"
_WAITING = ("queue.py", "selectors.py", "threading.py")
_TOP = 40


class _Watch(threading.Thread):
    """Notes where every thread is; what waits for work is left out."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.loop: Counter[str] = Counter()
        self.lanes: Counter[str] = Counter()

    def run(self) -> None:
        main = threading.main_thread().ident
        while not self.over.wait(_EVERY):
            for ident, frame in sys._current_frames().items():
                if ident == self.ident or _waits(frame):
                    continue
                (self.loop if ident == main else self.lanes).update(_places(frame))


def _waits(frame: FrameType) -> bool:
    name = frame.f_code.co_filename.rpartition("/")[2]
    return name in _WAITING or (name == "connection_thread.py" and frame.f_code.co_name == "_serve")


def _places(frame: FrameType) -> set[str]:
    """Every function that is under way, once: what it and all it calls take."""
    found: set[str] = set()
    at: FrameType | None = frame
    while at is not None:
        folder, _, name = at.f_code.co_filename.rpartition("/")
        found.add(f"{folder.rpartition('/')[2]}/{name}:{at.f_code.co_qualname}")
        at = at.f_back
    return found


def _table(title: str, seen: Counter[str]) -> str:
    most = max(seen.values(), default=1)
    lines = [f"  {count / most:6.1%}  {place}" for place, count in seen.most_common(_TOP)]
    return "\n".join([f"{title} ({most} looks)", *lines])


def told(log: Path) -> str:
    """Read what a server wrote about itself when it ended."""
    text = log.read_text(encoding="utf-8", errors="replace")
    return text[text.find(_HEAD) :] if _HEAD in text else "the server told nothing"


def main() -> None:
    from bethink.cli.app import main as command  # noqa: PLC0415 - its imports belong to the server

    watch = _Watch()
    watch.start()
    began = time.process_time()
    sys.argv = ["bethink", "serve"]
    try:
        command()
    finally:
        watch.over.set()
        watch.join()
        print(f"{_HEAD}: {time.process_time() - began:.1f} s of CPU")
        print(_table("event loop", watch.loop))
        print(_table("threads of the database", watch.lanes), flush=True)


if __name__ == "__main__":
    main()
