"""Reads a file by its media type: text, Markdown, HTML or PDF."""

import codecs
from importlib.util import find_spec
from pathlib import PurePosixPath

import anyio

from bethink.errors import Invalid
from bethink.features.files.html import read_html
from bethink.features.files.markdown import read_markdown
from bethink.features.files.sources import MAX_BYTES, MAX_CHARACTERS, SourceText
from bethink.model.text import clean

PDF = "application/pdf"
_TEXT, _MARKDOWN, _HTML = "text/plain", "text/markdown", "text/html"
_SUFFIXES = {
    ".md": _MARKDOWN, ".markdown": _MARKDOWN, ".mdx": _MARKDOWN,
    ".html": _HTML, ".htm": _HTML, ".xhtml": _HTML,
    ".pdf": PDF,
}  # fmt: skip
_MARKED = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def _read_html(text: str) -> SourceText:
    if find_spec("turbohtml") is None:
        raise Invalid("HTML needs the extra `html`.", hint="Run pip install 'bethink[html]' where memory is.")

    return read_html(text)


_READERS = {_MARKDOWN: read_markdown, _HTML: _read_html, "application/xhtml+xml": _read_html}


def media_type_of(name: str, given: str | None) -> str:
    """Return the media type of a file: the one that was given, or else by the suffix of its name.

    Raises:
        Invalid: for a type that is neither text nor PDF.
    """
    if given is None:
        return _SUFFIXES.get(PurePosixPath(name.lower()).suffix, _TEXT)
    found = given.partition(";")[0].strip().lower()
    if found != PDF and found not in _READERS and not found.startswith("text/"):
        raise Invalid(f"{found!r} cannot be read.", hint=f"Use {_TEXT}, {_MARKDOWN}, {_HTML} or {PDF}.")
    return found


def decoded(data: bytes) -> str:
    """Return the text of bytes: UTF-8, or UTF-16 with a byte order mark.

    Raises:
        Invalid: if it is neither.
    """
    mark, encoding = next(((mark, each) for mark, each in _MARKED if data.startswith(mark)), (b"", "utf-8"))
    try:
        return data[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        raise Invalid("it is not text in UTF-8.", hint="Save it in UTF-8.") from None


def read_text(text: str, media_type: str) -> SourceText:
    """Return what a text says, read as its media type.

    Raises:
        Invalid: for HTML without the extra `html`.
    """
    text = clean(text)
    reader = _READERS.get(media_type)
    return SourceText(text=text) if reader is None else reader(text)


async def read_file(media_type: str, *, text: str | None, data: bytes | None) -> SourceText:
    """Read a file that is given as text or as bytes.

    Raises:
        Invalid: if it is too large, not what its media type says, or holds no text.
    """
    if data is not None and len(data) > MAX_BYTES:
        raise Invalid(f"it has {len(data):,} bytes.", hint=f"A file may have up to {MAX_BYTES:,}: add it in parts.")
    if media_type == PDF:
        from bethink.features.files.pdf import read_pdf  # noqa: PLC0415 - an extra

        if data is None:
            raise Invalid("a PDF is given as data, not as text.", hint="Pass its bytes.")
        found = await read_pdf(data)
    else:
        whole = decoded(data or b"") if text is None else text
        if len(whole) > MAX_CHARACTERS:
            raise _too_long(len(whole))
        found = await anyio.to_thread.run_sync(read_text, whole, media_type)
    if len(found.text) > MAX_CHARACTERS:
        raise _too_long(len(found.text))
    if not found.text.strip():
        raise Invalid("it holds no text.", hint="If it is a scan, it needs text recognition first.")
    return found


def _too_long(length: int) -> Invalid:
    return Invalid(f"it has {length:,} characters.", hint=f"A file may have up to {MAX_CHARACTERS:,}: add it in parts.")
