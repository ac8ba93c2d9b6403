"""The command that imports messages from a file: each line once, however often it runs."""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from itertools import groupby, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from bethink.cli.command import CommandContext, DryRun, ExitCode, Failure, Result, UsageError, Yes, command
from bethink.cli.terminal import OutputLine, Progress, many, one_line, waiting
from bethink.errors import BethinkError, Conflict, Invalid

if TYPE_CHECKING:
    from bethink.api.session import Session
    from bethink.api.space import Space
    from bethink.model.records import Message

app = typer.Typer()

_BATCH = 100
_SHOWN = 10
_LINE = "Write one JSON object per line, with role and content."


class Destination(NamedTuple):
    """Where a line is stored. Another `session` in the same conversation begins a new session there.

    With `learns` false, nothing is learnt from it.
    """

    conversation: str
    agent: str
    session: str
    learns: bool


class ImportedMessage(NamedTuple):
    """A message, where it is stored, and its line in the file."""

    line: int
    to: Destination
    message: "Message"


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What an import did."""

    lines: int = 0
    stored: int = 0
    known: int = 0
    why: dict[int, str] = field(default_factory=dict[int, str])
    dry_run: bool = False

    def refuse(self, line: int, error: Exception) -> None:
        """Count a line that cannot be stored; the reason is kept for the first few."""
        self.why[line] = str(error) if len(self.why) < _SHOWN else ""

    @property
    def refused(self) -> int:
        """Count the lines that cannot be stored."""
        return len(self.why)

    @property
    def storable(self) -> int:
        """Count the lines that can be stored, with those that already are."""
        return self.lines - self.refused

    @property
    def refusals(self) -> list[str]:
        """Return the reasons for the first of them."""
        return [f"line {line}: {why}" for line, why in islice(self.why.items(), _SHOWN)]


@command(app, "import", effect="creates")
async def import_messages(
    ctx: CommandContext,
    file: Annotated[str, typer.Argument(help="A JSON Lines file; - reads stdin.")],
    *,
    conversation: Annotated[
        str, typer.Option(metavar="NAME", help="The conversation of lines that name none.")
    ] = "import",
    refused: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write lines that cannot be stored to a file.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import messages from a JSON Lines file. If it is interrupted, run it again: no line is stored twice.

    A file is recognized by its content. After a change its lines count as new, unless they have an idempotency_key.
    A line has role and content. It may also have conversation, agent, session, learns, name, said_at, metadata,
    origin, tool_calls, tool_call_id and is_error.
    """
    with ExitStack() as stack:
        path = stack.enter_context(_local(file))
        if refused is not None and _same(path, Path(refused)):
            raise UsageError("--refused names the input file.", hint="Choose another file: it is overwritten.")
        digest, total = _measured(path)
        if not dry_run:
            ctx.confirm(f"Import {many(total, 'message')} into space {ctx.space_name}?", yes=yes)
        aside = None if refused is None or dry_run else stack.enter_context(_aside(Path(refused)))
        report = ImportReport(lines=total, dry_run=dry_run)
        await _store(ctx, _messages(path, digest, conversation, report), report)
        if aside is not None:
            with path.open("rb") as source:
                aside.writelines(line for number, line in enumerate(source, 1) if number in report.why)
    return _answer(ctx, report, None if aside is None else refused)


async def _store(ctx: CommandContext, messages: Iterator[ImportedMessage], report: ImportReport) -> None:
    importer = _Importer(space=ctx.space, report=report)
    with Progress("lines", report.lines, quiet=ctx.options.quiet) as progress:
        for to, group in groupby(messages, key=lambda each: each.to):
            while batch := list(islice(group, _BATCH)):
                if not report.dry_run:
                    before = report.stored
                    await importer.store(to, batch)
                    if report.known and report.stored and not before:
                        ctx.note(f"resumed: {many(report.known, 'line was', 'lines were')} already stored")
                progress.advance(len(batch))
        progress.advance(report.lines - progress.done)  # lines that could not be read
    await importer.close()


def _same(path: Path, other: Path) -> bool:
    return other.exists() and other.samefile(path)


@contextmanager
def _aside(path: Path) -> Generator[IO[bytes]]:
    """Open the file for refused lines before any line is stored; an existing file is replaced at the end."""
    target = path.resolve()
    if target.exists() and not target.is_file():  # a device or a pipe can be written to; a folder cannot
        with target.open("wb") as sink:
            yield sink
        return
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as sink:
        beside = Path(sink.name)
        try:
            yield sink
            sink.close()
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


def _answer(ctx: CommandContext, report: ImportReport, aside: str | None) -> Result:
    if report.dry_run:
        summary = f"{report.storable} of {report.lines} can be stored (some may already be)"
    else:
        summary = f"{report.stored} of {report.lines} stored, {report.known} already stored"
    lines = [OutputLine(f"{summary}, {report.refused} refused")]
    names = ("lines", "storable", "stored", "known", "refused", "refusals", "dry_run")
    data = {name: getattr(report, name) for name in names}
    if not report.refused:
        return Result(data=data, lines=lines)
    for refusal in report.refusals:
        ctx.note(one_line(refusal))
    where = "Write them to a file with --refused" if aside is None else f"They are in {aside}"
    hint = f"{where}{',' if aside is None else ':'} fix them there, then import that file."
    refused = many(report.refused, "line was", "lines were")
    failure = Failure(code="partial", message=f"{refused} refused.", hint=hint)
    return Result(data=data, lines=lines, code=ExitCode.PARTIAL, failure=failure)


