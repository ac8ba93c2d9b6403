"""`connect` and `Memory`, the entry points of Bethink."""

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from bethink.api.memory import MemoryOperations
from bethink.api.space import Space
from bethink.config.addresses import settings_of
from bethink.config.settings import Settings, load_settings, with_values
from bethink.errors import ConfigurationError, InvalidRequestError
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.host.backend import Backend
from bethink.host.build import backend_from
from bethink.model.records import checked_name
from bethink.store.db import Clock, Database, system_clock

if TYPE_CHECKING:
    from bethink.api.group import SpaceGroup
    from bethink.memory.working.ladder import Compactor
    from bethink.memory.working.process import Engine


_MAX_SPACES = 20


class Memory(MemoryOperations):
    """A memory in a file, in PostgreSQL or on a server. Open it with `async with`. Tasks can share one memory."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)

    async def open(self) -> None:
        """Open the database or the connection to a server. `async with` calls this."""
        await self._backend.open()

    async def close(self) -> None:
        """Finish running requests and release all connections. `async with` calls this at the end."""
        await self._backend.close()

    async def __aenter__(self) -> "Memory":
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    if not TYPE_CHECKING:  # a type checker reports `with` by itself

        def __enter__(self) -> None:
            raise TypeError("Use `async with bethink.connect(…)`, or `with bethink.sync.connect(…)`.")

        def __exit__(self, *_: object) -> None: ...

    @property
    def backend(self) -> Backend:
        """The backend that runs the requests."""
        return self._backend

    def space(self, name: str) -> Space:
        """Return a handle on a space. The first write creates the space.

        Args:
            name: Name of a user, project or team: 1 to 200 printable characters.

        Raises:
            InvalidRequestError: if the name is invalid.
        """
        return Space(self._backend, checked_name(name, "a space"))

    def group(self, *names: str) -> "SpaceGroup":
        """Return a handle that searches several spaces together, with one ranking and one budget.

        Each match names its space. On a server, the key must allow every space.

        Args:
            names: Names of 1 to 20 spaces. If scores are equal, matches of the space listed first come first.

        Raises:
            InvalidRequestError: if there are no names or more than 20, or a name is repeated or invalid.
        """
        from bethink.api.group import SpaceGroup  # noqa: PLC0415 - most programs search one space

        if not 1 <= len(names) <= _MAX_SPACES or len(set(names)) < len(names):
            hint = "List the spaces with memory.spaces.list()."
            raise InvalidRequestError(
                f"`group` takes 1 to {_MAX_SPACES} different spaces, got {len(set(names))} in {len(names)} names.",
                hint=hint,
            )
        return SpaceGroup(self._backend, tuple(checked_name(name, "a space") for name in names))

    async def run_worker(self) -> None:
        """Run background jobs until canceled. Any number of processes can run a worker.

        Raises:
            DatabaseUnavailableError: if learning is disabled, or the memory is on a server.
        """
        await self._backend.local().worker().run()


def connect(
    target: str | Path = "",
    *,
    api_key: str = "",
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
    """Return a memory in a file, in PostgreSQL or on a server. Open it with `async with`.

    Args:
        target: A file, `:memory:`, a `postgresql://` address, the `shards://` address of a directory, or the
            `https://` address of a server (default: the database of the settings, or the file of the command line).
        api_key: API key of a server (default: the setting `api_key`, BETHINK_API_KEY).
        timeout: Seconds to wait for the connection to a server and for each part of its response (default 30).
            Calls that wait for learning or a model take longer.
        retries: Maximum number of retries of a request to a server, if a retry is safe (default 5).
        enabled: Whether memory is on (default True). If off, nothing is stored and searches return no matches.
        model: A model, or its name such as `openai:gpt-5` (default: the setting `model`). Without a model,
            Bethink stores and searches messages only.
        embedder: An embedder, or its name such as `bge-small-en` (default: the embedder of `bethink[local]`, if
            installed). Without one, or with `none`, recall searches by words.
        tokens: Token counter (default: an estimate).
        redactor: Removes secrets from text before storage (default: the built-in redactor).
        engine: Rules of working memory (default: the built-in rules).
        compactor: Summarizes working memory (default: the model, or quotes without a model).
        clock: Returns the current time as an aware datetime (default: the system clock).
        settings: Settings that replace the settings file and the environment. Other arguments take precedence.
        arguments: Further settings by name.

    Raises:
        ConfigurationError: if a setting is unknown or a value is invalid, or only a server can have it.
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
    setting_names = {name for name in arguments if name != "enabled"}
    settings = with_values(settings, arguments) if settings else load_settings(**arguments)  # pyright: ignore[reportArgumentType]
    if is_server:
        parts = {
            "model": model, "embedder": embedder, "tokens": tokens, "redactor": redactor, "engine": engine,
            "compactor": compactor,
        }  # fmt: skip
        _check_client_arguments(setting_names | {name for name, part in parts.items() if part is not None})
    if is_server and settings.enabled:
        # Only programs that call a server need the client.
        from bethink.host.remote.remote import Remote  # noqa: PLC0415

        return Memory(Remote(address, key=api_key or settings.api_key, timeout=timeout, retries=retries))
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


def _check_client_arguments(names: set[str]) -> None:
    if names:
        raise ConfigurationError(
            f"Only the server can have these settings: {', '.join(f'`{name}`' for name in sorted(names))}.",
            hint="Omit them here, and set them on the server.",
        )


def memory_from(
    settings: Settings,
    *,
    database: Database | None = None,
    redactor: Redactor | None = None,
    model: Model | None = None,
    embedder: Embedder | None = None,
) -> Memory:
    """Return a memory with these settings, on their database or on `database`.

    Raises:
        ConfigurationError: if a setting has an invalid value.
    """
    return Memory(backend_from(settings, database=database, redactor=redactor, model=model, embedder=embedder))
