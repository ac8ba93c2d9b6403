"""What every command shares: its options, the memory it opens, its output, its errors and its exit code."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, TypeVar, cast

import typer

from bethink.base.frozen import frozen
from bethink.cli.terminal import OutputLine, columns, is_closed, is_terminal, printable, release, to_json, write
from bethink.errors import BethinkError, Denied, Invalid, Misconfigured, NotFound

if TYPE_CHECKING:  # loaded when a command needs it: --help must not wait for a database
    from bethink.api.connect import Memory
    from bethink.api.space import Space
    from bethink.cli.target import Target
    from bethink.config.settings import Settings

BodyT = TypeVar("BodyT", bound=Callable[..., Any])
Effect = Literal["reads", "changes", "creates"]
"""Whether a command only reads, changes what is stored, or may also create the database."""

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")]


class ExitCode(IntEnum):
    """What the exit code of a command means."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFIGURATION = 4
    PARTIAL = 5
    INTERRUPTED = 130


class UsageError(BethinkError):
    """The arguments of a command cannot be used as they are."""


class Declined(BethinkError):
    """The user answered no."""


@frozen
class Failure:
    """What went wrong: a code for programs, a message for people, and the next step."""

    code: str
    message: str
    hint: str = ""


@frozen
class Result:
    """What a command returns: data for --json, lines for people, and a failure where not everything went well."""

    data: Any = None
    lines: Sequence[OutputLine] = ()
    code: ExitCode = ExitCode.OK
    failure: Failure | None = None


@frozen
class SharedOptions:
    """The options that commands share."""

    space: str | None = None
    config: str | None = None
    database: str | None = None
    key: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def _text_option(flag: str, metavar: str, text: str) -> tuple[Any, object]:
    return Annotated[str | None, typer.Option(flag, metavar=metavar, help=text)], None


def _flag(*names: str, text: str) -> tuple[Any, object]:
    return Annotated[bool, typer.Option(*names, help=text)], False


SHARED_OPTIONS: Mapping[str, tuple[Any, object]] = {
    "space": _text_option("--space", "NAME", "The space to use.  [default: default]"),
    "config": _text_option("--config", "FILE", "The settings file."),
    "database": _text_option(
        "--database", "TARGET", "A file, a postgresql:// or shards:// address, or the https:// address of a server."
    ),
    "key": _text_option("--key", "KEY", "The API key for a server.  [default: $BETHINK_KEY]"),
    "json": _flag("--json", text="Print JSON: ok, data, error."),
    "quiet": _flag("--quiet", "-q", text="Print no notes and no progress."),
    "verbose": _flag("--verbose", "-v", text="Show the log, and the traceback of an error."),
}
NO_SPACE = ("space",)
LOCAL = ("key",)
"""Options to leave out of commands that need a database on this machine."""


