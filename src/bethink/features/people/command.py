"""Commands about a person, in all spaces: find, export and forget what is held of them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, DryRun, ExitCode, Failure, Result, UsageError, Yes, command
from bethink.cli.erasures import write_receipt
from bethink.cli.export import note_written, private
from bethink.cli.forget import counted
from bethink.cli.lists import Limit
from bethink.cli.narrowing import repeatable
from bethink.cli.terminal import OutputLine, one_line
from bethink.model.plural import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bethink.features.people.records import PersonErased, PersonInSpace

app = typer.Typer()
person = typer.Typer(help="Find, export and forget what is held of a person, in all spaces.")
app.add_typer(person, name="person")

_LOOKING = {
    "alias": repeatable("NAME", "Another name of the same person."),
    "by": repeatable("WAY", "Look only by speaker, words or entities."),
}
Person = Annotated[str, typer.Argument(metavar="NAME", help="The name, as whole words; case and accents do not count.")]
_PAGE = 10_000


@command(person, more=_LOOKING)
async def find(ctx: CommandContext, name: Person, *, limit: Limit = 20) -> Result:
    """Count and name what is held of a person. With --space, in that space; otherwise in all that the key may see."""
    asked: dict[str, Any] = {**_looking(ctx), "limit": limit}
    if ctx.options.space is not None:
        here = await ctx.space.find_person(name, **asked)
        return Result(data=here, lines=_found([here] if here.total else []))
    found = await ctx.memory.find_person(name, **asked)
    ctx.note(f"note: looked by {', '.join(found.looked)} in {plural(found.spaces_searched, 'space')}")
    _say_limits(ctx, found.not_claimed)
    return Result(data=found, lines=_found(found.spaces))


@command(person, more=_LOOKING)
async def export(
    ctx: CommandContext,
    name: Person,
    *,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> Result:
    """Write the texts that are held of a person as JSON. With --space, of that space."""
    asked, items, after = _looking(ctx), list[Any](), ""
    where = ctx.memory if ctx.options.space is None else ctx.space
    while True:
        page = await where.export_person(name, **asked, limit=_PAGE, after=after)
        items += page.items
        if page.next is None:
            break
        after = page.next
    whole = {"items": items, "not_claimed": page.not_claimed}
    _say_limits(ctx, page.not_claimed)
    if output is None:
        return Result(data=whole, lines=[OutputLine(json.dumps(_plain(whole), ensure_ascii=False, indent=2))])
    _write(Path(output), _plain(whole), force=force)
    for space in sorted({each.space for each in items}):
        await note_written(ctx, Path(output), of=space)
    return Result(
        data={"file": output, "items": len(items)}, lines=[OutputLine(f"{plural(len(items), 'item')}: {output}")]
    )


@command(person, effect="changes", more=_LOOKING)
async def forget(
    ctx: CommandContext,
    name: Person,
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record, without the name.")] = "",
    receipts: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Write the receipt of each space to this folder.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Delete what is held of a person, and everything that was learnt from it. This cannot be undone."""
    if ctx.options.space is not None:
        raise UsageError(
            "a person is forgotten in all spaces.", hint="Leave out --space; a key may be for some spaces."
        )
    asked = _looking(ctx)
    would = await ctx.memory.forget_person(name, **asked, dry_run=True)
    done = would
    if not dry_run:
        total = ", ".join(f"{counted(each.went)} from space {each.space}" for each in would.spaces if not each.refused)
        ctx.confirm(f"Delete {total or 'nothing'}?", yes=yes)
        done = await ctx.memory.forget_person(name, **asked, reason=reason)
        if receipts is not None:
            _write_receipts(Path(receipts), done)
    ctx.note(f"note: looked by {', '.join(done.looked)} in {plural(done.spaces_searched, 'space')}")
    _say_limits(ctx, done.not_claimed)
    held = [one_line(each.space) for each in done.spaces if each.refused]
    if not held:
        return Result(data=done, lines=_erased(done))
    left = f"{name!r} {'would be' if dry_run else 'is'} left in {', '.join(held)}: a legal hold refuses it."
    hint = "See 'bethink retention holds'; once the hold is lifted, run this again."
    failure = Failure(code="partial", message=left, hint=hint)
    return Result(data=done, lines=_erased(done), code=ExitCode.PARTIAL, failure=failure)


def _write_receipts(folder: Path, done: "PersonErased") -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in done.spaces:
        if each.went.receipt:
            write_receipt(str(folder / f"{each.went.erasure_id}.json"), each.went.receipt)


def _looking(ctx: CommandContext) -> dict[str, Any]:
    from bethink.features.people.records import PersonWay  # noqa: PLC0415
    from bethink.model.checks import any_of  # noqa: PLC0415 - see command.py

    by = any_of("by", ctx.more["by"], PersonWay) if ctx.more["by"] else tuple(PersonWay)
    return {"aliases": tuple(ctx.more["alias"] or ()), "by": by}


def _say_limits(ctx: CommandContext, not_claimed: "Iterable[str]") -> None:
    for each in not_claimed:
        ctx.note(f"note: not looked for, and may be left: {each}")


def _found(spaces: "Iterable[PersonInSpace]") -> list[OutputLine]:
    lines: list[OutputLine] = []
    for each in spaces:
        kinds = ("messages", "facts", "session_memories", "documents", "threads", "others")
        counts = [f"{getattr(each, kind)} {kind.replace('_', ' ')}" for kind in kinds if getattr(each, kind)]
        ways = [f"{getattr(each, way)} by {way}" for way in ("speaker", "words", "entities") if getattr(each, way)]
        lines.append(OutputLine(f"{one_line(each.space)}: {', '.join(counts)} ({', '.join(ways)})"))
        lines += [OutputLine(f"  {ref}") for ref in each.refs]
        lines += [OutputLine(f"  thread:{one_line(thread)}") for thread in each.thread_ids]
        lines += [OutputLine(f"  {one_line(other)}") for other in each.other_ids]
    return lines or [OutputLine("nothing was found")]


def _erased(done: "PersonErased") -> list[OutputLine]:
    state = "would be forgotten" if done.dry_run else "forgotten"
    lines = [
        OutputLine(f"{one_line(each.space)}: not {state}: {one_line(each.refused)}")
        if each.refused
        else OutputLine(f"{one_line(each.space)}: {state}: {counted(each.went)}")
        for each in done.spaces
    ]
    return lines or [OutputLine("nothing was found")]


def _plain(value: Any) -> Any:
    from bethink.cli.terminal import to_json  # noqa: PLC0415 - see command.py

    return json.loads(to_json(value))


def _write(path: Path, value: Any, *, force: bool) -> None:
    if path.exists() and not force:
        raise UsageError(f"{path} exists.", hint="Give another file, or --force.")
    with open(path, "w", encoding="utf-8", opener=private) as file:
        json.dump(value, file, ensure_ascii=False, indent=2)
        file.write("\n")
