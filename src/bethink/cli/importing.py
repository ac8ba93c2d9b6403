"""The command that takes messages from a file: each line once, however often it is started again."""

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

from bethink.cli.forgetting import DryRun, Yes
from bethink.cli.frame import Answer, Code, Door, Problem, Usage, command
from bethink.cli.terminal import Line, Progress, many, one_line, waiting
from bethink.errors import BethinkError, Conflict, Invalid

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.records import Message, Session

app = typer.Typer()

_BATCH = 100
_TOLD = 10
_LINE = "Give one JSON object a line, with role and content."


class Spot(NamedTuple):
    """Where a line goes. A new `session` in the same conversation begins a new session there.

    With `learns` false nothing is learnt from what is stored there.
    """

    conversation: str
    agent: str
    session: str
    learns: bool


class Draft(NamedTuple):
    """One line that can be stored, with its number in the file."""

    line: int
    spot: Spot
    message: "Message"


@dataclass(slots=True, kw_only=True)
class Report:
    """What came of an import."""

    lines: int = 0
    stored: int = 0
    known: int = 0
    why: dict[int, str] = field(default_factory=dict[int, str])
    dry_run: bool = False

    def refuse(self, line: int, error: Exception) -> None:
        """Note a line that cannot be stored; why is kept of the first few."""
        self.why[line] = str(error) if len(self.why) < _TOLD else ""

    @property
    def refused(self) -> int:
        """Count the lines that cannot be stored."""
        return len(self.why)

    @property
    def storable(self) -> int:
        """Count the others; only storing them tells which were there already."""
        return self.lines - self.refused

    @property
    def refusals(self) -> list[str]:
        """Say why the first of them cannot."""
        return [f"line {line}: {why}" for line, why in islice(self.why.items(), _TOLD)]


