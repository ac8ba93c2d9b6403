"""The frame around every command: its common options, the memory it opens, its answer or error, its exit code."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, TypeVar, cast

import typer

from bethink.cli.terminal import Line, columns, is_terminal, let_go, shown, to_json, write
from bethink.errors import BethinkError, Invalid, Misconfigured, NotFound

if TYPE_CHECKING:  # loaded when a command needs it: --help must not wait for a database
    from bethink.cli.place import Place
    from bethink.memory import Memory

BodyT = TypeVar("BodyT", bound=Callable[..., Any])
Does = Literal["reads", "changes", "makes"]
"""Whether a command only reads, changes what is stored, or may also make the database that is to hold it."""

SPACE = ("space", "user_id")


class Code(IntEnum):
    """What the exit code of a command says."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFIGURATION = 4
    PARTIAL = 5
    INTERRUPTED = 130


class Usage(BethinkError):
    """The command was called in a way it cannot be."""


class Declined(BethinkError):
    """Somebody was asked and said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What went wrong, as people and programs are told."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command gives back: data for programs, lines for people, and what was wrong where not all went well."""

    data: Any = None
    lines: Sequence[Line] = ()
    code: Code = Code.OK
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The options that commands share."""

    space: str | None = None
    user_id: str | None = None
    config: str | None = None
    database: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False


COMMON: Mapping[str, tuple[Any, object]] = {
    "space": (
        Annotated[str | None, typer.Option("--space", metavar="NAME", help="Whose memory.  [default: default]")],
        None,
    ),
    "user_id": (Annotated[str | None, typer.Option("--user-id", metavar="NAME", help="The same as --space.")], None),
    "config": (Annotated[str | None, typer.Option("--config", metavar="FILE", help="Settings to read.")], None),
    "database": (
        Annotated[str | None, typer.Option("--database", metavar="TARGET", help="A file, or postgresql://….")],
        None,
    ),
    "json": (Annotated[bool, typer.Option("--json", help="Answer in JSON: ok, data, error.")], False),
    "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")], False),
    "verbose": (Annotated[bool, typer.Option("--verbose", "-v", help="Show the log, and where an error is.")], False),
}


@dataclass(slots=True, kw_only=True)
class Door:
    """What a command's body is given: the options, and the memory where it asked for one."""

    common: Common
    _memory: "Memory | None" = field(default=None)
    _place: "Place | None" = field(default=None)

    @property
    def space(self) -> str:
        """Whose memory the command is about."""
        if self.common.space and self.common.user_id:
            raise Usage("--space and --user-id are two words for one thing.", hint="Give one of them.")
        return self.common.space or self.common.user_id or "default"

    def check(self) -> None:
        """Refuse, before anything is opened, an option without a value and two words for one thing."""
        for name in (*SPACE, "config", "database"):
            value = getattr(self.common, name)
            if value is not None and not value.strip():
                raise Usage(f"--{name.replace('_', '-')} is empty.", hint="Give it a value, or leave it out.")
        _ = self.space

    @property
    def memory(self) -> "Memory":
        """The memory, open."""
        if self._memory is None:
            raise Misconfigured("this command opens no memory.")
        return self._memory

    @property
    def place(self) -> "Place":
        """Where the settings and the database are, found once."""
        if self._place is None:
            from bethink.cli.place import find_place  # noqa: PLC0415 - see above

            self._place = find_place(self.common.config, self.common.database)
        return self._place

    def note(self, text: str) -> None:
        """Say something beside the data, on stderr."""
        if not self.common.quiet:
            write([Line(text)], sys.stderr)

    def table(self, rows: Sequence[Sequence[str]], *, head: Sequence[str]) -> list[Line]:
        """Lay out a list; that it is empty is said beside the data."""
        if not rows and not self.common.json:
            self.note("none")
        return columns(rows, head=head) if rows else []

    def confirm(self, question: str, *, yes: bool) -> None:
        """Go on only if somebody says yes; where nobody can be asked, only with --yes."""
        from bethink.cli.terminal import ask_yes  # noqa: PLC0415

        if yes:
            return
        if self.common.json or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            raise Usage("this needs --yes where nobody can be asked.", hint="Look with --dry-run first.")
        if not ask_yes(question):
            raise Declined("nothing was done.", hint="Answer y, or give --yes.")

    async def run(self, body: Callable[..., Awaitable[Answer]], given: Mapping[str, Any], does: Does) -> Answer:
        """Open the memory, which must be there unless the command may make it, and run the body."""
        if does != "makes":
            self.place.must_exist()
        async with self.place.make() as self._memory:
            return await body(self, **given)


def command(
    app: typer.Typer,
    name: str | None = None,
    *,
    does: Does = "reads",
    opens: bool = True,
    without: Sequence[str] = (),
    protocol: bool = False,
) -> Callable[[BodyT], BodyT]:
    """Make a command of a function of a `Door` and the command's own parameters; most are async.

    It has the shared options except those `without`. With `protocol`, stdout is not for answers.
    """

    def wrap(body: BodyT) -> BodyT:
        own = list(inspect.signature(body, eval_str=True).parameters.values())[1:]
        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)
            for key, (hint, default) in COMMON.items()
            if key not in without
        ]

        def call(**given: Any) -> int:
            common = Common(**{key: given.pop(key) for key in COMMON if key in given})

            def work(door: Door) -> Answer:
                if not inspect.iscoroutinefunction(body):  # it runs an event loop of its own
                    return body(door, **given)
                return anyio_run(door.run, body, given, does) if opens else anyio_run(partial(body, door, **given))

            return finish(common, work, does=does, protocol=protocol)

        parameters = [*own, *shared]
        call.__signature__ = inspect.Signature(parameters)
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        call.__doc__ = body.__doc__
        app.command(name or body.__name__)(call)
        return body

    return wrap


