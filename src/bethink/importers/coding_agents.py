"""Imports the transcripts of coding agents, as the hooks store them: a line that came by either way is known."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bethink.errors import Corrupt, Invalid, Misconfigured
from bethink.importers.items import Destination, ImportedMessage, Item, Unreadable
from bethink.model.records import AgentKind
from bethink.transcripts import claude_code, codex
from bethink.transcripts.lines import TranscriptLine

_SUFFIXES = (".jsonl", ".jsonl.zst")
_Read = Callable[[Path], Iterator[TranscriptLine]]


def read_claude_code(path: Path) -> Iterator[Item]:
    """Yield the messages of a transcript of Claude Code, or of every one in a folder."""
    return _read(path, claude_code.read)


def read_codex(path: Path) -> Iterator[Item]:
    """Yield the messages of a rollout of Codex, or of every one in a folder."""
    return _read(path, codex.read)


def _read(path: Path, read: _Read) -> Iterator[Item]:
    inside = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.name.endswith(_SUFFIXES))
    if not inside:
        raise Invalid(f"{path} has no transcripts.", hint="Give a .jsonl file, or a folder with such files.")
    for each in inside:
        try:
            yield from map(imported, read(each))
        except (Corrupt, Misconfigured, OSError) as error:  # the other files can still be read
            yield Unreadable(str(each), str(error))


def imported(line: TranscriptLine) -> ImportedMessage:
    """Return a line of a transcript as a message to store."""
    where = f"{line.agent} {line.session}, at byte {line.offset}"
    if line.subagent is None:
        return ImportedMessage(where, Destination(line.conversation, line.agent), line.message())
    to = Destination(line.conversation, f"{line.agent}-subagent", kind=AgentKind.SUBAGENT)
    return ImportedMessage(where, to, line.message())
