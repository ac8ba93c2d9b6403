"""Commands that import what other programs keep: each message once, however often they run."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, DryRun, ExitCode, Failure, Result, UsageError, Yes, command
from bethink.cli.terminal import OutputLine, Progress, one_line, waiting
from bethink.features.importers import preview, try_out
from bethink.model.plural import plural

if TYPE_CHECKING:  # loaded when a command needs them, for a quick --help
    from bethink.features.importers.coding_agents import ProjectSpaces
    from bethink.features.importers.items import Item
    from bethink.features.importers.store import ImportReport

    Read = Callable[[Path], Iterator[Item]]

app = typer.Typer()
group = typer.Typer(help="Import conversations and memories of other programs.")
app.add_typer(group, name="import")
app.add_typer(try_out.app)
app.add_typer(preview.app)

Transcripts = Annotated[
    list[Path] | None, typer.Argument(help="Transcripts, or folders with some.  [default: where the agent keeps them]")
]
ByProject = Annotated[
    bool,
    typer.Option("--by-project", help="Store each session in the space of its project, as 'bethink connect' does."),
]
Export = Annotated[Path, typer.Argument(help="The file that was exported.")]


@command(group, "claude-code", effect="creates")
async def import_claude_code(
    ctx: CommandContext,
    paths: Transcripts = None,
    *,
    by_project: ByProject = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import transcripts of Claude Code. If it is interrupted, run it again: no line is stored twice.

    What the user, the agent and its tools said is stored with its date, under the session it was said in. Lines that
    are stored in the space already, by whatever way, are known.
    """
    from bethink.agents.transcripts import claude_code  # noqa: PLC0415
    from bethink.features.importers.coding_agents import read_claude_code  # noqa: PLC0415

    found = paths or _found(claude_code.find(), "Claude Code", "~/.claude/projects")
    return await _import_transcripts(ctx, found, read_claude_code, by_project=by_project, dry_run=dry_run, yes=yes)


