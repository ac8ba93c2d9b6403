"""The command that corrects a memory: correct."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.base.features import modules_named
from bethink.base.frozen import frozen
from bethink.cli.add import note_redaction, read_text
from bethink.cli.command import CommandContext, DryRun, Result, UsageError, Yes, command
from bethink.cli.refs import LIST_HINT, resolve_ref
from bethink.cli.terminal import OutputLine
from bethink.errors import Invalid, NotFound, Stale

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.recall import Ref

app = typer.Typer()


@frozen
class CorrectedText:
    """What was corrected, for features that do something with it: `after_correction` in their `correction.py`."""

    ref: "Ref"
    before: str
    after: str
    question: str | None
    keep_test: bool


@command(app, effect="changes")
async def correct(
    ctx: CommandContext,
    ref: Annotated[str, typer.Argument(help="A ref of a fact or a document, as recall prints it, or a path.")],
    text: Annotated[
        str, typer.Argument(help="The complete new text. Without one, or with -, read it from stdin.")
    ] = "-",
    *,
    test: Annotated[
        bool, typer.Option("--test", help="Keep a memory test: the new text must come back, the old one must not.")
    ] = False,
    question: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The question of the test.  [default: the words that both texts share]"),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="DATE", help="From when on the fact is no longer recalled.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Write a new version of a fact or a document. Earlier versions are kept; see 'bethink show'."""
    old = await resolve_ref(ctx.space, ref)
    before, version = await _current(ctx.space, old)
    if version != old.number:
        hint = f"Look at it with 'bethink show {old.kind}:{old.id}:{version}', then correct that version."
        raise Stale(f"{old.kind} {old.id} is now at version {version}.", current=version, hint=hint)
    given = read_text(text, what="the new text").rstrip("\n")
    if not given.strip():
        hint = "Pass a text, or write one to stdin. To remove a memory, use 'bethink forget'."
        raise UsageError("the new text is empty.", hint=hint)
    if dry_run:
        data = {"ref": old, "before": before, "after": given, "dry_run": True}
        return Result(data=data, lines=_changes(before, given) or [OutputLine("nothing would change")])
    ctx.confirm(f"Correct {old}?", yes=yes)
    done = await ctx.space.correct(old, given, expires_at=expires)
    note_redaction(ctx, given, done.text)
    line = f"{done.ref} replaces {old}" if done.ref != old else f"{old} is unchanged: it already says this"
    data = {"ref": done.ref, "previous": old, "text": done.text}
    result = Result(data=data, lines=[OutputLine(line)])
    correction = CorrectedText(ref=done.ref, before=before, after=done.text, question=question, keep_test=test)
    for module in modules_named("correction"):
        result = await module.after_correction(ctx, correction, result)
    return result


async def _current(space: "Space", ref: "Ref") -> tuple[str, int]:
    """Return the current text and version of what a ref names.

    Raises `NotFound`, and `Invalid` for what never changes.
    """
    try:
        if ref.kind == "fact":
            fact = await space.facts.get(ref.id)
            return fact.content, fact.version
        if ref.kind == "document":
            document = await space.documents.get(ref.id)
            return document.body, document.version
    except NotFound as error:
        error.hint = LIST_HINT
        raise
    hint = "Correct a fact or a document instead, 'bethink add' a new text, or 'bethink forget' this one."
    raise Invalid(f"a {ref.kind.replace('_', ' ')} cannot be corrected.", hint=hint)


def _changes(before: str, after: str) -> list[OutputLine]:
    from difflib import ndiff  # noqa: PLC0415

    styles = {"+": "green", "-": "red"}
    lines = [line for line in ndiff(before.splitlines(), after.splitlines()) if line[:1] in styles]
    return [OutputLine(line, styles[line[:1]]) for line in lines]
