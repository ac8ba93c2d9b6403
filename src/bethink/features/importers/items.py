"""Items of an import: messages, facts and documents, each with its location in the file."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from bethink.errors import InvalidRequestError
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Fact
from bethink.model.moments import moment
from bethink.model.records import AgentKind, Message


class Destination(NamedTuple):
    """The destination of a message. A different `session` in the same conversation begins a new session.

    With `learns` false, nothing is learned from it. `space` overrides the space of the import.
    """

    conversation: str
    agent: str = "assistant"
    session: str = ""
    learns: bool = True
    kind: AgentKind = AgentKind.PRIMARY
    space: str = ""


class ImportedMessage(NamedTuple):
    """A message and its destination."""

    location: str
    to: Destination
    message: Message


class ImportedFact(NamedTuple):
    """A fact without source messages. `space` overrides the space of the import.

    If `changed_at`, the time of its last change at the source, is later than `updated_at` in the metadata of the stored
    fact, it becomes a new version.
    """

    location: str
    fact: Fact
    space: str = ""
    changed_at: datetime | None = None


class ImportedDocument(NamedTuple):
    """A document."""

    location: str
    id: str
    draft: DocumentDraft


class UnreadableItem(NamedTuple):
    """An item that cannot be stored, with the reason."""

    location: str
    reason: str


Item = ImportedMessage | ImportedFact | ImportedDocument | UnreadableItem


def json_files(path: Path, pattern: str, expected: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and content of each JSON file: the file itself, or those in a folder or zip file.

    Raises:
        InvalidRequestError: if no file can be read.
    """
    hint = f"Use {expected}."
    has_files = False
    for name, text in _texts(path, pattern):
        has_files = True
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidRequestError(f"{name} is not JSON.", hint=hint) from error
        yield name, tree
    if not has_files:
        raise InvalidRequestError(f"{path} has no file {pattern}.", hint=hint)


def _texts(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob(pattern)):
            yield file.name, file.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if fnmatch(PurePosixPath(name).name, pattern):
                    yield name, archive.read(name)
    else:
        yield path.name, path.read_bytes()


def parse_time(value: Any) -> datetime | None:
    """Parse ISO 8601 or Unix seconds. Returns None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    try:
        return moment(value) if isinstance(value, str) else None
    except InvalidRequestError:
        return None


def without_empty(values: Mapping[str, Any]) -> dict[str, object]:
    """Return metadata without empty values."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}