@command(group, "codex", effect="creates")
async def import_codex(
    ctx: CommandContext,
    paths: Transcripts = None,
    *,
    by_project: ByProject = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import rollouts of Codex. If it is interrupted, run it again: no line is stored twice.

    What the user, the agent and its tools said is stored with its date, under the session it was said in. Lines that
    are stored in the space already, by whatever way, are known.
    """
    from bethink.agents.transcripts import codex  # noqa: PLC0415
    from bethink.features.importers.coding_agents import read_codex  # noqa: PLC0415

    found = paths or _found(codex.find(), "Codex", "~/.codex/sessions")
    return await _import_transcripts(ctx, found, read_codex, by_project=by_project, dry_run=dry_run, yes=yes)


@command(group, "chatgpt", effect="creates")
async def import_chatgpt(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import the conversations of ChatGPT's data export, a zip file. A second run stores nothing twice."""
    from bethink.features.importers.chatgpt import read  # noqa: PLC0415

    return await _import(ctx, [file], read, dry_run=dry_run, yes=yes)


@command(group, "claude", effect="creates")
async def import_claude(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import the conversations of Claude's data export, a zip file. A second run stores nothing twice."""
    from bethink.features.importers.claude import read  # noqa: PLC0415

    return await _import(ctx, [file], read, dry_run=dry_run, yes=yes)


@command(group, "mem0", effect="creates")
async def import_mem0(
    ctx: CommandContext,
    file: Export,
    *,
    user: Annotated[str | None, typer.Option(metavar="ID", help="Only memories of this user.")] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import memories of mem0 as facts: a JSON file with what its get_all() returned."""
    from bethink.features.importers.mem0 import read  # noqa: PLC0415

    return await _import(ctx, [file], lambda path: read(path, user=user), dry_run=dry_run, yes=yes)


@command(group, "zep", effect="creates")
async def import_zep(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import what Zep or Graphiti returned, in a JSON file: messages, episodes, and edges as facts."""
    from bethink.features.importers.zep import read  # noqa: PLC0415

    return await _import(ctx, [file], read, dry_run=dry_run, yes=yes)


@command(group, "letta", effect="creates")
async def import_letta(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import an agent file of Letta: its messages, and its memory blocks as documents."""
    from bethink.features.importers.letta import read  # noqa: PLC0415

    return await _import(ctx, [file], read, dry_run=dry_run, yes=yes)


@command(group, "archive", effect="creates", local=True)
async def import_archive(
    ctx: CommandContext,
    file: Annotated[Path, typer.Argument(help="The file that 'bethink export --archive' wrote.")],
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import an archive: everything of a space, with every version. If it is interrupted, run it again.

    The file is checked as a whole before anything is stored. The space is that of the archive, unless --space names
    another; it must be empty, or hold nothing but a part of the archive.
    """
    space = ctx.options.space
    found = await ctx.memory.import_archive(file, space=space, dry_run=True)
    if not dry_run:
        ctx.confirm(f"Import {plural(found.stored, 'row')} into space {found.space}?", yes=yes)
        found = await ctx.memory.import_archive(file, space=space)
    summary = f"{plural(found.stored, 'row')} can be stored" if dry_run else f"{plural(found.stored, 'row')} stored"
    data = {"space": found.space, "stored": found.stored, "known": found.known, "dry_run": found.dry_run}
    lines = [OutputLine(f"{summary} in space {found.space}, {found.known} already stored")]
    return Result(data=data, lines=lines)


@command(group, "jsonl", effect="creates")
async def import_jsonl(
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
    from bethink.features.importers.jsonl import read  # noqa: PLC0415

    with ExitStack() as stack:
        path = stack.enter_context(_local(file))
        if refused is not None and _same(path, Path(refused)):
            raise UsageError("--refused names the input file.", hint="Choose another file: it is overwritten.")
        aside = None if refused is None or dry_run else stack.enter_context(_aside(Path(refused)))
        report = await _stored(ctx, lambda: read(path, conversation=conversation), dry_run=dry_run, yes=yes)
        if aside is not None:
            with path.open("rb") as source:
                aside.writelines(line for number, line in enumerate(source, 1) if f"line {number}" in report.why)
    where = "Write them to a file with --refused," if aside is None else f"They are in {refused}:"
    return _answer(ctx, report, f"{where} fix them there, then import that file.")


def _found(paths: list[Path], agent: str, usual: str) -> list[Path]:
    if not paths:
        raise UsageError(f"no transcripts of {agent} were found in {usual}.", hint="Name the files or a folder.")
    return paths


async def _import_transcripts(
    ctx: CommandContext,
    paths: list[Path],
    read: "Callable[[Path, ProjectSpaces | None], Iterator[Item]]",
    *,
    by_project: bool,
    dry_run: bool,
    yes: bool,
) -> Result:
    from bethink.features.importers.coding_agents import ProjectSpaces  # noqa: PLC0415

    spaces = ProjectSpaces() if by_project else None
    return await _import(
        ctx, paths, lambda path: read(path, spaces), dry_run=dry_run, yes=yes, copies=True, by_project=by_project
    )


async def _import(
    ctx: CommandContext,
    paths: list[Path],
    read: "Read",
    *,
    dry_run: bool,
    yes: bool,
    copies: bool = False,
    by_project: bool = False,
) -> Result:
    if by_project and ctx.options.space is not None:
        raise UsageError("--by-project and --space exclude each other.", hint="Leave one of them out.")
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))

    def items() -> "Iterator[Item]":
        return chain.from_iterable(map(read, paths))

    report = await _stored(ctx, items, dry_run=dry_run, yes=yes, copies=copies, by_project=by_project)
    return _answer(ctx, report, "The others are imported; run it again when the cause is gone.")


async def _stored(
    ctx: CommandContext,
    items: "Callable[[], Iterable[Item]]",
    *,
    dry_run: bool,
    yes: bool,
    copies: bool = False,
    by_project: bool = False,
) -> "ImportReport":
    """Read everything once to count and check it, ask, then read it again and store it."""
    from bethink.features.importers.items import UnreadableItem  # noqa: PLC0415
    from bethink.features.importers.store import Importer, ImportReport  # noqa: PLC0415

    report = ImportReport(dry_run=dry_run)
    for item in items():
        report.found += 1
        if dry_run and isinstance(item, UnreadableItem):
            report.refuse(item.place, item.why)
    if dry_run:
        return report
    where = "the space of each project" if by_project else f"space {ctx.space_name}"
    ctx.confirm(f"Import {plural(report.found, 'item')} into {where}?", yes=yes)
    importer = Importer(space=ctx.space, report=report, copies_are_known=copies, other=ctx.memory.space)
    told = False
    with Progress("items", report.found, quiet=ctx.options.quiet) as progress:

        def done(count: int) -> None:
            nonlocal told
            if report.known and report.stored and not told:
                told = True
                ctx.note(f"resumed: {plural(report.known, 'item was', 'items were')} already stored")
            progress.advance(count)

        await importer.store(items(), done)
    return report


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


def _answer(ctx: CommandContext, report: "ImportReport", hint: str) -> Result:
    if report.dry_run:
        summary = f"{report.storable} of {report.found} can be stored (some may already be)"
    else:
        summary = f"{report.stored} of {report.found} stored, {report.known} already stored"
    if report.forgotten:
        summary += f", {report.forgotten} left out as forgotten"
    lines = [OutputLine(f"{summary}, {report.refused} refused")]
    names = ("found", "storable", "stored", "known", "forgotten", "refused", "refusals", "dry_run")
    data = {name: getattr(report, name) for name in names}
    if not report.refused:
        return Result(data=data, lines=lines)
    for refusal in report.refusals:
        ctx.note(one_line(refusal))
    failure = Failure(code="partial", message=f"{plural(report.refused, 'item was', 'items were')} refused.", hint=hint)
    return Result(data=data, lines=lines, code=ExitCode.PARTIAL, failure=failure)


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
