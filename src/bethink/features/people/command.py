"""Commands for data about a person, in all spaces: admin person find, export and forget."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, DryRun, Yes, command
from bethink.cli.erasures import write_receipt
from bethink.cli.export import note_export, private
from bethink.cli.forget import deletion_counts, deletion_line
from bethink.cli.narrowing import repeatable
from bethink.cli.paging import Limit
from bethink.cli.results import ExitCode, Failure, Result, UsageError
from bethink.cli.terminal import OutputLine, one_line
from bethink.model.plural import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bethink.features.people.records import PersonDeletion, PersonInSpace

app = typer.Typer()
person = typer.Typer(help="Find, export or delete all data about a person.")
app.add_typer(person, name="admin person")

_SEARCH = {
    "alias": repeatable("NAME", "Other name of the same person."),
    "match": repeatable("MATCH", "Match by speaker, text or entity.  [default: all]"),
}
_MATCHES = {"speaker": "speaker", "text": "words", "entity": "entities"}
"""The values of --match, and the names of the ways in Python."""
Person = Annotated[str, typer.Argument(metavar="NAME", help="Name, as whole words; case and accents are ignored.")]
_PAGE = 10_000


@command(person, by_folder=False, more=_SEARCH)
async def find(ctx: CommandContext, name: Person, *, limit: Limit = 20) -> Result:
    """Find all data about a person. Searches all spaces that the key can read, or the one in --space."""
    search: dict[str, Any] = {**_search(ctx), "limit": limit}
    if ctx.options.space is not None:
        matches = await ctx.space.admin.people.find(name, **search)
        return Result(data=matches, lines=_match_lines([matches] if matches.total else []))
    report = await ctx.memory.admin.people.find(name, **search)
    ctx.note(f"note: searched by {_ways(report.matched_by)} in {plural(report.spaces_searched, 'space')}")
    _note_limits(ctx, report.limitations)
    return Result(data=report, lines=_match_lines(report.spaces))


@command(person, by_folder=False, more=_SEARCH)
async def export(
    ctx: CommandContext,
    name: Person,
    *,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="File.  [default: stdout]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> Result:
    """Export all data about a person as JSON. With --space, of that space."""
    search, items, after = _search(ctx), list[Any](), ""
    where = ctx.memory if ctx.options.space is None else ctx.space
    while True:
        page = await where.admin.people.export(name, **search, limit=_PAGE, after=after)
        items += page.items
        if not page.next:
            break
        after = page.next
    data = {"items": items, "limitations": page.limitations}
    _note_limits(ctx, page.limitations)
    if output is None:
        return Result(data=data, lines=[OutputLine(json.dumps(_plain(data), ensure_ascii=False, indent=2))])
    _write(Path(output), _plain(data), force=force)
    for space in sorted({item.space for item in items}):
        await note_export(ctx, Path(output), space=space)
    return Result(
        data={"file": output, "items": len(items)}, lines=[OutputLine(f"{plural(len(items), 'item')}: {output}")]
    )


@command(person, effect="changes", by_folder=False, more=_SEARCH)
async def forget(
    ctx: CommandContext,
    name: Person,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason for the record, without the name.")] = "",
    receipts: Annotated[str | None, typer.Option(metavar="FOLDER", help="Folder for the receipts.")] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Permanently delete all data about a person. Covers all spaces. This cannot be undone."""
    if ctx.options.space is not None:
        raise UsageError(
            "This command deletes data in all spaces.", hint="Leave out --space; a key may be limited to some spaces."
        )
    search = _search(ctx)
    report = await ctx.memory.admin.people.forget(name, **search, dry_run=True)
    if not dry_run:
        deletions = [item for item in report.spaces if not item.refused]
        total = ", ".join(f"{deletion_counts(item.deletion)} from space {item.space}" for item in deletions)
        ctx.confirm(f"Delete {total or 'nothing'}?", yes=yes)
        report = await ctx.memory.admin.people.forget(name, **search, reason=reason)
        if receipts is not None:
            _write_receipts(Path(receipts), report)
    ctx.note(f"note: searched by {_ways(report.matched_by)} in {plural(report.spaces_searched, 'space')}")
    _note_limits(ctx, report.limitations)
    on_hold = [one_line(item.space) for item in report.spaces if item.refused]
    if not on_hold:
        return Result(data=report, lines=_deletion_lines(report))
    verb = "would remain" if dry_run else "remains"
    message = f"{name!r} {verb} in {', '.join(on_hold)}: a legal hold blocks the deletion."
    hint = "See 'bethink admin hold list'; when the hold is lifted, run the command again."
    failure = Failure(code="partial", message=message, hint=hint)
    return Result(data=report, lines=_deletion_lines(report), code=ExitCode.PARTIAL, failure=failure)


