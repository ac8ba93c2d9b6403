"""Imports the transcripts of coding agents, as the hooks store them: a line that came by either way is known."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bethink.agents.scopes import ProjectScope, scope_of
from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import TranscriptLine
from bethink.errors import Corrupt, Invalid, Misconfigured
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem
from bethink.model.records import AgentKind

_SUFFIXES = (".jsonl", ".jsonl.zst")
_Read = Callable[[Path], Iterator[TranscriptLine]]


class ProjectSpaces:
    """Tells which space a line belongs to, as the hooks do: where its session began, unless its folder is ignored."""

    def __init__(self) -> None:
        self._scopes: dict[str, ProjectScope] = {}
        self._sessions: dict[str, str] = {}

    def of(self, line: TranscriptLine) -> str | None:
        """Return the space of a line; None if it must not be stored."""
        folder = line.cwd or "/"
        if folder not in self._scopes:
            self._scopes[folder] = scope_of(folder)
        scope = self._scopes[folder]
        if scope.home is None:
            return None
        return self._sessions.setdefault(f"{line.agent}:{line.session}", scope.home)


def read_claude_code(path: Path, spaces: ProjectSpaces | None = None) -> Iterator[Item]:
    """Yield the messages of a transcript of Claude Code, or of every one in a folder."""
    return _read(path, claude_code.read, spaces)


def read_codex(path: Path, spaces: ProjectSpaces | None = None) -> Iterator[Item]:
    """Yield the messages of a rollout of Codex, or of every one in a folder."""
    return _read(path, codex.read, spaces)


def _read(path: Path, read: _Read, spaces: ProjectSpaces | None) -> Iterator[Item]:
    inside = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.name.endswith(_SUFFIXES))
    if not inside:
        raise Invalid(f"{path} has no transcripts.", hint="Give a .jsonl file, or a folder with such files.")
    for each in inside:
        try:
            for line in read(each):
                space = "" if spaces is None else spaces.of(line)
                if space is not None:
                    yield imported(line, space=space)
        except (Corrupt, Misconfigured, OSError) as error:  # the other files can still be read
            yield UnreadableItem(str(each), str(error))


def imported(line: TranscriptLine, *, space: str = "") -> ImportedMessage:
    """Return a line of a transcript as a message to store, in another space if one is named."""
    where = f"{line.agent} {line.session}, at byte {line.offset}"
    if line.subagent is None:
        return ImportedMessage(where, Destination(line.conversation, line.agent, space=space), line.message())
    to = Destination(line.conversation, f"{line.agent}-subagent", kind=AgentKind.SUBAGENT, space=space)
    return ImportedMessage(where, to, line.message())
