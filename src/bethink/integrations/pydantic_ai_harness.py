"""The notebook of the Pydantic AI harness: its files are documents of a space.

    agent = Agent(model, capabilities=[Memory(BethinkMemoryStore(memory.space("mira")))])

It is a `MemoryStore`, a `MetadataMemoryStore` and a `SearchableMemoryStore` of the harness.
"""

import re
from collections.abc import Mapping
from hashlib import blake2b

from pydantic_ai_harness.memory import (
    MemoryConflictError,
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
    MemorySearchMatch,
    MemorySearchResult,
)

from bethink import Document, Space
from bethink.errors import ConflictError, DuplicateError, VersionConflictError
from bethink.integrations.files import DocumentFiles
from bethink.types import RefKind

_PATH, _FOLDER = "notebook_path", "notebook_folder"
_OPERATION, _FINGERPRINT, _DELETED, _METADATA = "operation", "fingerprint", "deleted", "written_with"
_STEP = re.compile(r"(?!\.$)(?!.*\.\.)[A-Za-z0-9_.-]{1,200}")
_MAX_METADATA = 4_096
_CHARS_PER_TOKEN, _MIN_TOKENS = 4, 64


class BethinkMemoryStore:
    """Files of an agent's notebook. Their content counts as the assistant's statements, never the user's.

    Every write is a version with its author, and an operation that is sent twice runs once. Searches use Bethink's
    recall. Secrets are removed before storage. A file has up to 65,536 characters.
    """

    def __init__(self, space: Space, *, root: str = "notebook", agent: str = "pydantic-ai") -> None:
        """Use a document of a space's tree as the root.

        Args:
            space: The space of an end user, a project or a team.
            root: The top-level document that contains the files.
            agent: The author. Files count as this agent's statements.
        """
        self._space = space
        self._files = DocumentFiles(space, root=root, agent=agent)

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Return a file, truncated to `max_chars`, or None."""
        _check(path)
        _check_positive("max_chars", max_chars)
        file = await self._files.read_file(path)
        if file is None:
            return None
        return MemoryFile(
            content=file.body[:max_chars],
            version=_version(file),
            operation_id=file.metadata.get(_OPERATION),
            truncated=len(file.body) > max_chars,
            metadata=file.metadata.get(_METADATA),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the result of an operation that ran before, or None."""
        done = await self._space.documents.find(idempotency_key=_key(operation))
        if done is None:
            return None
        if done.metadata.get(_FINGERPRINT) != operation.fingerprint:
            raise MemoryOperationConflictError(f"operation id {operation.id!r} was reused with different arguments")
        if done.metadata.get(_DELETED):
            return MemoryMutation(version=None, replayed=True, existed=True)
        return MemoryMutation(version=_version(done), replayed=True, existed=done.version > 1)

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Create or replace a file if its version is still `expected_version`."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Create or replace a file, and store metadata with its new version."""
        _check(path)
        about = {**_about(path, operation), **_metadata_fields(metadata)}
        if operation is not None and (done := await self.get_operation(operation)) is not None:
            return done
        file = await self._load_expected(path, expected_version)
        key = None if operation is None else _key(operation)
        try:
            if file is None:
                saved = await self._files.create(path, content, key=key, about=about)
            else:
                saved = await self._files.update(file, content, key=key, about=about)
        except ConflictError as error:
            return await self._conflict(path, operation, error)
        return MemoryMutation(version=_version(saved), replayed=False, existed=file is not None)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Delete a file if its version is still `expected_version`. `space.forget` erases its versions."""
        _check(path)
        if operation is not None and (done := await self.get_operation(operation)) is not None:
            return done
        file = await self._load_expected(path, expected_version)
        if file is None:
            return MemoryMutation(version=None, replayed=False, existed=False)
        try:
            if operation is None:
                await self._files.delete(file)
            else:  # the last version records the operation that deleted the file
                about = {**_about(path, operation), _DELETED: True}
                last = await self._files.update(file, file.body, about=about)
                await self._files.delete(last, key=_key(operation))
        except ConflictError as error:
            return await self._conflict(path, operation, error)
        return MemoryMutation(version=None, replayed=False, existed=True)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return the paths of the files below a prefix, in order."""
        _check(prefix.removesuffix("/") or "any")
        _check_positive("limit", limit)
        sizes = await self._files.list_paths(prefix)
        return sorted(path for path, size in sizes.items() if size is not None)[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        """Search the files of one folder. Best match first, with the matching passages."""
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        max_matches = min(limit, max_files)
        result = await self._space.recall(
            query,
            kinds=[RefKind.DOCUMENT],
            where={_FOLDER: prefix.removesuffix("/")},
            limit=max_matches + 1,
            budget=max(max_chars // _CHARS_PER_TOKEN, _MIN_TOKENS),  # with a budget, a long file is cut to the match
        )
        matches: list[MemorySearchMatch] = []
        remaining = max_chars
        for item in result.items[:max_matches]:
            path = str(item.metadata[_PATH])
            remaining -= len(path.removeprefix(prefix))
            if remaining <= 0:
                break
            snippet = item.text[: min(remaining, max_file_chars)]
            remaining -= len(snippet)
            matches.append(MemorySearchMatch(path=path, snippet=snippet, score=item.score))
        return MemorySearchResult(matches=matches, scanned=len(matches), truncated=len(result.items) > len(matches))

    async def _load_expected(self, path: str, version: str | None) -> Document | None:
        """Return the file at a path if it has the version that the caller read."""
        file = await self._files.read_file(path)
        if (None if file is None else _version(file)) != version:
            raise MemoryConflictError(f"memory path {path!r} has changed since it was read")
        return file

    async def _conflict(self, path: str, operation: MemoryOperation | None, error: ConflictError) -> MemoryMutation:
        """Explain a rejected change: another task ran it, or changed the file."""
        if operation is not None and (done := await self.get_operation(operation)) is not None:
            return done
        if isinstance(error, (VersionConflictError, DuplicateError)):
            raise MemoryConflictError(f"memory path {path!r} has changed since it was read") from error
        raise error


def _about(path: str, operation: MemoryOperation | None) -> dict[str, object]:
    fields: dict[str, object] = {_PATH: path, _FOLDER: path.rpartition("/")[0]}
    return fields if operation is None else {**fields, _OPERATION: operation.id, _FINGERPRINT: operation.fingerprint}


def _metadata_fields(metadata: Mapping[str, str] | None) -> dict[str, object]:
    if not metadata:
        return {}
    if sum(len(name) + len(value) for name, value in metadata.items()) > _MAX_METADATA:
        raise ValueError(f"memory metadata is longer than {_MAX_METADATA} characters")
    return {_METADATA: dict(metadata)}


def _key(operation: MemoryOperation) -> str:
    return f"notebook-{blake2b(operation.id.encode(), digest_size=20).hexdigest()}"


def _version(file: Document) -> str:
    """Return a version ID. A file that is deleted and created again gets a new one."""
    return f"{file.id}.{file.version}"


def _check(path: str) -> None:
    if not all(map(_STEP.fullmatch, path.split("/"))):
        raise ValueError(f"invalid memory path: {path!r}")


def _check_positive(name: str, value: int) -> None:
    if value <= 0:
        raise ValueError(f"{name} must be positive")