def anyio_run(work: Callable[..., Awaitable[Answer]], *given: Any) -> Answer:
    """Run something asynchronous to its end."""
    import anyio  # noqa: PLC0415 - see above

    return anyio.run(work, *given)


def finish(common: Common, work: Callable[[Door], Answer], *, does: Does = "reads", protocol: bool = False) -> int:
    """Run a command to its end: print what it gives back, or what went wrong, and return the exit code.

    Who only reads and whose reader has read enough has done its work.
    """
    try:
        answer = _outcome(common, work)
        if not protocol or answer.problem is not None:
            tell(answer, json=common.json, stream=sys.stderr if protocol else sys.stdout)
    except BrokenPipeError:
        let_go(sys.stdout)
        return Code.OK if does == "reads" else Code.FAILURE
    return answer.code


def _outcome(common: Common, work: Callable[[Door], Answer]) -> Answer:
    _steady(sys.stdout)
    _steady(sys.stderr)
    try:
        door = Door(common=common)
        door.check()
        with _logging(common):
            return work(door)
    except KeyboardInterrupt:
        return Answer(
            code=Code.INTERRUPTED,
            problem=Problem(
                code="interrupted", message="interrupted.", hint="What was acknowledged is stored; run it again."
            ),
        )
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the outermost: whatever it is, people get a sentence and an exit code
        if common.verbose:
            _show_trace(error)
        return failed(error)


def _steady(stream: Any) -> None:
    # A sign that the stream cannot take must not end a command that has done its work.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


@contextmanager
def _logging(common: Common) -> Generator[None]:
    """Let our own loggers say everything, or only what is an error, for as long as a command runs."""
    import logging  # noqa: PLC0415

    from bethink.logs import logger  # noqa: PLC0415

    ours = logger()
    before, handler = ours.level, logging.StreamHandler(sys.stderr)
    if common.verbose:
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        ours.addHandler(handler)
        ours.setLevel(logging.INFO)
    elif common.quiet:
        ours.setLevel(logging.ERROR)
    try:
        yield
    finally:
        ours.removeHandler(handler)
        ours.setLevel(before)


def _show_trace(error: BaseException) -> None:
    import traceback  # noqa: PLC0415

    for part in traceback.format_exception(error):
        write([Line(line) for line in part.rstrip("\n").split("\n")], sys.stderr)


def tell(answer: Answer, *, json: bool, stream: TextIO | None = None) -> None:
    """Print an answer: one envelope of JSON, or lines on stdout with what went wrong on stderr."""
    out = stream or sys.stdout
    problem = answer.problem
    if json:
        error = problem and {"code": problem.code, "message": problem.message, "hint": problem.hint}
        envelope = {"ok": answer.code == Code.OK, "data": _plain(answer.data), "error": error}
        out.write(f"{to_json(envelope, out)}\n")
    else:
        write(answer.lines, out)
    out.flush()
    if problem is not None and not json:
        write([Line(f"error: {_flat(problem.message)}", "red")], sys.stderr)
        if problem.hint:
            write([Line(f"hint: {_flat(problem.hint)}")], sys.stderr)


def _plain(data: Any) -> Any:
    if data is None:
        return None
    from bethink.cli.plain import plain  # noqa: PLC0415 - see above

    return plain(data)


def _flat(text: str) -> str:
    return shown(" ".join(text.split("\n")))


_SYSTEM: Mapping[type, Code] = {
    FileNotFoundError: Code.NOT_FOUND,
    PermissionError: Code.CONFIGURATION,
    NotADirectoryError: Code.CONFIGURATION,
}


def failed(error: BaseException) -> Answer:
    """Turn what was raised into an answer: its message, the next step, and the exit code of its kind."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, BethinkError):
        message = Exception.__str__(error)  # without the hint, which has its own line
        return Answer(code=_code_of(error), problem=Problem(code=_name_of(error), message=message, hint=error.hint))
    if isinstance(error, OSError):
        what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error.strerror or error)
        hint = "Check the path and its permissions."
        return Answer(
            code=_SYSTEM.get(type(error), Code.FAILURE), problem=Problem(code="system", message=what, hint=hint)
        )
    message = f"unexpected {type(error).__name__}: {error}"
    hint = "This is a defect of ours; run it again with --verbose and report what it shows."
    return Answer(code=Code.FAILURE, problem=Problem(code="unexpected", message=message, hint=hint))


def _code_of(error: BethinkError) -> Code:
    if isinstance(error, NotFound):
        return Code.NOT_FOUND
    if isinstance(error, Misconfigured):
        return Code.CONFIGURATION
    return Code.USAGE if isinstance(error, (Invalid, Usage)) else Code.FAILURE


def _name_of(error: BethinkError) -> str:
    name = type(error).__name__
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name).lstrip("_")