@dataclass(slots=True, kw_only=True)
class _Importer:
    """Stores batches of messages, each in the current session of its conversation."""

    space: "Space"
    report: ImportReport
    _open: "dict[tuple[str, str], tuple[Session, str]]" = field(default_factory=dict[Any, Any])
    _last: dict[str, int] = field(default_factory=dict[str, int])
    _used: set[str] = field(default_factory=set[str])

    async def store(self, to: Destination, batch: list[ImportedMessage]) -> None:
        """Store a batch at once; if that is refused, line by line."""
        session = await self._session(to)
        try:
            await self._append(session, batch)
        except (Conflict, Invalid) as error:
            if len(batch) == 1:
                self.report.refuse(batch[0].line, error)
                return
            for each in batch:
                await self.store(to, [each])

    async def _append(self, session: "Session", batch: list[ImportedMessage]) -> None:
        before = self._last[session.id]
        messages = [each.message for each in batch]
        stored = await self.space.remember(messages, session_id=session.id)
        fresh = [ref.number for ref in stored.refs if ref.id == session.id and ref.number > before]
        self._last[session.id] = max([before, *fresh])
        self._used.update(ref.id for ref in stored.refs)
        self.report.stored += len(fresh)
        self.report.known += len(batch) - len(fresh)

    async def _session(self, to: Destination) -> "Session":
        key = (to.conversation, to.agent)
        session, tag = self._open.get(key, (None, ""))
        if session is not None and to.session in ("", tag):
            return session
        # An open session without a line of this run is used on: its lines are stored already.
        if session is not None and session.id in self._used:
            await session.end()
        session = await self.space.session(to.conversation, agent=to.agent, ephemeral=not to.learns)
        self._open[key] = (session, to.session)
        self._last[session.id] = session.info.last_number
        return session

    async def close(self) -> None:
        """Mark the open sessions as idle, so that they are learnt from."""
        for session, _ in self._open.values():
            await session.idle()


@contextmanager
def _local(name: str) -> Generator[Path]:
    """Yield the path of the input; stdin is copied to a file, because the input is read twice."""
    if name != "-":
        yield Path(name)
        return
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as copy:
        with waiting():
            shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield Path(copy.name)


def _measured(path: Path) -> tuple[str, int]:
    digest, total = hashlib.sha256(), 0
    with path.open("rb") as source:
        for line in source:
            digest.update(line)
            total += bool(line.strip())
    if not total:
        raise UsageError("the file is empty.", hint=_LINE)
    return digest.hexdigest()[:32], total


def _messages(path: Path, digest: str, conversation: str, report: ImportReport) -> Iterator[ImportedMessage]:
    with path.open("rb") as source:
        for number, raw in enumerate(source, 1):
            if raw.strip():
                try:
                    yield imported_message(raw, number, digest, conversation)
                except (BethinkError, ValueError, TypeError, RecursionError) as error:
                    report.refuse(number, error)


def imported_message(raw: bytes, number: int, digest: str, conversation: str) -> ImportedMessage:
    """Read one line. Raises `Invalid` for anything but a message."""
    from bethink.model.records import checked_name, message_from  # noqa: PLC0415

    tree = _tree(raw)
    to = Destination(
        _word(tree, "conversation", conversation),
        _word(tree, "agent", "assistant"),
        _word(tree, "session", ""),
        tree.get("learns", True) is not False,
    )
    checked_name(to.conversation, "a conversation")
    fields: Mapping[str, object] = {key: value for key, value in tree.items() if key not in Destination._fields}
    _check_names(fields)
    message = message_from(
        {
            **fields,
            "idempotency_key": tree.get("idempotency_key") or f"import:{digest}:{number}",
        }
    )
    return ImportedMessage(number, to, message)


def _tree(raw: bytes) -> dict[str, Any]:
    try:
        read: object = json.loads(raw)
    except json.JSONDecodeError as error:
        raise Invalid(f"invalid JSON at column {error.colno}: {error.msg}.", hint=_LINE) from error
    except UnicodeDecodeError as error:
        raise Invalid("not UTF-8.", hint=_LINE) from error
    except RecursionError as error:
        raise Invalid("nested too deeply.", hint=_LINE) from error
    if not isinstance(read, dict):
        raise Invalid("not a JSON object.", hint=_LINE)
    return cast("dict[str, Any]", read)


def _check_names(given: Mapping[str, object]) -> None:
    from bethink.model.records import Message  # noqa: PLC0415

    known = [each.name for each in dataclass_fields(Message)]
    missing = [name for name in ("role", "content") if name not in given]
    if missing:
        raise Invalid(f"{missing[0]} is missing.", hint=_LINE)
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = f"Use one of {', '.join([*known, *Destination._fields])}, or put it into metadata."
        raise Invalid(f"unknown field {unknown[0][:40]!r}.", hint=hint)


def _word(tree: Mapping[str, Any], name: str, default: str) -> str:
    value = tree.get(name, default)
    if not isinstance(value, str):
        raise Invalid(f"{name} is not a string.", hint="Write it in quotes.")
    return value
