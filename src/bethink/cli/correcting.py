"""The command that puts a memory right: correct."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.adding import note_cut, read_text
from bethink.cli.forgetting import DryRun, Yes
from bethink.cli.frame import Answer, Door, Usage, command
from bethink.cli.naming import LISTED, ref_of
from bethink.cli.terminal import Line
from bethink.errors import Invalid, NotFound, Stale

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.recall import Ref

app = typer.Typer()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """A memory as it stands: its text, and the way to write the next version, which returns that one."""

    text: str
    version: int
    write: "Callable[[str], Awaitable[_Standing]]"


@command(app, does="changes")
async def correct(
    door: Door,
    ref: Annotated[str, typer.Argument(help="A fact or a document as recall names it, or a document's path.")],
    text: Annotated[str, typer.Argument(help="The whole new text; - or nothing reads it from stdin.")] = "-",
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Write a new version of a fact or a document. The versions before stay, and show lists them."""
    old = await ref_of(door.memory, ref, space=door.space)
    now = await _standing(door.memory, door.space, old)
    if now.version != old.number:
        hint = f"Look at it with 'bethink show {old.kind}:{old.id}:{now.version}', and correct that one."
        raise Stale(f"{old.kind} {old.id} is at version {now.version} by now.", current=now.version, hint=hint)
    said = read_text(text, what="the new text").rstrip("\n")
    if not said.strip():
        raise Usage("there is no new text.", hint="Give it, or write it to stdin; 'bethink forget' removes a memory.")
    if dry_run:
        data = {"ref": str(old), "before": now.text, "after": said, "dry_run": True}
        return Answer(data=data, lines=_changes(now.text, said) or [Line("nothing would change")])
    door.confirm(f"Correct {old}?", yes=yes)
    new = await now.write(said)
    note_cut(door, said, new.text)
    made = type(old)(old.kind, old.id, new.version)
    told = f"{made} takes the place of {old}" if made != old else f"{old} says that already"
    return Answer(data={"ref": str(made), "previous": str(old), "text": new.text}, lines=[Line(told)])


async def _standing(memory: "Memory", space: str, ref: "Ref") -> _Standing:
    """Find what is to be corrected. Raises `NotFound`, and `Invalid` for what cannot be."""
    find = {"fact": _fact, "document": _document}.get(ref.kind)
    if find is None:
        hint = "Correct the fact or document made of it; say it anew with 'bethink add', or 'bethink forget' it."
        raise Invalid(f"a {ref.kind.replace('_', ' ')} cannot be changed.", hint=hint)
    try:
        found = await find(memory, space, ref.id)
    except NotFound as error:
        error.hint = LISTED
        raise
    if found is None:
        raise NotFound(f"nothing is named {ref}.", hint=LISTED)
    return found


# Whoever sits at the command line is the user. A correction rests on what the text before it did and counts no more
# than that: so it keeps its origin and its sources, and forgetting those still reaches it.


async def _fact(memory: "Memory", space: str, fact_id: str) -> _Standing | None:
    facts = memory.facts(space=space)
    fact = await facts.get(fact_id)
    if fact is None:
        return None

    async def write(text: str) -> _Standing:
        await facts.index(replace(fact, content=text, made_by=None), expected=fact.version)
        new = await facts.get(fact_id) or fact
        return _Standing(text=new.content, version=new.version, write=write)

    return _Standing(text=fact.content, version=fact.version, write=write)


async def _document(memory: "Memory", space: str, document_id: str) -> _Standing | None:
    from bethink.model.documents import Author, Provenance  # noqa: PLC0415 - for a quick --help

    documents = memory.documents(space=space)
    document = await documents.get(document_id)
    if document is None:
        return None

    async def write(text: str) -> _Standing:
        sources = tuple(await documents.sources(document_id, document.version))
        by = Provenance(author=Author(reason="corrected"), origin=document.origin, sources=sources)
        draft = replace(document.draft(), body=text)
        new = await documents.update(document_id, draft, expected=document.version, by=by) or document
        return _Standing(text=new.body, version=new.version, write=write)

    return _Standing(text=document.body, version=document.version, write=write)


def _changes(before: str, after: str) -> list[Line]:
    from difflib import ndiff  # noqa: PLC0415

    styles = {"+": "green", "-": "red"}
    lines = [line for line in ndiff(before.splitlines(), after.splitlines()) if line[:1] in styles]
    return [Line(line, styles[line[:1]]) for line in lines]
