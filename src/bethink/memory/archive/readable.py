"""The HTML pages of an archive: facts, documents and messages. No scripts."""

import tempfile
from collections.abc import Callable, Iterator
from html import escape
from itertools import pairwise
from typing import IO

from bethink.model.moments import from_micros
from bethink.store.db import Row

PER_PAGE = 1_000
"""Messages on one page."""

_CHUNK = 1 << 20
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
pre, p.said {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
small {{ color: #555; }}
</style>
</head>
<body>
<h1>{title}</h1>
"""
_TAIL = "</body>\n</html>\n"


class ReadableCopy:
    """Collects rows as they are archived, and keeps the pages on disk until they are added to the archive."""

    def __init__(self, space: str, conversation_of: Callable[[str], str]) -> None:
        self._space = space
        self._conversation_of = conversation_of
        self._facts, self._documents, self._sessions, self._pages = (_spool() for _ in range(4))
        self._counts = {"facts": 0, "documents": 0, "messages": 0, "sessions": 0}
        self._starts: list[int] = []
        self._session = ""

    def close(self) -> None:
        """Remove the temporary files."""
        for spool in (self._facts, self._documents, self._sessions, self._pages):
            spool.close()

    def add_row(self, table: str, row: Row) -> None:
        """Add a row. Rows of other tables are ignored."""
        if table == "facts" and row["retired_at"] is None:
            self._counts["facts"] += 1
            details = f"{row['kind']}, {_day(row['created_at'])}, from {row['origin']}"
            _put(self._facts, f"<li>{escape(row['content'])} <small>{escape(details)}</small></li>\n")
        elif table == "documents" and row["valid_to"] is None and not row["redacted"]:
            self._counts["documents"] += 1
            details = f"version {row['version']}, {_day(row['valid_from'])}"
            head = f"<h3>{escape(row['title'] or row['slug'])}</h3>\n<p><small>{escape(details)}</small></p>\n"
            _put(self._documents, f"{head}<p>{escape(row['description'])}</p>\n<pre>{escape(row['body'])}</pre>\n")
        elif table == "messages":
            self._add_message(row)

    def _add_message(self, row: Row) -> None:
        number = self._counts["messages"]
        self._counts["messages"] += 1
        if number % PER_PAGE == 0:
            self._starts.append(self._pages.tell())
            self._session = "" if number else self._session
        if row["session_id"] != self._session:
            self._session = row["session_id"]
            name, when = self._conversation_of(self._session), _day(row["said_at"])
            _put(self._pages, f'<h2 id="{escape(self._session)}">{escape(name)}</h2>\n')
            link = f"{_page(len(self._starts))}#{escape(self._session)}"
            _put(self._sessions, f'<li><a href="{link}">{escape(name)}</a> <small>{when}</small></li>\n')
            self._counts["sessions"] += 1
        who = f"{row['name'] or row['role']}, {_time(row['said_at'])}"
        _put(self._pages, f'<p><small>{escape(who)}</small></p>\n<p class="said">{escape(row["content"])}</p>\n')

    def files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield the name and the content of every page; the index is first."""
        yield "index.html", self._index()
        for number, (start, end) in enumerate(pairwise([*self._starts, self._pages.tell()]), 1):
            yield _page(number), self._page_text(number, start, end)

    def _index(self) -> Iterator[bytes]:
        yield _HEAD.format(title=f"Memory of {escape(self._space)}").encode()
        yield (
            b"<p>This is a copy of everything that is stored in this space. These pages are for people; "
            b"the folder <code>rows</code> has every row with all its versions, for programs.</p>\n"
        )
        for title, count, spool, tag in (
            ("Facts", self._counts["facts"], self._facts, "ul"),
            ("Documents", self._counts["documents"], self._documents, "section"),
            ("Messages", self._counts["messages"], self._sessions, "ul"),
        ):
            yield f"<h2>{title} ({count})</h2>\n<{tag}>\n".encode()
            yield from _read_range(spool, 0, spool.tell())
            yield f"</{tag}>\n".encode()
        yield _TAIL.encode()

    def _page_text(self, number: int, start: int, end: int) -> Iterator[bytes]:
        title = f"Memory of {escape(self._space)}, page {number}"
        yield _HEAD.format(title=title).encode() + b'<p><a href="../index.html">Contents</a></p>\n'
        yield from _read_range(self._pages, start, end)
        yield _TAIL.encode()


def _page(number: int) -> str:
    return f"pages/{number:05}.html"


def _spool() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _put(spool: IO[bytes], text: str) -> None:
    spool.write(text.encode())


def _read_range(spool: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    position = spool.tell()
    spool.seek(start)
    while start < end and (chunk := spool.read(min(_CHUNK, end - start))):
        start += len(chunk)
        yield chunk
    spool.seek(position)


def _time(micros: int) -> str:
    try:
        return from_micros(micros).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError):
        return str(micros)


def _day(micros: int) -> str:
    return _time(micros)[:10]