@dataclass(slots=True, kw_only=True)
class CommandContext:
    """What a command is given: its shared options, its target and the open memory."""

    options: SharedOptions
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The options that several commands have, but not all."""
    _memory: "Memory | None" = field(default=None)
    _target: "Target | None" = field(default=None)

    @property
    def space_name(self) -> str:
        """The name of the space in use."""
        return self.options.space or "default"

    def check(self, *, local: bool) -> None:
        """Refuse, before anything is opened, an empty option, and a server where that cannot work."""
        given = {name: getattr(self.options, name) for name in ("space", "config", "database", "key")}
        several = [("space", each) for each in self.more.get("space") or ()]
        for name, value in (*given.items(), *several):
            if value is not None and not value.strip():
                raise UsageError(f"--{name} is empty.", hint="Give it a value, or leave it out.")
        from bethink.cli.target import is_server  # noqa: PLC0415 - see above

        if local and is_server(self.options.database):
            raise UsageError(
                "this command needs a local database, not a server.",
                hint="Run it where the server runs, or give a file or a postgresql:// address with --database.",
            )

    @property
    def memory(self) -> "Memory":
        """The open memory."""
        if self._memory is None:
            raise Misconfigured("this command opens no memory.")
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

            self._target = find_target(self.options.config, self.options.database, self.options.key)
            self._log_as_set(self._target.settings)
        return self._target

    def log_as_service(self) -> None:
        """Log as something that runs until it is stopped, for a machine to read unless the settings say otherwise."""
        from bethink.base.log_lines import to_stderr  # noqa: PLC0415
        from bethink.providers.default_redactor import redactor_for  # noqa: PLC0415

        settings = self.target.settings
        level = "error" if self.options.quiet else settings.log.level or "info"
        form = settings.log.format or ("text" if self.options.verbose else "json")
        to_stderr(redactor_for(None, also=settings.redaction.personal_kinds), level=level, form=form)

    def _log_as_set(self, settings: "Settings") -> None:
        """Log as the settings say; where they say nothing, warnings are printed as they are."""
        if settings.log.level or settings.log.format:
            from bethink.base.log_lines import log_ours  # noqa: PLC0415

            asked = "error" if self.options.quiet else "info" if self.options.verbose else ""
            log_ours(level=asked or settings.log.level or "warning", form=settings.log.format or "text")

    def note(self, text: str) -> None:
        """Print a remark on stderr."""
        if not self.options.quiet:
            write([OutputLine(text)], sys.stderr)

    def table(self, rows: Sequence[Sequence[str]], *, head: Sequence[str]) -> list[OutputLine]:
        """Lay out a list, and note it on stderr if the list is empty."""
        if not rows and not self.options.json:
            self.note("none")
        return columns(rows, head=head) if rows else []

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before going on. Without a terminal, --yes is required."""
        from bethink.cli.terminal import ask_yes  # noqa: PLC0415

        if yes:
            return
        if self.options.json or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            raise UsageError("this needs --yes without a terminal.", hint="Preview the changes with --dry-run first.")
        if not ask_yes(question):
            raise Declined("nothing was changed.", hint="Answer y, or pass --yes.")

    async def run(self, body: Callable[..., Awaitable[Result]], given: Mapping[str, Any], effect: Effect) -> Result:
        """Open the memory and run a command. Only a command that creates may find no database."""
        if effect != "creates":
            self.target.must_exist()
        async with self.target.make() as self._memory:
            return await body(self, **given)


def command(
    app: typer.Typer,
    name: str | None = None,
    *,
    effect: Effect = "reads",
    opens: bool = True,
    local: bool = False,
    without: Sequence[str] = (),
    protocol: bool = False,
    more: Mapping[str, tuple[Any, object]] = MappingProxyType({}),
) -> Callable[[BodyT], BodyT]:
    """Register a function as a command. It is given a `CommandContext` and the command's own parameters.

    The command has the shared options except those in `without`. With `local`, it refuses servers. With `protocol`,
    it never prints on stdout. The options in `more` reach it as `ctx.more`.
    """

    def wrap(body: BodyT) -> BodyT:
        own = list(inspect.signature(body, eval_str=True).parameters.values())[1:]
        left_out = (*without, *LOCAL) if local else without
        options_of = {**more, **{key: each for key, each in SHARED_OPTIONS.items() if key not in left_out}}
        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)
            for key, (hint, default) in options_of.items()
        ]

        def call(**given: Any) -> int:
            extra = {key: given.pop(key) for key in more}
            options = SharedOptions(**{key: given.pop(key) for key in SHARED_OPTIONS if key in given})

            def work(ctx: CommandContext) -> Result:
                ctx.more = extra
                ctx.check(local=local)
                if not inspect.iscoroutinefunction(body):  # it runs an event loop of its own
                    return body(ctx, **given)
                return anyio_run(ctx.run, body, given, effect) if opens else anyio_run(partial(body, ctx, **given))

            return finish(options, work, effect=effect, protocol=protocol)

        parameters = [*own, *shared]
        call.__signature__ = inspect.Signature(parameters)
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        call.__doc__ = body.__doc__
        app.command(name or body.__name__)(call)
        return body

    return wrap


def anyio_run(work: Callable[..., Awaitable[Result]], *given: Any) -> Result:
    """Run an async function to its end."""
    import anyio  # noqa: PLC0415 - see above

    return anyio.run(work, *given)


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
            hint += " The command itself was carried out: look before you repeat it."
        return _without_output(f"the output could not be written: {error.strerror or error}.", hint=hint)
    return result.code