@command(app, "import", does="makes")
async def import_messages(
    door: Door,
    file: Annotated[str, typer.Argument(help="Messages, one JSON object a line; - reads them from stdin.")],
    *,
    conversation: Annotated[
        str, typer.Option(metavar="KEY", help="Where lines go that do not say, such as channel:chat:thread.")
    ] = "import:file:",
    refused: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where lines go that cannot be stored, to be mended.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Store messages from a file. Run it again after a break: it goes on where it was, and stores no line twice.

    A file is known by its content: once it is changed, its lines count as new, unless they have an idempotency_key.
    A line has role and content, and may have conversation, agent, session, learns, name, said_at, metadata, origin,
    tool_calls, tool_call_id and is_error.
    """
    with ExitStack() as stack:
        path = stack.enter_context(_local(file))
        if refused is not None and _same(path, Path(refused)):
            raise Usage("--refused names the file that is read.", hint="Name another; it would be written over.")
        digest, total = _measured(path)
        if not dry_run:
            door.confirm(f"Store {many(total, 'message')} in space {door.space}?", yes=yes)
        aside = None if refused is None or dry_run else stack.enter_context(_aside(Path(refused)))
        report = Report(lines=total, dry_run=dry_run)
        await _store(door, _drafts(path, digest, conversation, report), report)
        if aside is not None:
            with path.open("rb") as source:
                aside.writelines(line for number, line in enumerate(source, 1) if number in report.why)
    return _answer(door, report, None if aside is None else refused)


async def _store(door: Door, drafts: Iterator[Draft], report: Report) -> None:
    importer = _Importer(memory=door.memory, space=door.space, report=report)
    with Progress("lines", report.lines, quiet=door.common.quiet) as progress:
        for spot, group in groupby(drafts, key=lambda draft: draft.spot):
            while batch := list(islice(group, _BATCH)):
                if not report.dry_run:
                    before = report.stored
                    await importer.store(spot, batch)
                    if report.known and report.stored and not before:
                        door.note(f"resumed: {many(report.known, 'line was', 'lines were')} there already")
                progress.advance(len(batch))
        progress.advance(report.lines - progress.done)  # those that could not be read
    await importer.close()


def _same(path: Path, other: Path) -> bool:
    return other.exists() and other.samefile(path)


@contextmanager
def _aside(path: Path) -> Generator[IO[bytes]]:
    """Give where refused lines go, opened before any line is stored; what is there is replaced when all is done."""
    target = path.resolve()
    if target.exists() and not target.is_file():  # a device or a pipe is written to; a folder cannot be
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


def _answer(door: Door, report: Report, aside: str | None) -> Answer:
    if report.dry_run:
        told = f"{report.storable} of {report.lines} could be stored, less those that are there already"
    else:
        told = f"{report.stored} of {report.lines} stored, {report.known} were there already"
    lines = [Line(f"{told}, {report.refused} refused")]
    names = ("lines", "storable", "stored", "known", "refused", "refusals", "dry_run")
    data = {name: getattr(report, name) for name in names}
    if not report.refused:
        return Answer(data=data, lines=lines)
    for refusal in report.refusals:
        door.note(one_line(refusal))
    where = "Write them to a file of their own with --refused" if aside is None else f"They are in {aside}"
    hint = f"{where}{',' if aside is None else ':'} mend them there, and import that file."
    refused = many(report.refused, "line was", "lines were")
    problem = Problem(code="partial", message=f"{refused} refused.", hint=hint)
    return Answer(data=data, lines=lines, code=Code.PARTIAL, problem=problem)


@dataclass(slots=True, kw_only=True)
class _Importer:
    """Keeps the session that each conversation is in, and stores batches there."""

    memory: "Memory"
    space: str
    report: Report
    _open: "dict[tuple[str, str], tuple[Session, str]]" = field(default_factory=dict[Any, Any])
    _last: dict[str, int] = field(default_factory=dict[str, int])
    _used: set[str] = field(default_factory=set[str])

    async def store(self, spot: Spot, batch: list[Draft]) -> None:
        """Store a batch whole; if that is refused, line by line."""
        session = await self._session(spot)
        try:
            await self._append(session, batch)
        except (Conflict, Invalid) as error:
            if len(batch) == 1:
                self.report.refuse(batch[0].line, error)
                return
            for draft in batch:
                await self.store(spot, [draft])

    async def _append(self, session: "Session", batch: list[Draft]) -> None:
        before = self._last[session.id]
        messages = [draft.message for draft in batch]
        stored = await self.memory.remember(messages, space=self.space, session=session)
        fresh = [ref.number for ref in stored.refs if ref.id == session.id and ref.number > before]
        self._last[session.id] = max([before, *fresh])
        self._used.update(ref.id for ref in stored.refs)
        self.report.stored += len(fresh)
        self.report.known += len(batch) - len(fresh)

    async def _session(self, spot: Spot) -> "Session":
        place = (spot.conversation, spot.agent)
        session, tag = self._open.get(place, (None, ""))
        if session is not None and spot.session in ("", tag):
            return session
        # One that holds nothing of the session before, because that is there already, serves for what follows.
        if session is not None and session.id in self._used:
            await self.memory.end_session(session)
        session = await self.memory.open_session(
            space=self.space, conversation=spot.conversation, agent=spot.agent, ephemeral=not spot.learns
        )
        self._open[place] = (session, spot.session)
        self._last[session.id] = session.last_number
        return session

    async def close(self) -> None:
        """Tell that nothing more is to come, so that it is learnt from."""
        for session, _ in self._open.values():
            await self.memory.idle(session)


@contextmanager
def _local(name: str) -> Generator[Path]:
    """Give the file, or what comes from stdin as a file: it is read twice, once for its digest."""
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
        raise Usage("the file has no lines.", hint=_LINE)
    return digest.hexdigest()[:32], total


def _drafts(path: Path, digest: str, conversation: str, report: Report) -> Iterator[Draft]:
    with path.open("rb") as source:
        for number, raw in enumerate(source, 1):
            if raw.strip():
                try:
                    yield _draft(raw, number, digest, conversation)
                except (BethinkError, ValueError, TypeError, RecursionError) as error:
                    report.refuse(number, error)


def _draft(raw: bytes, number: int, digest: str, conversation: str) -> Draft:
    from bethink.model.records import conversation_text, message_from  # noqa: PLC0415

    tree = _tree(raw)
    spot = Spot(
        _word(tree, "conversation", conversation),
        _word(tree, "agent", "assistant"),
        _word(tree, "session", ""),
        tree.get("learns", True) is not False,
    )
    conversation_text(spot.conversation)
    fields: Mapping[str, object] = {key: value for key, value in tree.items() if key not in Spot._fields}
    _check_names(fields)
    message = message_from(
        {
            **fields,
            "idempotency_key": tree.get("idempotency_key") or f"import:{digest}:{number}",
        }
    )
    return Draft(number, spot, message)


def _tree(raw: bytes) -> dict[str, Any]:
    try:
        read: object = json.loads(raw)
    except json.JSONDecodeError as error:
        raise Invalid(f"no JSON at column {error.colno}: {error.msg}.", hint=_LINE) from error
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
        hint = f"Use some of {', '.join([*known, *Spot._fields])}; what else you know goes into metadata."
        raise Invalid(f"{unknown[0][:40]} is no part of a message.", hint=hint)


def _word(tree: Mapping[str, Any], name: str, default: str) -> str:
    value = tree.get(name, default)
    if not isinstance(value, str):
        raise Invalid(f"{name} is not a text.", hint="Write it in quotes.")
    return value
