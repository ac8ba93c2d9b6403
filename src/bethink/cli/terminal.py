"""Writes to the terminal: text without control characters, data on stdout, everything else on stderr."""

import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO, cast

from bethink.base.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime

# What can move a cursor, start a sequence, or turn the direction of a line around. Tabs and newlines stay.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile("[\t\n]")


@frozen(kw_only=False)
class OutputLine:
    """One line of output. `style` is a rich style, used only on a terminal with color."""

    text: str = ""
    style: str = ""


def printable(text: str) -> str:
    """Return a text with its control characters escaped, so that it cannot steer a terminal."""
    return _CONTROL.sub(_escape, text)


def one_line(text: str, width: int = 0) -> str:
    """Return a text as one line, cut to a width if one is given."""
    line = printable(_BREAK.sub(" ", text))
    return line if not width or len(line) <= width else f"{line[: width - 1]}…"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def to_json(value: object, stream: TextIO | None = None) -> str:
    """Write a value as JSON without control characters; as ASCII for a stream that takes nothing else."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    text = json.dumps(value, ensure_ascii="utf" not in encoding.lower(), default=_dump)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _dump(value: object) -> Any:
    from bethink.host.codec import dump  # noqa: PLC0415 - it loads pydantic
    from bethink.model.paging import Page  # noqa: PLC0415

    if isinstance(value, Page):  # each item by its own type, which a page does not know: facts have refs
        page = cast("Page[Any]", value)
        return {"items": list(page.items), "next": page.next}
    return dump(value)


def when(at: "datetime | None") -> str:
    """Format a time to the minute, in UTC; empty for None."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M}"


def columns(rows: Sequence[Sequence[str]], *, head: Sequence[str] = ()) -> list[OutputLine]:
    """Lay rows out in columns, two spaces apart."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    table = [list(head), *cells] if head else cells
    if not table:
        return []
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = ["  ".join([*map(str.ljust, row[:-1], widths), row[-1]]).rstrip() for row in table]
    return [OutputLine(line, "bold" if head and not number else "") for number, line in enumerate(lines)]


def is_closed(stream: object) -> bool:
    """Return whether a standard stream was closed by the parent process: Python then has None for it."""
    return stream is None


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal."""
    return stream.isatty()


def has_color(stream: TextIO) -> bool:
    """Return whether a stream may be colored: it is a capable terminal, and NO_COLOR is not set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(lines: Iterable[OutputLine], stream: TextIO) -> None:
    """Write lines, in color on a terminal. Texts are never parsed as markup."""
    if not has_color(stream):
        stream.writelines(f"{printable(line.text)}\n" for line in lines)
        return
    # Imported where something is colored: it takes a while to load.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=stream, markup=False, emoji=False, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text(printable(line.text), style=line.style))


def release(stream: TextIO) -> None:
    """Point a stream without a reader at /dev/null, so that the flush at exit cannot fail."""
    with suppress(OSError):  # a stream that is not a file needs nothing
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def waiting() -> Generator[None]:
    """Make Ctrl-C interrupt a wait for input; an event loop would handle it only after the input."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def in_words(name: str) -> str:
    """Return the name of an outcome or a reason in words."""
    return name.replace("_no_output", " without output").replace("_", " ")


def ask_yes(question: str) -> bool:
    """Ask a question on stderr. Anything but yes means no."""
    sys.stderr.write(f"{printable(question)} [y/N] ")
    sys.stderr.flush()
    with waiting():
        return sys.stdin.readline().strip().lower() in ("y", "yes")


class Progress(AbstractContextManager["Progress"]):
    """Shows progress on stderr: the items done, the rate and the remaining time. The result follows on its own."""

    def __init__(self, label: str, total: int, *, quiet: bool, interval: float = 5.0) -> None:
        self._label = label
        self._total = total
        self._quiet = quiet
        self._interval = interval
        self.done = 0
        self._started_at = self._printed_at = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        if not self._quiet and has_color(sys.stderr):
            self._bar = _bar(self._label, self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, count: int) -> None:
        """Count more items as done."""
        self.done += count
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=count, rate=f"{self._rate():.0f}/s")
        elif self.done < self._total and not self._quiet and time.monotonic() - self._printed_at >= self._interval:
            self._printed_at = time.monotonic()
            self._print()

    def _rate(self) -> float:
        return self.done / max(time.monotonic() - self._started_at, 1e-6)

    def _print(self) -> None:
        rate = self._rate()
        seconds = (self._total - self.done) / rate if rate else 0.0
        sys.stderr.write(f"{self._label}: {self.done} of {self._total}, {rate:.0f}/s, {seconds:.0f} s left\n")
        sys.stderr.flush()


def _bar(label: str, total: int) -> Any:
    # Imported where a bar is drawn: see above.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr, markup=False, emoji=False, highlight=False),
        transient=True,
    )
    bar.add_task(printable(label), total=total, rate="")
    return bar
