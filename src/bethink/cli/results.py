"""Results and errors of commands, how they are printed, and their exit codes."""

import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, TextIO, cast

from bethink.base.frozen import frozen
from bethink.cli.terminal import OutputLine, printable, to_json, write
from bethink.errors import BethinkError, ConfigurationError, InvalidRequestError, NotFoundError, PermissionDeniedError


class ExitCode(IntEnum):
    """The exit codes of commands."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFIGURATION = 4
    PARTIAL = 5
    INTERRUPTED = 130


class UsageError(BethinkError):
    """The arguments of a command are invalid."""


class Declined(BethinkError):
    """The user answered no."""


@frozen
class Failure:
    """An error as it is printed: a code for programs, a message for people, and the next step."""

    code: str
    message: str
    hint: str = ""


@frozen
class Result:
    """The result of a command: data for --json, lines for people, and a failure if something went wrong."""

    data: Any = None
    lines: Sequence[OutputLine] = ()
    code: ExitCode = ExitCode.OK
    failure: Failure | None = None


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


def result_of_error(error: BaseException) -> Result:
    """Turn an exception into a result: its message, the next step, and its exit code."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, BethinkError):
        message = Exception.__str__(error)  # without the hint, which has its own line
        return Result(code=_code_of(error), failure=Failure(code=_name_of(error), message=message, hint=error.hint))
    if isinstance(error, OSError):
        reason = str(error.strerror or error)
        message = f"{reason}: {error.filename}" if error.filename else reason
        failure = Failure(code="system", message=message, hint="Check the path and its permissions.")
        return Result(code=_SYSTEM.get(type(error), ExitCode.FAILURE), failure=failure)
    message = f"Unexpected {type(error).__name__}: {error}"
    hint = "This is a bug in Bethink. Run the command again with --verbose, and report the output."
    return Result(code=ExitCode.FAILURE, failure=Failure(code="unexpected", message=message, hint=hint))


def _code_of(error: BethinkError) -> ExitCode:
    if isinstance(error, NotFoundError):
        return ExitCode.NOT_FOUND
    if isinstance(error, (ConfigurationError, PermissionDeniedError)):
        return ExitCode.CONFIGURATION
    return ExitCode.USAGE if isinstance(error, (InvalidRequestError, UsageError)) else ExitCode.FAILURE


def _name_of(error: BethinkError) -> str:
    name = type(error).__name__.removesuffix("Error")
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
