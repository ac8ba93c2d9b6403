"""Files that a model writes, kept as documents of a space: what tools and stores with paths are made of.

Each file has its versions, can be recalled, and is the assistant's word. Names are free: what no part of a path can
have is escaped.
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

from bethink import Document, DocumentDraft, Space
from bethink.errors import Conflict, Duplicate, Invalid, NotFound

_KIND, _FILE, _FOLDER, _SIZE = "kind", "file", "folder", "bytes"
_ODD = frozenset("%[]|~")


class Files:
    """The files below one place of a space's tree, named by paths such as `notes/tea.md`."""

    def __init__(self, space: Space, *, root: str = "files", agent: str = "assistant") -> None:
        """Use a place of the tree.

        Args:
            space: The space that they belong to.
            root: The document at the top of the tree that they stand below. It is made with the first file.
            agent: Who writes: what is written is this agent's word, never the user's.
        """
        self._space = space
        self._root = root
        self._agent = agent

    async def find(self, path: str) -> Document | None:
        """Return a file or a folder; None if there is none."""
        return await self._space.documents.find(self._address(path))

    async def read(self, path: str) -> Document | None:
        """Return a file, with its text as `body` and its version; None if there is none."""
        found = await self.find(path)
        return found if found is not None and is_file(found.metadata) else None

    async def listed(self, prefix: str = "", *, limit: int | None = None) -> dict[str, int | None]:
        """Return what is below a prefix of paths, in their order: the bytes of each file, None for a folder."""
        address = f"~/{self._root}/" + "/".join(map(escaped, prefix.split("/")))
        start = len(f"~/{self._root}/")
        found = await self._space.documents.tree(path_prefix=address, limit=limit)
        return {
            "/".join(map(unquote, path[start:].split("/"))): each.metadata.get(_SIZE)
            if is_file(each.metadata)
            else None
            for path, each in found.items()
        }

    async def create(
        self, path: str, text: str, *, key: str | None = None, about: Mapping[str, object] | None = None
    ) -> Document:
        """Write a new file, and the folders that it stands in. `about` is metadata of this version.

        Raises:
            Duplicate: if there is something with this name.
            Invalid: if a part of the path is a file, or the text is too long.
        """
        *above, name = _steps(path)
        parent = await self._folder(above)
        draft = DocumentDraft(
            slug=escaped(name), title=_title(name), body=text, parent=parent.id, metadata=_about(text, about)
        )
        return await self._space.documents.create(draft, agent=self._agent, idempotency_key=key)

    async def update(
        self, file: Document, text: str, *, key: str | None = None, about: Mapping[str, object] | None = None
    ) -> Document:
        """Write the next version of a file. Raises `Stale` if it is no longer the version that was read."""
        draft = replace(file.draft(), body=text, metadata=_about(text, about))
        return await self._space.documents.update(
            file.id, draft, expected=file.version, agent=self._agent, idempotency_key=key
        )

    async def move(self, found: Document, path: str) -> None:
        """Give a file or a folder another path. Raises `Duplicate` if that is taken."""
        *above, name = _steps(path)
        parent = await self._folder(above)
        draft = replace(found.draft(), slug=escaped(name), title=_title(name), parent=parent.id)
        await self._space.documents.update(found.id, draft, expected=found.version, agent=self._agent)

    async def delete(self, found: Document, *, key: str | None = None) -> None:
        """End a file, or a folder with all that is in it. Versions stay; `space.forget` erases them."""
        for child in await self._space.documents.children(found.id):
            await self.delete(child)
        await self._space.documents.delete(found.id, expected=found.version, missing_ok=True, idempotency_key=key)

    async def _folder(self, steps: list[str]) -> Document:
        """Return a folder, making it and those above it if needed."""
        above: str | None = None
        path = ""
        found: Document | None = None
        for name in ("", *steps):
            path = f"{path}/{name}" if path and name else path or name
            found = await self.find(path) or await self._made(name, above, path)
            if is_file(found.metadata):
                raise Invalid(f"{path} is a file.", hint="Choose a path that does not go through a file.")
            above = found.id
        if found is None:
            raise NotFound(f"no folder {path!r}.")
        return found

    async def _made(self, name: str, above: str | None, path: str) -> Document:
        slug = escaped(name) if name else self._root
        draft = DocumentDraft(slug=slug, title=_title(name or self._root), parent=above, metadata={_KIND: _FOLDER})
        try:
            return await self._space.documents.create(draft, agent=self._agent)
        except Duplicate:  # another task made it meanwhile
            found = await self.find(path)
            if found is None:
                raise Conflict(f"the folder {path!r} is being moved.", hint="Try again.") from None
            return found

    def _address(self, path: str) -> str:
        return "/".join(("~", self._root, *map(escaped, _steps(path, empty=True))))


def is_file(metadata: Mapping[str, object]) -> bool:
    """Return whether the metadata of a document says that it is a file."""
    return metadata.get(_KIND) == _FILE


def escaped(name: str) -> str:
    """Return a name as a part of a path can have it: odd characters become `%` and their bytes."""
    last = len(name) - 1
    return "".join(
        "".join(f"%{byte:02X}" for byte in mark.encode("utf-8", "replace"))
        if mark in _ODD or not mark.isprintable() or (mark.isspace() and (mark != " " or place in (0, last)))
        else mark
        for place, mark in enumerate(name)
    )


def _steps(path: str, *, empty: bool = False) -> list[str]:
    steps = [step for step in path.split("/") if step]
    if not steps and not empty:
        raise Invalid("a file needs a name.", hint="Use a path such as notes/tea.md.")
    if any(not step.strip(".") for step in steps):
        raise Invalid(f"{path!r} leads out of its place.", hint="Use names only, without . and ..")
    return steps


def _title(name: str) -> str:
    return (" ".join(name.split()) or "file")[:200]


def _about(text: str, more: Mapping[str, object] | None) -> dict[str, object]:
    return {**(more or {}), _KIND: _FILE, _SIZE: len(text.encode("utf-8", "replace"))}
