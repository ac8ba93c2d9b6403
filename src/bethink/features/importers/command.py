"""Commands that import from other tools: each message once, however often they run."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, DryRun, Yes, command
from bethink.cli.folder_space import folder_project
from bethink.cli.results import ExitCode, Failure, Result, UsageError
from bethink.cli.terminal import OutputLine, Progress, one_line, waiting
from bethink.features.importers import preview, try_out
from bethink.model.plural import plural

if TYPE_CHECKING:  # loaded when a command needs them, for a quick --help
    from bethink.features.importers.coding_agents import ProjectSpaces
    from bethink.features.importers.items import Item
    from bethink.features.importers.store import ImportReport

    Read = Callable[[Path], Iterator[Item]]

app = typer.Typer()
group = typer.Typer(help="Import conversations and memories from other tools.")
app.add_typer(group, name="data import")
app.add_typer(try_out.app)
app.add_typer(preview.app)

Transcripts = Annotated[
    list[Path] | None, typer.Argument(help="Transcripts, or folders of them.  [default: the agent's own folder]")
]
ByProject = Annotated[
    bool | None,
    typer.Option(
        "--by-project/--no-by-project", help="One space per project.  [default: on in a repository, without --space]"
    ),
]
_FIX_CAUSE = "The others are imported; fix the cause, then run the command again."
_NAMED_SPACES = 10
_COUNTS = (
    "found",
    "storable",
    "stored",
    "known",
    "updated",
    "corrected",
    "forgotten",
    "refused",
    "refusals",
    "dry_run",
)
Export = Annotated[Path, typer.Argument(help="Exported file.")]


@command(group, "claude-code", effect="creates", by_folder=False)
async def import_claude_code(
    ctx: CommandContext,
    paths: Transcripts = None,
    *,
    by_project: ByProject = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import transcripts from Claude Code.

    Messages of the user, the agent and its tools are stored with their dates and sessions. If the command is
    interrupted, run it again: no line is stored twice, and lines that hooks stored are recognized.
    """
    from bethink.agents.transcripts import claude_code  # noqa: PLC0415
    from bethink.features.importers.coding_agents import read_claude_code  # noqa: PLC0415

    files = paths or _check_any(claude_code.find(), "Claude Code", "~/.claude/projects")
    return await _import_transcripts(ctx, files, read_claude_code, by_project=by_project, dry_run=dry_run, yes=yes)


