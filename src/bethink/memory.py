"""Memory: the entry point. It opens, closes, and returns handles on spaces."""

from types import TracebackType
from typing import TYPE_CHECKING

from bethink.api.memory import MemoryVerbs
from bethink.api.space import Space
from bethink.errors import Invalid
from bethink.handles import Backend
from bethink.model.records import checked_name

if TYPE_CHECKING:
    from pathlib import Path

    from bethink.api.keys import Keys
    from bethink.api.spaces import Spaces
    from bethink.api.webhooks import Webhooks
    from bethink.archive.load import Loaded
    from bethink.archive.sync import Synced
    from bethink.backend import Local


_MOST_SPACES = 20


class Memory(MemoryVerbs):
    """A memory in a file, in PostgreSQL or on a server. Open it with `async with`; share it between tasks."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)

    async def open(self) -> None:
        """Open the database, or prepare to call the server. Entering an `async with` block does this."""
        await self._backend.open()

    async def close(self) -> None:
        """Finish what is running and release every connection. Leaving an `async with` block does this."""
        await self._backend.close()

    async def __aenter__(self) -> "Memory":
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def backend(self) -> Backend:
        """The backend that carries out the requests."""
        return self._backend

    @property
    def keys(self) -> "Keys":
        """The API keys that give callers of a server access to this memory."""
        from bethink.api.keys import Keys  # noqa: PLC0415 - only servers have keys

        return Keys(self._backend)

    @property
    def webhooks(self) -> "Webhooks":
        """The webhooks that are told of changes."""
        from bethink.api.webhooks import Webhooks  # noqa: PLC0415 - few programs have any

        return Webhooks(self._backend)

    def space(self, name: str) -> Space:
        """Return a handle on a space. A space is created when something is first stored in it.

        Args:
            name: The name of an end user, a project or a team: 1 to 200 printable characters.

        Raises:
            Invalid: for any other name.
        """
        return Space(self._backend, checked_name(name, "a space"))

    def spaces(self, *names: str) -> "Spaces":
        """Return a handle that asks several spaces together: one ranking, one budget, each item with its space.

        On a server, each space is asked under its own right: one that the key may not read is an error that names it.

        Args:
            names: The names of 1 to 20 spaces. Where two items rank alike, the space named first comes first.

        Raises:
            Invalid: for another number of names, a name given twice, or one that no space can have.
        """
        from bethink.api.spaces import Spaces  # noqa: PLC0415 - most programs ask one space

        if not 1 <= len(names) <= _MOST_SPACES or len(set(names)) < len(names):
            hint = "List the names of all spaces with list_spaces."
            raise Invalid(f"name 1 to {_MOST_SPACES} different spaces.", hint=hint)
        return Spaces(self._backend, tuple(checked_name(name, "a space") for name in names))

    async def import_archive(self, path: "Path | str", *, space: str | None = None, dry_run: bool = False) -> "Loaded":
        """Read an archive into a space, which must be empty or hold a part of it: then the rest is stored.

        It is checked as a whole before anything is stored. What this memory has forgotten is forgotten again. It needs
        a database in this process.

        Args:
            path: The file that `export_archive` wrote.
            space: The space to store it in; that of the archive, if left out.
            dry_run: Only check it.

        Raises:
            Corrupt: for a damaged archive, with the file and the line.
            Conflict: if the space holds anything that is not in the archive.
        """
        from pathlib import Path  # noqa: PLC0415 - few programs import

        from bethink.archive.load import load_archive  # noqa: PLC0415
        from bethink.forgetting.replay import replay  # noqa: PLC0415

        local = self._backend.local()
        database, record = local.parts.database, local.record().of_everything("memory.import_archive")
        name = None if space is None else checked_name(space, "a space")
        loaded = await load_archive(database, Path(path), space=name, dry_run=dry_run, record=record)
        if not dry_run:
            await database.transact(lambda tx: replay(tx, space=loaded.space), space=loaded.space)
        return loaded

    async def sync(self, other: "Memory", *names: str) -> "list[Synced]":
        """Exchange with another memory what each lacks. Both have the same afterwards, archives byte for byte.

        Where both changed the same fact or document, the later version holds and the other stands below it; where
        both went on with a session, their messages follow one another. What one has forgotten, the other forgets. It
        needs both databases in this process.

        Args:
            other: The other memory, open as well.
            names: The spaces to sync; all that either of them has, if none is named.

        Raises:
            Busy: if a space kept changing meanwhile. Run it again.
            UnderLegalHold: if a legal hold stands on a space on either side, as the other may have forgotten of it.
        """
        from bethink.archive.sync import sync_space  # noqa: PLC0415 - few programs sync
        from bethink.forgetting.replay import replay  # noqa: PLC0415
        from bethink.forgetting.retract import retract_as_of  # noqa: PLC0415

        sides = self._backend.local(), other.backend.local()
        every = [checked_name(name, "a space") for name in names]
        for memory in (self, other) if not names else ():
            after = ""
            while page := await memory.list_spaces(limit=1_000, after=after):
                every += page
                after = page[-1]
        return [
            await sync_space(
                *(side.parts.database for side in sides),
                space=name,
                forget_again=lambda tx, space: replay(tx, space=space, back=False),
                take_back=retract_as_of,
                records=[side.record().of_everything("memory.sync") for side in sides],
            )
            for name in sorted(set(every))
        ]

    def local(self) -> "Local":
        """Return what only works with a database in this process: histories, marks, vectors, working memory.

        Raises:
            Unavailable: for a memory on a server, or one that is switched off.
        """
        return self._backend.local()

    async def work(self) -> None:
        """Learn from everything that is marked from now on, until cancelled. Any number of processes may do this.

        Raises:
            Unavailable: if there is nothing to learn from in this process.
        """
        await self._backend.local().worker().run()