def _write_receipts(folder: Path, report: "PersonDeletion") -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for item in report.spaces:
        if item.deletion.receipt:
            write_receipt(str(folder / f"{item.deletion.erasure_id}.json"), item.deletion.receipt)


def _search(ctx: CommandContext) -> dict[str, Any]:
    """Return the parameters of the search in Python."""
    from bethink.features.people.records import PersonMatchKind  # noqa: PLC0415 - see command.py

    words: list[str] = ctx.more["match"] or list(_MATCHES)
    unknown = [word for word in words if word not in _MATCHES]
    if unknown:
        raise UsageError(f"Unknown match {unknown[0]!r}.", hint=f"Use one of {', '.join(_MATCHES)}.")
    return {
        "aliases": tuple(ctx.more["alias"] or ()),
        "match": tuple(PersonMatchKind(_MATCHES[word]) for word in words),
    }


def _ways(names: "Iterable[str]") -> str:
    words = {way: word for word, way in _MATCHES.items()}
    return ", ".join(words.get(name, name) for name in names)


def _note_limits(ctx: CommandContext, limitations: "Iterable[str]") -> None:
    for limit in limitations:
        ctx.note(f"note: not searched, and may remain: {limit}")


def _match_lines(spaces: "Iterable[PersonInSpace]") -> list[OutputLine]:
    lines: list[OutputLine] = []
    for item in spaces:
        kinds = ("messages", "facts", "session_summaries", "documents", "threads", "others")
        counts = [f"{getattr(item, kind)} {kind.replace('_', ' ')}" for kind in kinds if getattr(item, kind)]
        ways = [f"{getattr(item, way)} by {word}" for word, way in _MATCHES.items() if getattr(item, way)]
        lines.append(OutputLine(f"{one_line(item.space)}: {', '.join(counts)} ({', '.join(ways)})"))
        lines += [OutputLine(f"  {ref}") for ref in item.refs]
        lines += [OutputLine(f"  thread:{one_line(thread)}") for thread in item.thread_ids]
        lines += [OutputLine(f"  {one_line(other)}") for other in item.other_ids]
    return lines or [OutputLine("No match.")]


def _deletion_lines(report: "PersonDeletion") -> list[OutputLine]:
    lines = [
        OutputLine(f"{one_line(item.space)}: Nothing deleted: {one_line(item.refused)}")
        if item.refused
        else OutputLine(f"{one_line(item.space)}: {deletion_line(item.deletion, dry_run=report.dry_run)}")
        for item in report.spaces
    ]
    return lines or [OutputLine("No match.")]


def _plain(value: Any) -> Any:
    from bethink.cli.terminal import to_json  # noqa: PLC0415 - see command.py

    return json.loads(to_json(value))


def _write(path: Path, value: Any, *, force: bool) -> None:
    if path.exists() and not force:
        raise UsageError(f"{path} already exists.", hint="Pass another file, or --force.")
    with open(path, "w", encoding="utf-8", opener=private) as file:
        json.dump(value, file, ensure_ascii=False, indent=2)
        file.write("\n")