@command(group, "codex", effect="creates", by_folder=False)
async def import_codex(
    ctx: CommandContext,
    paths: Transcripts = None,
    *,
    by_project: ByProject = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import rollouts from Codex.

    Messages of the user, the agent and its tools are stored with their dates and sessions. If the command is
    interrupted, run it again: no line is stored twice, and lines that hooks stored are recognized.
    """
    from bethink.agents.transcripts import codex  # noqa: PLC0415
    from bethink.features.importers.coding_agents import read_codex  # noqa: PLC0415

    files = paths or _check_any(codex.find(), "Codex", "~/.codex/sessions")
    return await _import_transcripts(ctx, files, read_codex, by_project=by_project, dry_run=dry_run, yes=yes)


@command(group, "chatgpt", effect="creates")
async def import_chatgpt(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import a ChatGPT data export, a zip file. Running it again stores no duplicates."""
    from bethink.features.importers.chatgpt import read_items  # noqa: PLC0415

    return await _import(ctx, [file], read_items, dry_run=dry_run, yes=yes)


@command(group, "claude", effect="creates")
async def import_claude(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import a Claude data export, a zip file. Running it again stores no duplicates."""
    from bethink.features.importers.claude import read_items  # noqa: PLC0415

    return await _import(ctx, [file], read_items, dry_run=dry_run, yes=yes)


@command(group, "mem0", effect="creates", by_folder=False)
async def import_mem0(
    ctx: CommandContext,
    file: Export,
    *,
    user: Annotated[str | None, typer.Option(metavar="ID", help="User whose memories to import.")] = None,
    by_user: Annotated[bool, typer.Option("--by-user", help="One space per user, named by its id.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import mem0 memories as facts.

    The file is the JSON that get_all() returned, or a list of its pages; it may be a folder or a zip file. Run the
    command again to import changes: memories that were updated in mem0 get a new version, unless they were corrected
    here. Memories that were deleted in mem0 stay.
    """
    from bethink.features.importers.mem0 import Mem0Export  # noqa: PLC0415

    if by_user and (user is not None or ctx.options.space is not None):
        other = "--space" if user is None else "--user"
        raise UsageError(f"--by-user and {other} exclude each other.", hint="Leave one of them out.")
    if not by_user and ctx.options.space is None:
        await ctx.use_folder_space(ctx.memory)
    export = Mem0Export(file)
    items = partial(export.items, user=user, by_user=by_user)
    if export.without_user and export.users and not by_user:
        verb = "is" if export.without_user == 1 else "are"
        fate = "imported, too" if user is None else "left out"
        ctx.note(f"{plural(export.without_user, 'memory', 'memories')} without a user_id {verb} {fate}")
    report = await _store(ctx, items, dry_run=dry_run, yes=yes)
    return _answer(ctx, report, _FIX_CAUSE)


@command(group, "zep", effect="creates")
async def import_zep(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import messages, episodes and edges from Zep or Graphiti. The file is JSON; edges become facts."""
    from bethink.features.importers.zep import read_items  # noqa: PLC0415

    return await _import(ctx, [file], read_items, dry_run=dry_run, yes=yes)


@command(group, "letta", effect="creates")
async def import_letta(ctx: CommandContext, file: Export, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Import a Letta agent file. Memory blocks become documents."""
    from bethink.features.importers.letta import read_items  # noqa: PLC0415

    return await _import(ctx, [file], read_items, dry_run=dry_run, yes=yes)


@command(group, "archive", effect="creates", local=True, by_folder=False)
async def import_archive(
    ctx: CommandContext,
    file: Annotated[Path, typer.Argument(help="File that 'bethink data export --format archive' wrote.")],
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import an archive: a space with every version.

    The file is verified before anything is stored. The space is that of the archive, unless --space names another; it
    must be empty, or contain only a part of the archive. If the command is interrupted, run it again.
    """
    space = ctx.options.space
    report = await ctx.memory.admin.import_archive(file, space=space, dry_run=True)
    if not dry_run:
        ctx.confirm(f"Import {plural(report.stored, 'row')} into space {report.space}?", yes=yes)
        report = await ctx.memory.admin.import_archive(file, space=space)
    summary = f"{plural(report.stored, 'row')} can be stored" if dry_run else f"{plural(report.stored, 'row')} stored"
    data = {"space": report.space, "stored": report.stored, "known": report.known, "dry_run": report.dry_run}
    lines = [OutputLine(f"{summary} in space {report.space}, {report.known} already stored")]
    return Result(data=data, lines=lines)


@command(group, "jsonl", effect="creates")
async def import_jsonl(
    ctx: CommandContext,
    file: Annotated[str, typer.Argument(help="JSON Lines file; - for stdin.")],
    *,
    conversation: Annotated[str, typer.Option(metavar="NAME", help="Conversation of lines without one.")] = "import",
    errors: Annotated[str | None, typer.Option(metavar="FILE", help="File for rejected lines.")] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Import messages from a JSON Lines file.

    If the command is interrupted, run it again: no line is stored twice. A file is recognized by its content. After a
    change its lines count as new, unless they have an idempotency_key. A line has role and content. It may also have
    conversation, agent, session, learns, name, said_at, metadata, origin, tool_calls, tool_call_id and is_error.
    """
    from bethink.features.importers.jsonl import read_items  # noqa: PLC0415

    with ExitStack() as stack:
        path = stack.enter_context(_local(file))
        if errors is not None and _same(path, Path(errors)):
            raise UsageError("--errors names the input file.", hint="Choose another file: it is overwritten.")
        sink = None if errors is None or dry_run else stack.enter_context(_error_file(Path(errors)))
        report = await _store(ctx, lambda: read_items(path, conversation=conversation), dry_run=dry_run, yes=yes)
        if sink is not None:
            with path.open("rb") as source:
                sink.writelines(line for number, line in enumerate(source, 1) if f"line {number}" in report.why)
    where = "Write them to a file with --errors," if sink is None else f"They are in {errors}:"
    return _answer(ctx, report, f"{where} fix them there, then import that file.")


def _check_any(paths: list[Path], agent: str, folder: str) -> list[Path]:
    if not paths:
        raise UsageError(f"No transcripts of {agent} in {folder}.", hint="Pass the files or a folder.")
    return paths


async def _import_transcripts(
    ctx: CommandContext,
    paths: list[Path],
    reader: "Callable[[Path, ProjectSpaces | None], Iterator[Item]]",
    *,
    by_project: bool | None,
    dry_run: bool,
    yes: bool,
) -> Result:
    from bethink.features.importers.coding_agents import ProjectSpaces  # noqa: PLC0415

    if by_project is None:
        by_project = ctx.options.space is None and folder_project() is not None
    if not by_project and ctx.options.space is None:
        await ctx.use_folder_space(ctx.memory)
    spaces = ProjectSpaces() if by_project else None
    return await _import(
        ctx, paths, lambda path: reader(path, spaces), dry_run=dry_run, yes=yes, copies=True, by_project=by_project
    )


async def _import(
    ctx: CommandContext,
    paths: list[Path],
    reader: "Read",
    *,
    dry_run: bool,
    yes: bool,
    copies: bool = False,
    by_project: bool = False,
) -> Result:
    if by_project and ctx.options.space is not None:
        raise UsageError("--by-project and --space cannot be combined.", hint="Leave one of them out.")
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))

    def items() -> "Iterator[Item]":
        return chain.from_iterable(map(reader, paths))

    report = await _store(ctx, items, dry_run=dry_run, yes=yes, copies=copies, by_project=by_project)
    return _answer(ctx, report, _FIX_CAUSE)


async def _store(
    ctx: CommandContext,
    items: "Callable[[], Iterable[Item]]",
    *,
    dry_run: bool,
    yes: bool,
    copies: bool = False,
    by_project: bool = False,
) -> "ImportReport":
    """Read everything once to count and check it, confirm, then read it again and store it."""
    from bethink.features.importers.store import Importer, ImportReport  # noqa: PLC0415

    report = ImportReport(dry_run=dry_run)
    for item in items():
        report.count(item, ctx.space_name)
    if dry_run:
        return report
    where = "the space of each project" if by_project else _named_spaces(report) or f"space {ctx.space_name}"
    ctx.confirm(f"Import {plural(report.found, 'item')} into {where}?", yes=yes)
    importer = Importer(space=ctx.space, report=report, skip_copies=copies, other=ctx.memory.space)
    noted = False
    with Progress("items", report.found, quiet=ctx.options.quiet) as progress:

        def done(count: int) -> None:
            nonlocal noted
            if report.known and report.stored and not noted:
                noted = True
                ctx.note(f"resumed: {plural(report.known, 'item was', 'items were')} already stored")
            progress.advance(count)

        await importer.store(items(), done)
    return report


def _same(path: Path, other: Path) -> bool:
    return other.exists() and other.samefile(path)


@contextmanager
def _error_file(path: Path) -> Generator[IO[bytes]]:
    """Open the file for rejected lines before any line is stored; an existing file is replaced at the end."""
    target = path.resolve()
    if target.exists() and not target.is_file():  # a device or a pipe can be written to; a folder cannot
        with target.open("wb") as sink:
            yield sink
        return
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as sink:
        temporary = Path(sink.name)
        try:
            yield sink
            sink.close()
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _answer(ctx: CommandContext, report: "ImportReport", hint: str) -> Result:
    where = f" in {names}" if (names := _named_spaces(report)) else ""
    if report.dry_run:
        summary = f"{report.storable} of {report.found} can be stored{where}"
    else:
        summary = f"{report.stored} of {report.found} stored{where}, {report.known} already stored"
    if report.updated:
        summary += f", {report.updated} updated"
    if report.corrected:
        summary += f", {report.corrected} not updated because they were changed here"
    if report.forgotten:
        summary += f", {report.forgotten} left out as deleted"
    skips = " (dry run; items already stored would be skipped)" if report.dry_run else ""
    lines = [OutputLine(f"{summary}, {report.refused} rejected{skips}")]
    data = {name: getattr(report, name) for name in _COUNTS} | {"spaces": sorted(report.spaces)}
    if not report.refused:
        return Result(data=data, lines=lines)
    for refusal in report.refusals:
        ctx.note(one_line(refusal))
    failure = Failure(
        code="partial", message=f"{plural(report.refused, 'item was', 'items were')} rejected.", hint=hint
    )
    return Result(data=data, lines=lines, code=ExitCode.PARTIAL, failure=failure)


def _named_spaces(report: "ImportReport") -> str:
    """Name the spaces of an import: "space mira", or "2 spaces (ida 3, mira 4)"."""
    if len(report.spaces) < 2:
        return "".join(f"space {name}" for name in report.spaces)
    names = [f"{name} {count}" for name, count in report.spaces.most_common(_NAMED_SPACES)]
    return f"{len(report.spaces)} spaces ({', '.join(names)}{', …' if len(report.spaces) > len(names) else ''})"


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
