"""Memory and `connect`: the entry point. A memory opens, closes, and returns handles on spaces."""

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from bethink.api.memory import MemoryVerbs
from bethink.api.space import Space
from bethink.config.settings import Settings, load_settings, settings_of, with_values
from bethink.errors import Invalid
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.host.backend import Backend, LocalBackend
from bethink.host.build import backend_from
from bethink.model.records import checked_name
from bethink.store.db import Clock, Database, system_clock

if TYPE_CHECKING:
    from bethink.api.spaces import Spaces
    from bethink.memory.archive.load import Loaded
    from bethink.memory.archive.sync import Synced
    from bethink.memory.working.ladder import Compactor
    from bethink.memory.working.process import Engine


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

    async def import_archive(self, path: Path | str, *, space: str | None = None, dry_run: bool = False) -> "Loaded":
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
        from bethink.memory.archive.load import load_archive  # noqa: PLC0415
        from bethink.memory.deletion.replay import replay  # noqa: PLC0415

        local = self._backend.local()
        database, record = local.database, local.record().of_everything("memory.import_archive")
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
        from bethink.memory.archive.sync import sync_space  # noqa: PLC0415 - few programs sync
        from bethink.memory.deletion.replay import replay  # noqa: PLC0415
        from bethink.memory.deletion.retract import retract_as_of  # noqa: PLC0415

        sides = self._backend.local(), other.backend.local()
        every = [checked_name(name, "a space") for name in names]
        for memory in (self, other) if not names else ():
            after = ""
            while page := await memory.list_spaces(limit=1_000, after=after):
                every += page
                after = page[-1]
        return [
            await sync_space(
                *(side.database for side in sides),
                space=name,
                forget_again=lambda tx, space: replay(tx, space=space, back=False),
                take_back=retract_as_of,
                records=[side.record().of_everything("memory.sync") for side in sides],
            )
            for name in sorted(set(every))
        ]

    def local(self) -> LocalBackend:
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


def connect(
    target: str | Path = "",
    *,
    key: str = "",
    timeout: float = 30.0,
    retries: int = 5,
    enabled: bool = True,
    model: Model | str | None = None,
    embedder: Embedder | str | None = None,
    tokens: Tokens | None = None,
    redactor: Redactor | None = None,
    engine: "Engine | None" = None,
    compactor: "Compactor | None" = None,
    clock: Clock = system_clock,
    settings: Settings | None = None,
    **arguments: object,
) -> Memory:
    """Return a Memory. Open it with `async with`.

    Args:
        target: A file, `:memory:`, a `postgresql://` address, the `shards://` address of a directory, or the
            `https://` address of a server. Without one, the settings decide; where they name no database either, it is
            the file that the command line uses.
        key: The key for a server; the setting `key` (BETHINK_KEY), if left out.
        timeout: Seconds to wait for a server: to connect, and then for each part of its answer. `learn` waits longer.
        retries: How many times to send a request to a server again where that is safe; 0 for never.
        enabled: Whether to store anything at all. A memory that is switched off finds nothing and never fails.
        model: A model, or its name such as `openai:gpt-5`. Without one, learning only quotes.
        embedder: An embedder, or its name such as `bge-small-en`. By default it is that of `bethink[local]`, if
            installed; without one, or with `none`, recall searches by words.
        tokens: Counts tokens; an estimate, if left out.
        redactor: Cuts secrets out of texts before they are stored.
        engine: The rules of working memory.
        compactor: Writes the summaries of working memory; the model does, if left out, and without one they quote.
        clock: Returns the current time, as an aware datetime.
        settings: Settings to use instead of the settings file and the environment. Other arguments come first.
        arguments: Single settings, by name.

    Raises:
        Misconfigured: for an unknown setting or a value that cannot be used.
    """
    address = str(target)
    is_server = address.startswith(("http://", "https://"))
    if isinstance(model, str):
        arguments["model"], model = model, None
    if isinstance(embedder, str):
        arguments["embedder"], embedder = embedder, None
    if not enabled:
        arguments["enabled"] = False
    if not is_server:
        arguments |= settings_of(address)
    settings = with_values(settings, arguments) if settings else load_settings(**arguments)  # pyright: ignore[reportArgumentType]
    if is_server and settings.enabled:
        # Imported here: only programs that call a server need the client.
        from bethink.host.remote.remote import Remote  # noqa: PLC0415

        return Memory(Remote(address, key=key or settings.key, timeout=timeout, retries=retries))
    return Memory(
        backend_from(
            settings,
            redactor=redactor,
            engine=engine,
            compactor=compactor,
            model=model,
            embedder=embedder,
            tokens=tokens,
            clock=clock,
        )
    )


def memory_from(
    settings: Settings,
    *,
    database: Database | None = None,
    redactor: Redactor | None = None,
    model: Model | None = None,
    embedder: Embedder | None = None,
) -> Memory:
    """Return the Memory that the settings describe, on their database or on the one passed in.

    Raises:
        Misconfigured: if a setting names something unknown.
    """
    return Memory(backend_from(settings, database=database, redactor=redactor, model=model, embedder=embedder))
