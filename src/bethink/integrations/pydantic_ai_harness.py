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

from bethink import Document, RefKind, Space
from bethink.errors import Conflict, Duplicate, Stale
from bethink.integrations.files import Files

_PATH, _FOLDER = "notebook_path", "notebook_folder"
_OPERATION, _FINGERPRINT, _DELETED, _GIVEN = "operation", "fingerprint", "deleted", "written_with"
_STEP = re.compile(r"(?!\.$)(?!.*\.\.)[A-Za-z0-9_.-]{1,200}")
_LONGEST = 4_096
_CHARS_OF_TOKEN, _LEAST_TOKENS = 4, 64


class BethinkMemoryStore:
    """Files of an agent's notebook. What the model writes there is the assistant's word, never the user's.

    Every write is a version with its author, and an operation that is sent twice is carried out once. A search is
    memory's own. Secrets are cut out before anything is stored. A file has up to 65,536 characters.
    """

    def __init__(self, space: Space, *, root: str = "notebook", agent: str = "pydantic-ai") -> None:
        """Use a place of a space's tree.

        Args:
            space: The space of an end user, a project or a team.
            root: The document at the top of the tree that the files stand below.
            agent: Who writes: what is written is this agent's word.
        """
        self._space = space
        self._files = Files(space, root=root, agent=agent)

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Return a file, cut to a length; None if there is none."""
        _check(path)
        _check_positive("max_chars", max_chars)
        found = await self._files.read(path)
        if found is None:
            return None
        return MemoryFile(
            content=found.body[:max_chars],
            version=_version(found),
            operation_id=found.metadata.get(_OPERATION),
            truncated=len(found.body) > max_chars,
            metadata=found.metadata.get(_GIVEN),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return what an operation did, if it was carried out before."""
        done = await self._space.documents.written(_key(operation))
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
        """Create or replace a file, if it still has the version that was read."""
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
        """Create or replace a file, and keep metadata with this version of it."""
        _check(path)
        about = {**_about(path, operation), **_given(metadata)}
        if operation is not None and (done := await self.get_operation(operation)) is not None:
            return done
        found = await self._expected(path, expected_version)
        key = None if operation is None else _key(operation)
        try:
            if found is None:
                written = await self._files.create(path, content, key=key, about=about)
            else:
                written = await self._files.update(found, content, key=key, about=about)
        except Conflict as error:
            return await self._conflict(path, operation, error)
        return MemoryMutation(version=_version(written), replayed=False, existed=found is not None)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Delete a file, if it still has the version that was read. `space.forget` erases its versions."""
        _check(path)
        if operation is not None and (done := await self.get_operation(operation)) is not None:
            return done
        found = await self._expected(path, expected_version)
        if found is None:
            return MemoryMutation(version=None, replayed=False, existed=False)
        try:
            if operation is None:
                await self._files.delete(found)
            else:  # the last version says which operation ended the file: that is its receipt
                about = {**_about(path, operation), _DELETED: True}
                last = await self._files.update(found, found.body, about=about)
                await self._files.delete(last, key=_key(operation))
        except Conflict as error:
            return await self._conflict(path, operation, error)
        return MemoryMutation(version=None, replayed=False, existed=True)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return the paths of the files below a prefix, in order."""
        _check(prefix.removesuffix("/") or "any")
        _check_positive("limit", limit)
        listed = await self._files.listed(prefix)
        return sorted(path for path, size in listed.items() if size is not None)[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        """Find files of one folder by memory's own search, the best first, with the passages that were found."""
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        most = min(limit, max_files)
        found = await self._space.recall(
            query,
            kinds=[RefKind.DOCUMENT],
            where={_FOLDER: prefix.removesuffix("/")},
            limit=most + 1,
            budget=max(max_chars // _CHARS_OF_TOKEN, _LEAST_TOKENS),  # with one, a long file is cut to what was found
        )
        matches: list[MemorySearchMatch] = []
        left = max_chars
        for item in found.items[:most]:
            path = str(item.metadata[_PATH])
            left -= len(path.removeprefix(prefix))
            if left <= 0:
                break
            snippet = item.text[: min(left, max_file_chars)]
            left -= len(snippet)
            matches.append(MemorySearchMatch(path=path, snippet=snippet, score=item.score))
        return MemorySearchResult(matches=matches, scanned=len(matches), truncated=len(found.items) > len(matches))

    async def _expected(self, path: str, version: str | None) -> Document | None:
        """Return the file at a path, if that is the version that a caller read."""
        found = await self._files.read(path)
        if (None if found is None else _version(found)) != version:
            raise MemoryConflictError(f"memory path {path!r} was changed meanwhile")
        return found

    async def _conflict(self, path: str, operation: MemoryOperation | None, error: Conflict) -> MemoryMutation:
        """Say why a change was refused: another task carried it out, or changed the file."""
        if operation is not None and (done := await self.get_operation(operation)) is not None:
            return done
        if isinstance(error, (Stale, Duplicate)):
            raise MemoryConflictError(f"memory path {path!r} was changed meanwhile") from error
        raise error


def _about(path: str, operation: MemoryOperation | None) -> dict[str, object]:
    named: dict[str, object] = {_PATH: path, _FOLDER: path.rpartition("/")[0]}
    return named if operation is None else {**named, _OPERATION: operation.id, _FINGERPRINT: operation.fingerprint}


def _given(metadata: Mapping[str, str] | None) -> dict[str, object]:
    if not metadata:
        return {}
    if sum(len(name) + len(value) for name, value in metadata.items()) > _LONGEST:
        raise ValueError(f"memory metadata is longer than {_LONGEST} characters")
    return {_GIVEN: dict(metadata)}


def _key(operation: MemoryOperation) -> str:
    return f"notebook-{blake2b(operation.id.encode(), digest_size=20).hexdigest()}"


def _version(found: Document) -> str:
    """Return a name for a version: a file that is deleted and written anew has another one."""
    return f"{found.id}.{found.version}"


def _check(path: str) -> None:
    if not all(map(_STEP.fullmatch, path.split("/"))):
        raise ValueError(f"invalid memory path: {path!r}")


def _check_positive(name: str, value: int) -> None:
    if value <= 0:
        raise ValueError(f"{name} must be positive")
