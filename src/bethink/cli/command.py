"""Options, target, output and errors that all commands share."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from bethink.base.frozen import frozen
from bethink.cli.results import Declined, ExitCode, Failure, Result, UsageError, result_of_error, show
from bethink.cli.terminal import OutputLine, columns, is_closed, is_terminal, release, write
from bethink.errors import ConfigurationError

if TYPE_CHECKING:  # loaded when a command needs it: --help must not wait for a database
    from bethink.api.connect import Memory
    from bethink.api.space import Space
    from bethink.cli.target import Target
    from bethink.config.settings import Settings

BodyT = TypeVar("BodyT", bound=Callable[..., Any])
Effect = Literal["reads", "changes", "deletes", "creates"]
"""The effect of a command on the database: `deletes` also names the space, `creates` may make the database."""

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Preview without changes.")]
DEFAULT_SPACE = "default"


@frozen
class SharedOptions:
    """The options that commands share."""

    space: str | None = None
    config: str | None = None
    database: str | None = None
    api_key: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def _text_option(flag: str, metavar: str, text: str, *, hidden: bool = True) -> tuple[Any, object]:
    return Annotated[str | None, typer.Option(flag, metavar=metavar, help=text, hidden=hidden)], None


def _flag(*names: str, text: str) -> tuple[Any, object]:
    return Annotated[bool, typer.Option(*names, help=text, hidden=True)], False


SHARED_OPTIONS: Mapping[str, tuple[Any, object]] = {
    "space": _text_option("--space", "NAME", "Space to use.  [default: this repository's, or 'default']", hidden=False),
    "config": _text_option("--config", "FILE", "Settings file.  [default: $BETHINK_CONFIG, or the user's]"),
    "database": _text_option(
        "--database", "URL", "Database file, postgresql:// or shards:// URL, or https:// URL of a server."
    ),
    "api_key": _text_option("--api-key", "KEY", "API key for a server.  [default: $BETHINK_API_KEY]"),
    "json": _flag("--json", text="Output as one JSON object: ok, data, error."),
    "quiet": _flag("--quiet", "-q", text="Hide notes and progress."),
    "verbose": _flag("--verbose", "-v", text="Show logs and tracebacks on stderr."),
}
"""All but --space are printed once, by 'bethink help options'."""
NO_SPACE = ("space",)
LOCAL = ("api_key",)
"""Options to leave out of commands that need a database on this machine."""
EPILOG = "Also: --database URL, --json, -q, -v and others. See 'bethink help options'."


@dataclass(slots=True, kw_only=True)
class CommandContext:
    """The first argument of every command: its shared options, its target and the open memory."""

    options: SharedOptions
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The options that several commands have, but not all."""
    _memory: "Memory | None" = field(default=None)
    _target: "Target | None" = field(default=None)
    _folder_space: str | None = field(default=None)
    _is_empty_list: bool = field(default=False)

    @property
    def space_name(self) -> str:
        """The name of the space in use."""
        return self.options.space or self._folder_space or DEFAULT_SPACE

    def check(self, *, local: bool) -> None:
        """Refuse, before anything is opened, an empty option, and a server where that cannot work."""
        values = {name: getattr(self.options, name) for name in ("space", "config", "database", "api_key")}
        names = self.more.get("space") or ()
        names = (names,) if isinstance(names, str) else names
        for name, value in (*values.items(), *(("space", name) for name in names)):
            if value is not None and not value.strip():
                raise UsageError(f"--{name.replace('_', '-')} is empty.", hint="Pass a value, or leave it out.")
        from bethink.cli.target import is_server  # noqa: PLC0415 - see above

        if local and is_server(self.options.database):
            raise UsageError(
                "This command needs a local database, not a server.",
                hint="Run it where the server runs, or pass a file or a postgresql:// URL with --database.",
            )

    @property
    def memory(self) -> "Memory":
        """The open memory."""
        if self._memory is None:
            raise ConfigurationError("This command does not open a memory.")
        return self._memory

    @property
    def space(self) -> "Space":
        """The space in use."""
        return self.memory.space(self.space_name)

    @property
    def target(self) -> "Target":
        """The settings and the database or server in use."""
        if self._target is None:
            from bethink.cli.target import find_target  # noqa: PLC0415 - see above

            self._target = find_target(self.options.config, self.options.database, self.options.api_key)
            self._apply_log_settings(self._target.settings)
        return self._target

    def log_as_service(self) -> None:
        """Log as a long-running service: JSON, unless the settings or --verbose say otherwise."""
        from bethink.base.log_lines import log_to_stderr  # noqa: PLC0415
        from bethink.providers.default_redactor import redactor_for  # noqa: PLC0415

        settings = self.target.settings
        level = "error" if self.options.quiet else settings.log.level or "info"
        form = settings.log.format or ("text" if self.options.verbose else "json")
        log_to_stderr(redactor_for(None, also=settings.redaction.personal_kinds), level=level, form=form)

    def _apply_log_settings(self, settings: "Settings") -> None:
        """Log as the settings say; without any, warnings are printed as they are."""
        if settings.log.level or settings.log.format:
            from bethink.base.log_lines import log_own_records  # noqa: PLC0415

            level = "error" if self.options.quiet else "info" if self.options.verbose else ""
            log_own_records(level=level or settings.log.level or "warning", form=settings.log.format or "text")

    def hint(self, text: str) -> str:
        """Return a text whose commands repeat the space, settings file and database that were named."""
        from bethink.cli.hints import repeat_options  # noqa: PLC0415 - see above

        names = self.options.space or self.more.get("space") or ()
        values = {"--space": names, "--config": self.options.config, "--database": self.options.database}
        return repeat_options(
            text, {flag: [value] if isinstance(value, str) else value or () for flag, value in values.items()}
        )

    def note(self, text: str) -> None:
        """Print a remark on stderr."""
        if not self.options.quiet:
            write([OutputLine(self.hint(text))], sys.stderr)

    def table(
        self, rows: Sequence[Sequence[str]], *, head: Sequence[str], all_spaces: bool = False
    ) -> list[OutputLine]:
        """Lay out a list. An empty one is noted on stderr: that of one space when it is known whether that is empty."""
        if not rows and all_spaces and not self.options.json:
            self.note("none")
        self._is_empty_list = not rows and not all_spaces
        return columns(rows, head=head) if rows else []

    async def empty_space_note(self, name: str = "") -> str:
        """Return the note for an empty space; nothing for another space."""
        from bethink.cli.empty_space import is_empty  # noqa: PLC0415 - see above

        name = name or self.space_name
        if not await is_empty(self.memory.space(name)):
            return ""
        return f"Space {name!r} is empty. Run 'bethink admin spaces' to list the spaces."

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask for confirmation. Without a terminal, --yes is required."""
        from bethink.cli.terminal import ask_yes  # noqa: PLC0415

        if yes:
            return
        if self.options.json or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            raise UsageError(
                "Without a terminal, this command needs --yes.", hint="Preview the changes with --dry-run first."
            )
        if not ask_yes(question):
            raise Declined("Nothing was changed.", hint="Answer y, or pass --yes.")

    async def run(
        self, body: Callable[..., Awaitable[Result]], values: Mapping[str, Any], effect: Effect, *, by_folder: bool
    ) -> Result:
        """Open the memory and run a command. Only a command that creates accepts a missing database."""
        if effect != "creates":
            self.target.must_exist()
        async with self.target.make() as self._memory:
            if by_folder and self.options.space is None and not self.more.get("space"):
                await self.use_folder_space(self._memory)
            if effect == "deletes" and self.options.space is None and self._folder_space is None:
                self.note(f"space: {self.space_name}")
            result = await body(self, **values)
            if self._is_empty_list and not self.options.json:
                self.note((by_folder and await self.empty_space_note()) or "none")
            return result

    async def use_folder_space(self, memory: "Memory") -> None:
        """Use the space of the repository around the working directory, if the database has one, and say so."""
        from bethink.cli.folder_space import find_folder_space  # noqa: PLC0415 - see above

        self._folder_space = await find_folder_space(memory)
        if self._folder_space is not None:
            self.note(f"space: {self._folder_space} (from this folder)")


def command(  # noqa: PLR0913 - each is a property of the command
    app: typer.Typer,
    name: str | None = None,
    *,
    effect: Effect = "reads",
    opens: bool = True,
    local: bool = False,
    by_folder: bool = True,
    without: Sequence[str] = (),
    protocol: bool = False,
    more: Mapping[str, tuple[Any, object]] = MappingProxyType({}),
) -> Callable[[BodyT], BodyT]:
    """Register a function as a command. It receives a `CommandContext` and the command's own parameters.

    The command has the shared options except those in `without`. With `local`, it refuses servers. With `by_folder`,
    its space is that of the repository it runs in, unless --space names one. With `protocol`, it never prints on
    stdout. The options in `more` reach it as `ctx.more`.
    """

    def wrap(body: BodyT) -> BodyT:
        own = list(inspect.signature(body, eval_str=True).parameters.values())[1:]
        omitted = (*without, *LOCAL) if local else without
        options_of = {**more, **{key: option for key, option in SHARED_OPTIONS.items() if key not in omitted}}
        has_space = by_folder and "space" in options_of
        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)
            for key, (hint, default) in options_of.items()
        ]

        def call(**values: Any) -> int:
            extra = {key: values.pop(key) for key in more}
            options = SharedOptions(**{key: values.pop(key) for key in SHARED_OPTIONS if key not in (*omitted, *more)})

            def work(ctx: CommandContext) -> Result:
                ctx.more = extra
                ctx.check(local=local)
                if not inspect.iscoroutinefunction(body):  # it runs an event loop of its own
                    return body(ctx, **values)
                if not opens:
                    return anyio_run(partial(body, ctx, **values))
                return anyio_run(partial(ctx.run, body, values, effect, by_folder=has_space))

            return finish(options, work, effect=effect, protocol=protocol)

        parameters = [*own, *shared]
        call.__signature__ = inspect.Signature(parameters)
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        call.__doc__ = body.__doc__
        app.command(name or body.__name__, epilog=EPILOG)(call)
        return body

    return wrap


def anyio_run(work: Callable[..., Awaitable[Result]], *arguments: Any) -> Result:
    """Run an async function to its end."""
    import anyio  # noqa: PLC0415 - see above

    return anyio.run(work, *arguments)


def finish(
    options: SharedOptions, work: Callable[[CommandContext], Result], *, effect: Effect, protocol: bool = False
) -> int:
    """Run a command, print its result or its error, and return the exit code.

    A closed pipe fails only a command that changes something.
    """
    if is_closed(sys.stdout) and not protocol:
        return _without_output("stdout is closed.", hint="Nothing was done. Send stdout to a file, or to /dev/null.")
    result = Result(code=ExitCode.FAILURE)
    try:
        result = _outcome(options, work)
        if not protocol or result.failure is not None:
            show(result, json=options.json, stream=sys.stderr if protocol else sys.stdout)
    except BrokenPipeError:
        release(sys.stdout)
        return ExitCode.OK if effect == "reads" else ExitCode.FAILURE
    except OSError as error:
        release(sys.stdout)
        hint = "Make room, or send stdout elsewhere."
        if effect != "reads" and result.code == ExitCode.OK:
            hint += " The command itself was carried out: check the result before you repeat it."
        return _without_output(f"Cannot write the output: {error.strerror or error}.", hint=hint)
    return result.code


def _without_output(message: str, *, hint: str) -> int:
    """Print on stderr that the result could not be printed. If stderr is closed, too, only the exit code says so."""
    if not is_closed(sys.stderr):
        with suppress(OSError):
            write([OutputLine(f"error: {message}", "red"), OutputLine(f"hint: {hint}")], sys.stderr)
    return ExitCode.FAILURE


def _outcome(options: SharedOptions, work: Callable[[CommandContext], Result]) -> Result:
    _escape_unencodable(sys.stdout)
    _escape_unencodable(sys.stderr)
    ctx = CommandContext(options=options)
    try:
        with _logging(options):
            return _with_hint(work(ctx), ctx)
    except KeyboardInterrupt:
        hint = "Everything that was acknowledged is stored. Run the command again to continue."
        failure = Failure(code="interrupted", message="Interrupted.", hint=hint)
        return Result(code=ExitCode.INTERRUPTED, failure=failure)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the outermost: every error becomes a message and an exit code
        if options.verbose:
            _show_trace(error)
        return _with_hint(result_of_error(error), ctx)


def _with_hint(result: Result, ctx: CommandContext) -> Result:
    """Let the commands in the hint of a failure repeat the options that were passed."""
    failure = result.failure
    return result if failure is None else replace(result, failure=replace(failure, hint=ctx.hint(failure.hint)))


def _escape_unencodable(stream: Any) -> None:
    # A character that the stream cannot encode must not fail a command that has done its work.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


@contextmanager
def _logging(options: SharedOptions) -> Generator[None]:
    """Set the level of Bethink's loggers while a command runs. The settings apply once they are read."""
    from bethink.base.log_lines import log_own_records, preserve_logger  # noqa: PLC0415
    from bethink.base.logs import logger  # noqa: PLC0415

    with preserve_logger():
        if options.verbose:
            log_own_records(level="info", form="text")
        elif options.quiet:
            logger().setLevel("ERROR")
        yield


def _show_trace(error: BaseException) -> None:
    import traceback  # noqa: PLC0415

    for part in traceback.format_exception(error):
        write([OutputLine(line) for line in part.rstrip("\n").split("\n")], sys.stderr)
