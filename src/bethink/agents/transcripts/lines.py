"""A line of a transcript, and how a file that may still grow is read: from an offset on, never half a line."""

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
from bethink.errors import Corrupt, Invalid, Misconfigured
from bethink.model.moments import moment
from bethink.model.records import Message, conversation_key
from bethink.model.text import clean

LONGEST_OUTPUT = 4_000
"""How many characters of a tool's output are kept: the beginning and the end."""
_LONGEST_CALL = 400
_CUT = "\n[… {} characters left out …]\n"
_LAST_WORD, _FIRST_WORD = re.compile(r"[^\s,;\"'&]{1,1000}\Z"), re.compile(r"\A[^\s,;\"'&]{1,1000}")
_BLOCK_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{1,60}-----(?!.*-----BEGIN )", re.DOTALL)
_BLOCK_ENDS = re.compile(r"-----END [A-Z0-9 ]{1,60}-----")
_ARGUMENTS = ("command", "cmd", "file_path", "path", "pattern", "query", "url", "skill", "description")
"""What is told of a tool's call: the first of these that it has."""
_LONGEST_ID = 100
_ZST = ".zst"
_PIECE = 1 << 20


@frozen
class TranscriptLine:
    """What one line of a transcript says.

    `key` is the same whenever and from whichever offset the line is read: use it as the idempotency key. `session` is
    the agent's own id of the session; a sub-agent's lines name it in `subagent`. `name` is the tool that answered.
    `offset` is where to start reading next time, once this line is stored.
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
        """The conversation that this line belongs to, by one name for everyone who stores it."""
        return conversation_key(self.agent, self.session, self.subagent or "")

    @property
    def origin(self) -> str:
        """Who said it: user, assistant, or `tool:` and the tool's name."""
        return f"tool:{self.name or 'unnamed'}" if self.role == "tool" else self.role

    def message(self) -> Message:
        """Return this line as a message to store. It is stored once, however often it is read."""
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
    """A JSON object of a transcript, where its line begins, and where the next one does."""

    tree: Mapping[str, Any]
    start: int
    end: int


def raw_lines(path: Path, *, start: int = 0) -> Iterator[RawLine]:
    """Yield the objects of a JSON Lines file from an offset on. Lines that are not an object are passed over.

    A last line that is still being written is left for the next time. A file that is shorter than `start` was written
    anew, and is read from its beginning. A file that was compressed meanwhile is found; offsets count its text.
    """
    with opened(path) as source:
        at = _skip(source, start)
        if at < start:
            yield from raw_lines(path)
            return
        for line in _complete(source):
            begun, at = at, at + len(line)
            tree = as_object(line)
            if tree is not None:
                yield RawLine(tree, begun, at)


@contextmanager
def opened(path: Path) -> Generator[IO[bytes]]:
    """Open a transcript, compressed or not, whichever of the two there is.

    Raises:
        Misconfigured: if it is compressed, and nothing is installed that can read it.
    """
    other = path.with_suffix("") if path.suffix == _ZST else path.with_name(path.name + _ZST)
    held = other if other.is_file() and not path.is_file() else path
    if held.suffix != _ZST:
        with held.open("rb") as plain:
            yield plain
        return
    zstd = _zstd()
    try:
        with zstd.open(held, "rb") as unpacked:
            yield unpacked
    except zstd.ZstdError as error:
        raise Corrupt(f"{held.name} cannot be unpacked: {error}.", hint="Leave it out, or restore it.") from error


def _zstd() -> Any:
    try:
        zstd = import_module("compression.zstd")  # part of Python since 3.14
    except ImportError:
        try:
            zstd = import_module("backports.zstd")
        except ImportError as error:
            hint = "Install the extra: bethink[codex]."
            raise Misconfigured("a compressed transcript needs backports.zstd.", hint=hint) from error
    return zstd


def _complete(source: IO[bytes]) -> Iterator[bytes]:
    with suppress(EOFError):  # compressed, and still being written
        yield from source


def _skip(source: IO[bytes], start: int) -> int:
    at = 0
    while at < start and (piece := source.read(min(_PIECE, start - at))):
        at += len(piece)
    return at


def as_object(line: bytes | str) -> Mapping[str, Any] | None:
    """Return the JSON object of a line, or None if it is anything else, such as the first half of one."""
    try:
        tree: object = json.loads(line.decode("utf-8", "replace") if isinstance(line, bytes) else line)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", tree) if isinstance(tree, dict) else None


def at(tree: Mapping[str, Any], *names: str) -> Any:
    """Return what stands below names, or None if there is nothing."""
    found: Any = tree
    for name in names:
        found = cast("Mapping[str, Any]", found).get(name) if isinstance(found, Mapping) else None
    return found


def text_at(tree: Mapping[str, Any], *names: str) -> str | None:
    """Return the text that stands below names, or None if there is none."""
    found = at(tree, *names)
    return found if isinstance(found, str) and found else None


def id_at(tree: Mapping[str, Any], *names: str) -> str | None:
    """Return the id that stands below names, or None if there is none. An id that could not be stored is replaced."""
    found = text_at(tree, *names)
    if found is None or (len(found) <= _LONGEST_ID and clean(found) == found and found.strip() == found):
        return found
    return hashlib.sha256(found.encode("utf-8", "replace")).hexdigest()[:32]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object of JSON, or an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; none of anything else."""
    several = cast("Sequence[Any]", value) if isinstance(value, list) else ()
    return [cast("Mapping[str, Any]", each) for each in several if isinstance(each, dict)]


def time_of(tree: Mapping[str, Any]) -> datetime | None:
    """Return when a line was written, or None if it does not say so."""
    try:
        return moment(str(tree.get("timestamp", "")))
    except Invalid:
        return None


def shortened(text: str, longest: int = LONGEST_OUTPUT) -> str:
    """Return a text of at most about that many characters: of a longer one the beginning and the end.

    It is cut between words, and between the lines of a block such as a key: half a secret would not be recognised.
    """
    if len(text) <= longest:
        return text
    head, tail = text[: longest * 2 // 3], text[-(longest // 3) :]
    opened, closed = _BLOCK_BEGINS.search(head), _BLOCK_ENDS.search(tail)
    if opened is not None and _BLOCK_ENDS.search(head, opened.start()) is None:
        head = head[: opened.start()]
    if closed is not None and _BLOCK_BEGINS.search(tail, 0, closed.start()) is None:
        tail = tail[closed.end() :]
    head, tail = _LAST_WORD.sub("", head), _FIRST_WORD.sub("", tail)
    return f"{head}{_CUT.format(len(text) - len(head) - len(tail))}{tail}"


def called_with(arguments: Any) -> str:
    """Return what a tool was called with, in a few words: its command, file, pattern or question."""
    if isinstance(arguments, str):
        arguments = as_object(arguments) or {"command": arguments}
    if not isinstance(arguments, Mapping):
        return ""
    given = cast("Mapping[str, Any]", arguments)
    for name in _ARGUMENTS:
        value = given.get(name)
        if isinstance(value, list):
            value = " ".join(map(str, cast("list[object]", value)))
        if isinstance(value, str) and value.strip():
            return shortened(value.strip(), _LONGEST_CALL)
    return ""
