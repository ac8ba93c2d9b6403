"""Reads a file by its media type: text, Markdown, HTML or PDF."""

import codecs
from importlib.util import find_spec
from pathlib import PurePosixPath

from bethink.base.installed import install_hint
from bethink.errors import InvalidRequestError
from bethink.features.files.html import read_html
from bethink.features.files.markdown import read_markdown
from bethink.features.files.sources import MAX_BYTES, MAX_CHARACTERS, SourceText
from bethink.model.text import clean
from bethink.store.lanes import LaneTurn

PDF = "application/pdf"
_TEXT, _MARKDOWN, _HTML = "text/plain", "text/markdown", "text/html"
_SUFFIXES = {
    ".md": _MARKDOWN, ".markdown": _MARKDOWN, ".mdx": _MARKDOWN,
    ".html": _HTML, ".htm": _HTML, ".xhtml": _HTML,
    ".pdf": PDF,
}  # fmt: skip
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def _read_html(text: str) -> SourceText:
    if find_spec("turbohtml") is None:
        raise InvalidRequestError("Reading HTML requires the extra `html`.", hint=install_hint("html"))

    return read_html(text)


_READERS = {_MARKDOWN: read_markdown, _HTML: _read_html, "application/xhtml+xml": _read_html}


def media_type_of(name: str, media_type: str | None) -> str:
    """Return the media type of a file: the argument, or else the type of its suffix.

    Raises:
        InvalidRequestError: for a type that is neither text nor PDF.
    """
    if media_type is None:
        return _SUFFIXES.get(PurePosixPath(name.lower()).suffix, _TEXT)
    base_type = media_type.partition(";")[0].strip().lower()
    if base_type != PDF and base_type not in _READERS and not base_type.startswith("text/"):
        raise InvalidRequestError(
            f"{base_type!r} is not supported.", hint=f"Use {_TEXT}, {_MARKDOWN}, {_HTML} or {PDF}."
        )
    return base_type


def decode_text(data: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark.

    Raises:
        InvalidRequestError: if the bytes are neither.
    """
    mark, encoding = next(((mark, codec) for mark, codec in _BYTE_ORDER_MARKS if data.startswith(mark)), (b"", "utf-8"))
    try:
        return data[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        raise InvalidRequestError("The file is not UTF-8 text.", hint="Save the file in UTF-8.") from None


def read_text(text: str, media_type: str) -> SourceText:
    """Parse a text by its media type.

    Raises:
        InvalidRequestError: for HTML without the extra `html`.
    """
    text = clean(text)
    reader = _READERS.get(media_type)
    return SourceText(text=text) if reader is None else reader(text)


async def read_file(media_type: str, turn: LaneTurn, *, text: str | None, data: bytes | None) -> SourceText:
    """Read a file from text or bytes, in the turn of its space.

    Raises:
        InvalidRequestError: if it is too large, does not match its media type, or contains no text.
    """
    if data is not None and len(data) > MAX_BYTES:
        raise InvalidRequestError(
            f"File too large: {len(data):,} bytes (maximum {MAX_BYTES:,}).", hint="Split the file."
        )
    if media_type == PDF:
        from bethink.features.files.pdf import read_pdf  # noqa: PLC0415 - an extra

        if data is None:
            raise InvalidRequestError("A PDF must be passed as `data`, not `text`.", hint="Pass the bytes of the file.")
        source = await read_pdf(data)
    else:
        content = decode_text(data or b"") if text is None else text
        if len(content) > MAX_CHARACTERS:
            raise _too_long(len(content))
        source = await turn.run(lambda _: read_text(content, media_type))
    if len(source.text) > MAX_CHARACTERS:
        raise _too_long(len(source.text))
    if not source.text.strip():
        raise InvalidRequestError("The file contains no text.", hint="Run text recognition (OCR) on scans first.")
    return source


def _too_long(length: int) -> InvalidRequestError:
    return InvalidRequestError(
        f"File too long: {length:,} characters (maximum {MAX_CHARACTERS:,}).", hint="Split the file."
    )
