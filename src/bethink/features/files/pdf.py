"""Reads PDF in a separate process with time and memory limits, because a PDF is a program.

The process reads the file from stdin and writes JSON: the text of each page, or the reason for a failure.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import anyio

from bethink.base.installed import install_hint
from bethink.errors import InvalidRequestError
from bethink.features.files.sources import MAX_CHARACTERS, SourceText
from bethink.model.text import clean

MAX_PAGES = 2_000
_PAGE = 50_000
"""Maximum characters read from a page."""
_SECONDS = 60
_MEMORY = 1_500_000_000
_ENCRYPTED, _BROKEN, _PAGES = "encrypted", "broken", "pages"
_ERRORS = {
    _ENCRYPTED: ("The PDF is encrypted.", "Save the file without a password."),
    _PAGES: (f"The PDF has more than {MAX_PAGES:,} pages.", "Split the file."),
    _BROKEN: ("The PDF cannot be read.", "Open and save the file again, or add its text."),
}


async def read_pdf(data: bytes) -> SourceText:
    """Return the text of a PDF with the start of each page. Pages are separated by a blank line.

    Raises:
        InvalidRequestError: if it is encrypted or broken, has too many pages, or takes too long; and without the extra
            `pdf`.
    """
    if find_spec("pypdf") is None:
        raise InvalidRequestError("Reading PDF requires the extra `pdf`.", hint=install_hint("pdf"))
    try:
        done = await anyio.to_thread.run_sync(_run, data, abandon_on_cancel=True)
    except subprocess.TimeoutExpired:
        hint = "Split the file, or add its text."
        raise InvalidRequestError(f"Reading the PDF took more than {_SECONDS} seconds.", hint=hint) from None
    try:
        answer: Any = json.loads(done)
    except ValueError:
        answer = {"why": _BROKEN}
    if "pages" not in answer:
        message, hint = _ERRORS.get(answer.get("why", ""), _ERRORS[_BROKEN])
        raise InvalidRequestError(message, hint=hint)
    return _join_pages([clean(str(page)) for page in answer["pages"]])


def _run(data: bytes) -> bytes:
    # In a thread, because not every event loop can start a process. -P: do not search the working folder for modules.
    command = [sys.executable, "-P", "-m", __name__]
    return subprocess.run(command, input=data, capture_output=True, timeout=_SECONDS, check=False).stdout  # noqa: S603


def _join_pages(pages: list[str]) -> SourceText:
    starts: list[int] = []
    at = 0
    for page in pages:
        starts.append(at)
        at += len(page) + 2
    return SourceText(text="\n\n".join(pages), pages=tuple(starts))


def _extract_pages(data: bytes) -> dict[str, object]:
    from pypdf import PdfReader  # noqa: PLC0415 - an extra
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"why": _ENCRYPTED}
        if len(reader.pages) > MAX_PAGES:
            return {"why": _PAGES}
        pages: list[str] = []
        remaining = MAX_CHARACTERS + 1
        for page in reader.pages:
            pages.append(page.extract_text()[: min(_PAGE, remaining)])
            remaining -= len(pages[-1])
            if remaining <= 0:
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
    sys.stdout.write(json.dumps(_extract_pages(sys.stdin.buffer.read())))
