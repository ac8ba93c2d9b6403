"""Imports transcripts of coding agents. Lines already stored by the hooks are skipped."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bethink.agents.scopes import ProjectScope, scope_of
from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import TranscriptLine
from bethink.errors import ConfigurationError, CorruptDatabaseError, InvalidRequestError
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem
from bethink.model.records import AgentKind

_SUFFIXES = (".jsonl", ".jsonl.zst")
_Read = Callable[[Path], Iterator[TranscriptLine]]


class ProjectSpaces:
    """Maps lines to spaces as the hooks do: by the folder where the session began, unless that is ignored."""

    def __init__(self) -> None:
        self._scopes: dict[str, ProjectScope] = {}
        self._sessions: dict[str, str] = {}

    def space_of(self, line: TranscriptLine) -> str | None:
        """Return the space of a line, or None if it must not be stored."""
        folder = line.cwd or "/"
        if folder not in self._scopes:
            self._scopes[folder] = scope_of(folder)
        scope = self._scopes[folder]
        if scope.home is None:
            return None
        return self._sessions.setdefault(f"{line.agent}:{line.session}", scope.home)


def read_claude_code(path: Path, spaces: ProjectSpaces | None = None) -> Iterator[Item]:
    """Yield the messages of a Claude Code transcript, or of all transcripts in a folder."""
    return _read_items(path, claude_code.read_lines, spaces)


def read_codex(path: Path, spaces: ProjectSpaces | None = None) -> Iterator[Item]:
    """Yield the messages of a Codex rollout, or of all rollouts in a folder."""
    return _read_items(path, codex.read_lines, spaces)


def _read_items(path: Path, read_lines: _Read, spaces: ProjectSpaces | None) -> Iterator[Item]:
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.name.endswith(_SUFFIXES))
    if not files:
        raise InvalidRequestError(f"{path} has no transcripts.", hint="Pass a .jsonl file, or a folder of such files.")
    for file in files:
        try:
            for line in read_lines(file):
                space = "" if spaces is None else spaces.space_of(line)
                if space is not None:
                    yield message_from_line(line, space=space)
        except (CorruptDatabaseError, ConfigurationError, OSError) as error:  # continue with the other files
            yield UnreadableItem(str(file), str(error))


def message_from_line(line: TranscriptLine, *, space: str = "") -> ImportedMessage:
    """Convert a transcript line to a message to store, optionally in another space."""
    location = f"{line.agent} {line.session}, at byte {line.offset}"
    if line.subagent is None:
        return ImportedMessage(location, Destination(line.conversation, line.agent, space=space), line.message())
    to = Destination(line.conversation, f"{line.agent}-subagent", kind=AgentKind.SUBAGENT, space=space)
    return ImportedMessage(location, to, line.message())