def _without_output(message: str, *, hint: str) -> int:
    """Say on stderr that the result could not be printed. If stderr is closed, too, only the exit code tells."""
    if not is_closed(sys.stderr):
        with suppress(OSError):
            write([OutputLine(f"error: {message}", "red"), OutputLine(f"hint: {hint}")], sys.stderr)
    return ExitCode.FAILURE


def _outcome(options: SharedOptions, work: Callable[[CommandContext], Result]) -> Result:
    _escape_unencodable(sys.stdout)
    _escape_unencodable(sys.stderr)
    try:
        with _logging(options):
            return work(CommandContext(options=options))
    except KeyboardInterrupt:
        hint = "Everything that was acknowledged is stored. Run the command again to continue."
        failure = Failure(code="interrupted", message="interrupted.", hint=hint)
        return Result(code=ExitCode.INTERRUPTED, failure=failure)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the outermost: every error becomes a message and an exit code
        if options.verbose:
            _show_trace(error)
        return failed(error)


def _escape_unencodable(stream: Any) -> None:
    # A character that the stream cannot encode must not fail a command that has done its work.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


@contextmanager
def _logging(options: SharedOptions) -> Generator[None]:
    """Set the level of Bethink's loggers while a command runs. What the settings say comes once they are read."""
    from bethink.base.log_lines import kept, log_ours  # noqa: PLC0415
    from bethink.base.logs import logger  # noqa: PLC0415

    with kept():
        if options.verbose:
            log_ours(level="info", form="text")
        elif options.quiet:
            logger().setLevel("ERROR")
        yield


def _show_trace(error: BaseException) -> None:
    import traceback  # noqa: PLC0415

    for part in traceback.format_exception(error):
        write([OutputLine(line) for line in part.rstrip("\n").split("\n")], sys.stderr)


def show(result: Result, *, json: bool, stream: TextIO | None = None) -> None:
    """Print a result: one JSON object, or lines on stdout and the failure on stderr."""
    out = stream or sys.stdout
    failure = result.failure
    if json:
        error = failure and {"code": failure.code, "message": failure.message, "hint": failure.hint}
        out.write(f"{to_json({'ok': result.code == ExitCode.OK, 'data': result.data, 'error': error}, out)}\n")
    else:
        write(result.lines, out)
    out.flush()
    if failure is not None and not json:
        write([OutputLine(f"error: {_flat(failure.message)}", "red")], sys.stderr)
        if failure.hint:
            write([OutputLine(f"hint: {_flat(failure.hint)}")], sys.stderr)


def _flat(text: str) -> str:
    return printable(" ".join(text.split("\n")))


_SYSTEM: Mapping[type, ExitCode] = {
    FileNotFoundError: ExitCode.NOT_FOUND,
    PermissionError: ExitCode.CONFIGURATION,
    NotADirectoryError: ExitCode.CONFIGURATION,
}


def failed(error: BaseException) -> Result:
    """Turn an exception into a result: its message, the next step, and its exit code."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, BethinkError):
        message = Exception.__str__(error)  # without the hint, which has its own line
        return Result(code=_code_of(error), failure=Failure(code=_name_of(error), message=message, hint=error.hint))
    if isinstance(error, OSError):
        what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error.strerror or error)
        failure = Failure(code="system", message=what, hint="Check the path and its permissions.")
        return Result(code=_SYSTEM.get(type(error), ExitCode.FAILURE), failure=failure)
    message = f"unexpected {type(error).__name__}: {error}"
    hint = "This is a bug in Bethink. Run the command again with --verbose, and report the output."
    return Result(code=ExitCode.FAILURE, failure=Failure(code="unexpected", message=message, hint=hint))


def _code_of(error: BethinkError) -> ExitCode:
    if isinstance(error, NotFound):
        return ExitCode.NOT_FOUND
    if isinstance(error, (Misconfigured, Denied)):
        return ExitCode.CONFIGURATION
    return ExitCode.USAGE if isinstance(error, (Invalid, UsageError)) else ExitCode.FAILURE


def _name_of(error: BethinkError) -> str:
    name = "Usage" if isinstance(error, UsageError) else type(error).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
