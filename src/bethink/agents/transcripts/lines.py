"""Transcript lines, and reading of growing files: from an offset on, only complete lines."""

import hashlib
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from bethink.base.frozen import frozen
from bethink.base.installed import install_hint
from bethink.errors import ConfigurationError, CorruptDatabaseError, InvalidRequestError
from bethink.model.moments import moment
from bethink.model.records import Message, conversation_key
from bethink.model.text import clean

MAX_OUTPUT = 4_000
"""Maximum characters stored of a tool's output: its beginning and end."""
_MAX_CALL = 400
_CUT = "\n[… {} characters left out …]\n"
_LAST_WORD, _FIRST_WORD = re.compile(r"[^\s,;\"'&]{1,1000}\Z"), re.compile(r"\A[^\s,;\"'&]{1,1000}")
_BLOCK_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{1,60}-----(?!.*-----BEGIN )", re.DOTALL)
_BLOCK_ENDS = re.compile(r"-----END [A-Z0-9 ]{1,60}-----")
_ARGUMENTS = ("command", "cmd", "file_path", "path", "pattern", "query", "url", "skill", "description")
"""Arguments that describe a tool call. The first one present is used."""
_MAX_ID = 100
_ZST = ".zst"
_PIECE = 1 << 20


@frozen
class TranscriptLine:
    """One message of a transcript.

    `key` does not depend on the time or offset of reading: use it as the idempotency key. `session` is the agent's
    id of the session. Lines of a sub-agent have its id in `subagent`. `name` is the tool of a result. `offset` is
    where to continue reading once this line is stored.
    """

    agent: str
    key: str
    session: str
    role: str
    content: str
    offset: int
    said_at: datetime | None = None
    name: str | None = None
    is_error: bool = False
    cwd: str | None = None
    git_branch: str | None = None
    subagent: str | None = None

    @property
    def conversation(self) -> str:
        """The conversation of this line, with the same name for hooks and imports."""
        return conversation_key(self.agent, self.session, self.subagent or "")

    @property
    def origin(self) -> str:
        """The speaker: user, assistant, or `tool:` and the tool's name."""
        return f"tool:{self.name or 'unnamed'}" if self.role == "tool" else self.role

    def message(self) -> Message:
        """Return this line as a message. Its idempotency key prevents duplicates."""
        about = {"cwd": self.cwd, "git_branch": self.git_branch, "subagent": self.subagent}
        return Message(
            role=self.role,
            content=self.content,
            name=self.name,
            is_error=self.is_error,
            idempotency_key=self.key,
            said_at=self.said_at,
            metadata={name: value for name, value in about.items() if value},
        )


class RawLine(NamedTuple):
    """A JSON object of a transcript, with the start of its line and of the next one."""

    tree: Mapping[str, Any]
    start: int
    end: int


def raw_lines(path: Path, *, start: int = 0) -> Iterator[RawLine]:
    """Yield the objects of a JSON Lines file from an offset on. Lines that are not objects are skipped.

    An incomplete last line is left for the next time. A file shorter than `start` was rewritten, and is read from its
    beginning. A file that has since been compressed is found too; offsets refer to the uncompressed text.
    """
    with open_transcript(path) as source:
        at = _skip(source, start)
        if at < start:
            yield from raw_lines(path)
            return
        for line in _complete_lines(source):
            line_start, at = at, at + len(line)
            tree = as_object(line)
            if tree is not None:
                yield RawLine(tree, line_start, at)


@contextmanager
def open_transcript(path: Path) -> Generator[IO[bytes]]:
    """Open a transcript, whether plain or compressed.

    Raises:
        ConfigurationError: if it is compressed and no package to read it is installed.
    """
    other = path.with_suffix("") if path.suffix == _ZST else path.with_name(path.name + _ZST)
    existing = other if other.is_file() and not path.is_file() else path
    if existing.suffix != _ZST:
        with existing.open("rb") as plain:
            yield plain
        return
    zstd = _zstd()
    try:
        with zstd.open(existing, "rb") as unpacked:
            yield unpacked
    except zstd.ZstdError as error:
        raise CorruptDatabaseError(
            f"{existing.name} cannot be decompressed: {error}.", hint="Skip or restore it."
        ) from error


