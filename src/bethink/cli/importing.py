"""The command that takes messages from a file: each line once, however often it is started again."""

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from bethink.cli.forgetting import DryRun, Yes
from bethink.cli.frame import Answer, Code, Door, Problem, Usage, command
from bethink.cli.terminal import Line, Progress, one_line, waiting
from bethink.errors import BethinkError, Conflict, Invalid

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.records import Message, Session

app = typer.Typer()

_BATCH = 100
_TOLD = 10


class Spot(NamedTuple):
    """Where a line goes. A new `session` in the same conversation begins a new session there."""

    conversation: str
    agent: str
    session: str


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
        self.why[line] = Exception.__str__(error) if len(self.why) < _TOLD else ""

    @property
    def refused(self) -> int:
        """Count the lines that cannot be stored."""
        return len(self.why)

    @property
    def refusals(self) -> list[str]:
        """Say why the first of them cannot."""
        return [f"line {line}: {why}" for line, why in islice(self.why.items(), _TOLD)]


@command(app, "import")
async def import_messages(
    door: Door,
    file: Annotated[str, typer.Argument(help="Messages, one JSON object a line; - reads them from stdin.")],
    *,
    conversation: Annotated[
        str, typer.Option(metavar="KEY", help="Where lines go that do not say: channel:chat:thread.")
    ] = "import:file:",
    refused: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where lines go that cannot be stored, to be mended.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Store messages from a file. Run it again after a break: it goes on where it was, and stores no line twice.

    A file is known by its content: once it is changed, its lines count as new, unless they have an idempotency_key.
    A line has role and content, and may have conversation, agent, session, name, said_at, metadata, origin,
    tool_calls, tool_call_id and is_error.
    """
    with _local(file) as path:
        digest, total = _measured(path)
        if not dry_run:
            door.confirm(f"Store {total} messages in space {door.space}?", yes=yes)
        report = Report(lines=total, dry_run=dry_run)
        importer = _Importer(memory=door.memory, space=door.space, report=report)
        with Progress("lines", total, quiet=door.common.quiet) as progress:
            drafts = _drafts(path, digest, conversation, report)
            for spot, group in groupby(drafts, key=lambda draft: draft.spot):
                while batch := list(islice(group, _BATCH)):
                    if not dry_run:
                        before = report.stored
                        await importer.store(spot, batch)
                        if report.known and report.stored and not before:
                            door.note(f"resumed: {report.known} lines were there already")
                    progress.advance(len(batch))
            progress.advance(total - progress.done)  # those that could not be read
        await importer.close()
        if refused is not None:
            _set_aside(path, report, Path(refused))
    return _answer(door, report)


def _set_aside(path: Path, report: Report, aside: Path) -> None:
    with path.open("rb") as source, aside.open("wb") as sink:
        sink.writelines(line for number, line in enumerate(source, 1) if number in report.why)


def _answer(door: Door, report: Report) -> Answer:
    stored = "could be stored" if report.dry_run else "stored"
    count = report.lines - report.refused if report.dry_run else report.stored
    lines = [Line(f"{count} of {report.lines} {stored}, {report.known} were there already, {report.refused} refused")]
    names = ("lines", "stored", "known", "refused", "refusals", "dry_run")
    data = {name: getattr(report, name) for name in names}
    if not report.refused:
        return Answer(data=data, lines=lines)
    for refusal in report.refusals:
        door.note(one_line(refusal))
    hint = "Write them to a file of their own with --refused, mend them there, and import that file."
    problem = Problem(code="partial", message=f"{report.refused} lines were refused.", hint=hint)
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
        from bethink.model.records import ConversationKey  # noqa: PLC0415

        place = (spot.conversation, spot.agent)
        session, tag = self._open.get(place, (None, ""))
        if session is not None and spot.session in ("", tag):
            return session
        # One that holds nothing of the session before, because that is there already, serves for what follows.
        if session is not None and session.id in self._used:
            await self.memory.end_session(session)
        key = ConversationKey.parse(spot.conversation)
        session = await self.memory.open_session(space=self.space, conversation=key, agent=spot.agent)
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
        raise Usage("the file has no lines.", hint="Give one JSON object a line, with role and content.")
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
    from bethink.model.records import ConversationKey, message_from, moment_or_none  # noqa: PLC0415

    read: object = json.loads(raw)
    if not isinstance(read, dict):
        raise Invalid("not a JSON object.")
    tree = cast("dict[str, Any]", read)
    spot = Spot(
        _word(tree, "conversation", conversation), _word(tree, "agent", "assistant"), _word(tree, "session", "")
    )
    ConversationKey.parse(spot.conversation)
    fields: Mapping[str, object] = {key: value for key, value in tree.items() if key not in Spot._fields}
    message = message_from(
        {
            **fields,
            "said_at": moment_or_none(tree.get("said_at")),
            "idempotency_key": tree.get("idempotency_key") or f"import:{digest}:{number}",
        }
    )
    return Draft(number, spot, message)


def _word(tree: Mapping[str, Any], name: str, default: str) -> str:
    value = tree.get(name, default)
    if not isinstance(value, str):
        raise Invalid(f"{name} is not a text.")
    return value
