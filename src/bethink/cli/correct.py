"""Commands that replace the text of a memory: fact correct and doc edit."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.base.features import modules_named
from bethink.base.frozen import frozen
from bethink.cli.add import note_redaction, read_text
from bethink.cli.command import CommandContext, DryRun, Yes, command
from bethink.cli.refs import LIST_HINT, resolve_ref
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine
from bethink.errors import InvalidRequestError, NotFoundError, VersionConflictError

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.refs import Ref

app = typer.Typer()

NewText = Annotated[str, typer.Argument(help="Complete new text, or - for stdin.")]
Test = Annotated[bool, typer.Option("--test", help="Add a memory test for the new text.")]
Question = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Question of the memory test.  [default: words that both texts share]"),
]


@frozen
class CorrectedText:
    """A correction, for features that act on it with `after_correction` in their `correction.py`."""

    ref: "Ref"
    before: str
    after: str
    question: str | None
    keep_test: bool


@command(app, "fact correct", effect="changes")
async def correct(
    ctx: CommandContext,
    ref: Annotated[str, typer.Argument(help="Ref of a fact, as recall prints it.")],
    text: NewText = "-",
    *,
    test: Test = False,
    question: Question = None,
    expires_at: Annotated[
        str | None, typer.Option(metavar="DATE", help="Last day on which the fact is recalled.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Replace the text of a fact. Earlier versions stay in its history; see 'bethink show'."""
    old = await resolve_ref(ctx.space, ref)
    if old.kind == "document":
        raise UsageError(f"'{old}' is a document.", hint=f"Run 'bethink doc edit {old}'.")
    return await _replace_text(ctx, old, text, (test, question), expires_at=expires_at, dry_run=dry_run, yes=yes)


@command(app, "doc edit", effect="changes")
async def edit(
    ctx: CommandContext,
    document: Annotated[str, typer.Argument(help="Path or ref of a document. Quote a path that begins with ~.")],
    text: NewText = "-",
    *,
    test: Test = False,
    question: Question = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Replace the text of a document. Earlier versions stay in its history; see 'bethink doc history'."""
    old = await resolve_ref(ctx.space, document)
    if old.kind == "fact":
        raise UsageError(f"'{old}' is a fact.", hint=f"Run 'bethink fact correct {old}'.")
    return await _replace_text(ctx, old, text, (test, question), expires_at=None, dry_run=dry_run, yes=yes)


async def _replace_text(
    ctx: CommandContext,
    old: "Ref",
    text: str,
    test: tuple[bool, str | None],
    *,
    expires_at: str | None,
    dry_run: bool,
    yes: bool,
) -> Result:
    before, version = await _current(ctx.space, old)
    if version != old.number:
        hint = f"Look at it with 'bethink show {old.kind}:{old.id}:{version}', then correct that version."
        raise VersionConflictError(
            f"{old.kind.capitalize()} {old.id} is now at version {version}.", current=version, hint=hint
        )
    new = read_text(text, label="the new text").rstrip("\n")
    if not new.strip():
        hint = "Pass a text, or write one to stdin. To delete a memory, use 'bethink forget'."
        raise UsageError("The new text is empty.", hint=hint)
    if dry_run:
        data = {"ref": old, "before": before, "after": new, "dry_run": True}
        return Result(data=data, lines=_changes(before, new) or [OutputLine("Nothing would change.")])
    ctx.confirm(f"Replace the text of {old}?", yes=yes)
    corrected = await ctx.space.correct(old, new, expires_at=expires_at)
    note_redaction(ctx, new, corrected.text)
    line = f"{corrected.ref} replaces {old}" if corrected.ref != old else f"{old} is unchanged: same text"
    data = {"ref": corrected.ref, "previous": old, "text": corrected.text}
    result = Result(data=data, lines=[OutputLine(line)])
    keep_test, question = test
    correction = CorrectedText(
        ref=corrected.ref, before=before, after=corrected.text, question=question, keep_test=keep_test
    )
    for module in modules_named("correction"):
        result = await module.after_correction(ctx, correction, result)
    return result


async def _current(space: "Space", ref: "Ref") -> tuple[str, int]:
    """Return the current text and version of a fact or a document.

    Raises `NotFoundError`, and `InvalidRequestError` for a memory that never changes.
    """
    try:
        if ref.kind == "fact":
            fact = await space.facts.get(ref.id)
            return fact.text, fact.version
        if ref.kind == "document":
            document = await space.documents.get(ref.id)
            return document.body, document.version
    except NotFoundError as error:
        error.hint = LIST_HINT
        raise
    hint = "Correct a fact or a document instead, 'bethink add' a new text, or 'bethink forget' this one."
    raise InvalidRequestError(f"A {ref.kind.replace('_', ' ')} cannot be corrected.", hint=hint)


def _changes(before: str, after: str) -> list[OutputLine]:
    from difflib import ndiff  # noqa: PLC0415

    styles = {"+": "green", "-": "red"}
    lines = [line for line in ndiff(before.splitlines(), after.splitlines()) if line[:1] in styles]
    return [OutputLine(line, styles[line[:1]]) for line in lines]