def _zstd() -> Any:
    try:
        zstd = import_module("compression.zstd")  # part of Python since 3.14
    except ImportError:
        try:
            zstd = import_module("backports.zstd")
        except ImportError as error:
            message = "Reading a compressed transcript requires backports.zstd."
            raise ConfigurationError(message, hint=install_hint("codex")) from error
    return zstd


def _complete_lines(source: IO[bytes]) -> Iterator[bytes]:
    with suppress(EOFError):  # compressed, and still being written
        yield from source


def _skip(source: IO[bytes], start: int) -> int:
    at = 0
    while at < start and (piece := source.read(min(_PIECE, start - at))):
        at += len(piece)
    return at


def as_object(line: bytes | str) -> Mapping[str, Any] | None:
    """Return the JSON object of a line, or None for anything else, such as an incomplete line."""
    try:
        tree: object = json.loads(line.decode("utf-8", "replace") if isinstance(line, bytes) else line)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", tree) if isinstance(tree, dict) else None


def value_at(tree: Mapping[str, Any], *names: str) -> Any:
    """Return the value at a path of names, or None."""
    value: Any = tree
    for name in names:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return value


def text_at(tree: Mapping[str, Any], *names: str) -> str | None:
    """Return the text at a path of names, or None."""
    value = value_at(tree, *names)
    return value if isinstance(value, str) and value else None


def id_at(tree: Mapping[str, Any], *names: str) -> str | None:
    """Return the id at a path of names, or None. An id that cannot be stored is replaced by its digest."""
    value = text_at(tree, *names)
    if value is None or (len(value) <= _MAX_ID and clean(value) == value and value.strip() == value):
        return value
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:32]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list, or an empty list for anything else."""
    items = cast("Sequence[Any]", value) if isinstance(value, list) else ()
    return [cast("Mapping[str, Any]", item) for item in items if isinstance(item, dict)]


def time_of(tree: Mapping[str, Any]) -> datetime | None:
    """Return the timestamp of a line, or None."""
    try:
        return moment(str(tree.get("timestamp", "")))
    except InvalidRequestError:
        return None


def shorten(text: str, max_length: int = MAX_OUTPUT) -> str:
    """Shorten a text to about `max_length` characters: its beginning and end.

    Cuts between words, and removes partial blocks such as keys: half a secret would not be recognized.
    """
    if len(text) <= max_length:
        return text
    head, tail = text[: max_length * 2 // 3], text[-(max_length // 3) :]
    block_start, block_end = _BLOCK_BEGINS.search(head), _BLOCK_ENDS.search(tail)
    if block_start is not None and _BLOCK_ENDS.search(head, block_start.start()) is None:
        head = head[: block_start.start()]
    if block_end is not None and _BLOCK_BEGINS.search(tail, 0, block_end.start()) is None:
        tail = tail[block_end.end() :]
    head, tail = _LAST_WORD.sub("", head), _FIRST_WORD.sub("", tail)
    return f"{head}{_CUT.format(len(text) - len(head) - len(tail))}{tail}"


def summarize_call(arguments: Any) -> str:
    """Summarize the arguments of a tool call: its command, file, pattern or query."""
    if isinstance(arguments, str):
        arguments = as_object(arguments) or {"command": arguments}
    if not isinstance(arguments, Mapping):
        return ""
    values = cast("Mapping[str, Any]", arguments)
    for name in _ARGUMENTS:
        value = values.get(name)
        if isinstance(value, list):
            value = " ".join(map(str, cast("list[object]", value)))
        if isinstance(value, str) and value.strip():
            return shorten(value.strip(), _MAX_CALL)
    return ""
