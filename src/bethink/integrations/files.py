"""Files that a model writes, stored as documents of a space, for tools and stores with paths.

Each file has versions, can be recalled, and counts as the assistant's statements. Characters that are not allowed in
a document path are escaped.
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

from bethink import Document, Space
from bethink.errors import ConflictError, DuplicateError, InvalidRequestError, NotFoundError
from bethink.types import DocumentDraft

_KIND, _FILE, _FOLDER, _SIZE = "kind", "file", "folder", "bytes"
_ODD = frozenset("%[]|~")


class DocumentFiles:
    """The files below one document of a space's tree, with paths such as `notes/tea.md`."""

    def __init__(self, space: Space, *, root: str = "files", agent: str = "assistant") -> None:
        """Use a document of the tree as the root.

        Args:
            space: The space of the files.
            root: The top-level document that contains the files. The first file creates it.
            agent: The author. Files count as this agent's statements, never the user's.
        """
        self._space = space
        self._root = root
        self._agent = agent

    async def find(self, path: str) -> Document | None:
        """Return a file or a folder, or None."""
        return await self._space.documents.find(self._address(path))

    async def read_file(self, path: str) -> Document | None:
        """Return a file with its text as `body` and its version, or None."""
        document = await self.find(path)
        return document if document is not None and is_file(document.metadata) else None

    async def list_paths(self, prefix: str = "", *, limit: int | None = None) -> dict[str, int | None]:
        """Return the paths below a prefix, in order, with the bytes of each file, or None for a folder."""
        address = f"~/{self._root}/" + "/".join(map(escape_name, prefix.split("/")))
        start = len(f"~/{self._root}/")
        documents = await self._space.documents.list(prefix=address, limit=limit)
        return {
            "/".join(map(unquote, document.path[start:].split("/"))): document.metadata.get(_SIZE)
            if is_file(document.metadata)
            else None
            for document in documents
        }

    async def create(
        self, path: str, text: str, *, key: str | None = None, about: Mapping[str, object] | None = None
    ) -> Document:
        """Write a new file and create its folders. `about` is metadata of this version.

        Raises:
            DuplicateError: if the path already exists.
            InvalidRequestError: if a part of the path is a file, or the text is too long.
        """
        *above, name = _steps(path)
        parent = await self._folder(above)
        draft = DocumentDraft(
            slug=escape_name(name), title=_title(name), body=text, parent=parent.id, metadata=_about(text, about)
        )
        return await self._space.documents.create(draft, agent=self._agent, idempotency_key=key)

    async def update(
        self, file: Document, text: str, *, key: str | None = None, about: Mapping[str, object] | None = None
    ) -> Document:
        """Write the next version of a file. Raises `VersionConflictError` if the file has changed since it was read."""
        draft = replace(file.draft(), body=text, metadata=_about(text, about))
        return await self._space.documents.update(
            file.id, draft, if_version=file.version, agent=self._agent, idempotency_key=key
        )

    async def move(self, document: Document, path: str) -> None:
        """Move a file or a folder. Raises `DuplicateError` if the path already exists."""
        *above, name = _steps(path)
        parent = await self._folder(above)
        draft = replace(document.draft(), slug=escape_name(name), title=_title(name), parent=parent.id)
        await self._space.documents.update(document.id, draft, if_version=document.version, agent=self._agent)

    async def delete(self, document: Document, *, key: str | None = None) -> None:
        """Delete a file, or a folder with its content. Versions stay until `space.forget` erases them."""
        for child in await self._space.documents.children(document.id):
            await self.delete(child)
        await self._space.documents.delete(
            document.id, if_version=document.version, missing_ok=True, idempotency_key=key
        )

    async def _folder(self, steps: list[str]) -> Document:
        """Return a folder. Create it and its parents if needed."""
        above: str | None = None
        path = ""
        folder: Document | None = None
        for name in ("", *steps):
            path = f"{path}/{name}" if path and name else path or name
            folder = await self.find(path) or await self._create_folder(name, above, path)
            if is_file(folder.metadata):
                raise InvalidRequestError(f"{path} is a file.", hint="Choose a path that does not go through a file.")
            above = folder.id
        if folder is None:
            raise NotFoundError(f"No folder {path!r}.")
        return folder

    async def _create_folder(self, name: str, above: str | None, path: str) -> Document:
        slug = escape_name(name) if name else self._root
        draft = DocumentDraft(slug=slug, title=_title(name or self._root), parent=above, metadata={_KIND: _FOLDER})
        try:
            return await self._space.documents.create(draft, agent=self._agent)
        except DuplicateError:  # another task created it in the meantime
            folder = await self.find(path)
            if folder is None:
                raise ConflictError(f"The folder {path!r} is being moved.", hint="Try again.") from None
            return folder

    def _address(self, path: str) -> str:
        return "/".join(("~", self._root, *map(escape_name, _steps(path, empty=True))))


def is_file(metadata: Mapping[str, object]) -> bool:
    """Return whether the metadata of a document marks it as a file."""
    return metadata.get(_KIND) == _FILE


def escape_name(name: str) -> str:
    """Escape a name for use in a path: special characters become `%` and their bytes."""
    last = len(name) - 1
    return "".join(
        "".join(f"%{byte:02X}" for byte in mark.encode("utf-8", "replace"))
        if mark in _ODD or not mark.isprintable() or (mark.isspace() and (mark != " " or index in (0, last)))
        else mark
        for index, mark in enumerate(name)
    )


def _steps(path: str, *, empty: bool = False) -> list[str]:
    steps = [step for step in path.split("/") if step]
    if not steps and not empty:
        raise InvalidRequestError("A file needs a name.", hint="Use a path such as notes/tea.md.")
    if any(not step.strip(".") for step in steps):
        raise InvalidRequestError(f"{path!r} is outside the folder of the files.", hint="Use names without . and ..")
    return steps


def _title(name: str) -> str:
    return (" ".join(name.split()) or "file")[:200]


def _about(text: str, more: Mapping[str, object] | None) -> dict[str, object]:
    return {**(more or {}), _KIND: _FILE, _SIZE: len(text.encode("utf-8", "replace"))}
