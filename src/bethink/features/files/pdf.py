"""Reads PDF in a process of its own, which is ended if it takes too long or too much: a PDF is a program.

The process reads the file from stdin and writes JSON: the text of each page, or why there is none.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import anyio

from bethink.errors import Invalid
from bethink.features.files.sources import MAX_CHARACTERS, SourceText
from bethink.model.text import clean

MAX_PAGES = 2_000
_PAGE = 50_000
"""How many characters of a page are taken."""
_SECONDS = 60
_MEMORY = 1_500_000_000
_ENCRYPTED, _BROKEN, _PAGES = "encrypted", "broken", "pages"
_WHY = {
    _ENCRYPTED: ("it is encrypted.", "Save it without a password."),
    _PAGES: (f"it has more than {MAX_PAGES:,} pages.", "Split it."),
    _BROKEN: ("it is not a PDF that can be read.", "Open it and save it again, or add its text."),
}


async def read_pdf(data: bytes) -> SourceText:
    """Return the text of a PDF, with the place where each page begins. Pages have a blank line between them.

    Raises:
        Invalid: if it is encrypted, broken, has too many pages, or takes too long; and without the extra `pdf`.
    """
    if find_spec("pypdf") is None:
        raise Invalid("reading PDF needs the extra pdf.", hint="Run pip install 'bethink[pdf]' where memory is.")
    try:
        done = await anyio.to_thread.run_sync(_run, data, abandon_on_cancel=True)
    except subprocess.TimeoutExpired:
        hint = "Split it, or add its text."
        raise Invalid(f"reading it takes more than {_SECONDS} seconds.", hint=hint) from None
    try:
        answer: Any = json.loads(done)
    except ValueError:
        answer = {"why": _BROKEN}
    if "pages" not in answer:
        message, hint = _WHY.get(answer.get("why", ""), _WHY[_BROKEN])
        raise Invalid(message, hint=hint)
    return _joined([clean(str(page)) for page in answer["pages"]])


def _run(data: bytes) -> bytes:
    # In a thread, as not every event loop can start a process. -P: its folder is not searched for modules.
    command = [sys.executable, "-P", "-m", __name__]
    return subprocess.run(command, input=data, capture_output=True, timeout=_SECONDS, check=False).stdout  # noqa: S603


def _joined(pages: list[str]) -> SourceText:
    starts: list[int] = []
    at = 0
    for page in pages:
        starts.append(at)
        at += len(page) + 2
    return SourceText(text="\n\n".join(pages), pages=tuple(starts))


def _read(data: bytes) -> dict[str, object]:
    from pypdf import PdfReader  # noqa: PLC0415 - an extra
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"why": _ENCRYPTED}
        if len(reader.pages) > MAX_PAGES:
            return {"why": _PAGES}
        pages: list[str] = []
        left = MAX_CHARACTERS + 1
        for page in reader.pages:
            pages.append(page.extract_text()[: min(_PAGE, left)])
            left -= len(pages[-1])
            if left <= 0:
                break
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, MemoryError, NotImplementedError, OSError,
            RecursionError, TypeError, ValueError) as error:  # fmt: skip
        return {"why": _ENCRYPTED if "crypt" in type(error).__name__.lower() else _BROKEN}
    return {"pages": pages}


def _limit() -> None:
    try:
        import resource  # noqa: PLC0415 - not on Windows, where time alone is limited
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


if __name__ == "__main__":
    _limit()
    sys.stdout.write(json.dumps(_read(sys.stdin.buffer.read())))
