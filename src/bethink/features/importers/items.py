"""What an importer yields: messages, facts and documents, each with where it stands in its file."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from bethink.errors import Invalid
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Fact
from bethink.model.moments import moment
from bethink.model.records import AgentKind, Message


class Destination(NamedTuple):
    """Where a message is stored. Another `session` in the same conversation begins a new session there.

    With `learns` false, nothing is learnt from it. `space` is another space than the one that was asked for.
    """

    conversation: str
    agent: str = "assistant"
    session: str = ""
    learns: bool = True
    kind: AgentKind = AgentKind.PRIMARY
    space: str = ""


class ImportedMessage(NamedTuple):
    """A message and where it is stored."""

    place: str
    to: Destination
    message: Message


class ImportedFact(NamedTuple):
    """A statement without the messages it came from."""

    place: str
    fact: Fact


class ImportedDocument(NamedTuple):
    """A note."""

    place: str
    id: str
    draft: DocumentDraft


class UnreadableItem(NamedTuple):
    """What cannot be stored, and why."""

    place: str
    why: str


Item = ImportedMessage | ImportedFact | ImportedDocument | UnreadableItem


def json_files(path: Path, pattern: str, what: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and the content of each JSON file: of the file itself, or of those in a folder or a zip file.

    Raises:
        Invalid: if there is none that can be read.
    """
    hint = f"Give {what}."
    found = False
    for name, text in _texts(path, pattern):
        found = True
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Invalid(f"{name} is not JSON.", hint=hint) from error
        yield name, tree
    if not found:
        raise Invalid(f"{path} has no file {pattern}.", hint=hint)


def _texts(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for each in sorted(path.rglob(pattern)):
            yield each.name, each.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for name in sorted(packed.namelist()):
                if fnmatch(PurePosixPath(name).name, pattern):
                    yield name, packed.read(name)
    else:
        yield path.name, path.read_bytes()


def when(value: Any) -> datetime | None:
    """Return a time written as ISO 8601, or as seconds since 1970; None if it is neither."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    try:
        return moment(value) if isinstance(value, str) else None
    except Invalid:
        return None


def texts_only(values: Mapping[str, Any]) -> dict[str, object]:
    """Return metadata as a fact holds it: texts only, without what is empty."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        for name, value in values.items()
        if value not in (None, "", [], {})
    }
