"""The command that answers a question from memory."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, Result, command
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.terminal import OutputLine, one_line, when, write
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.answers import AnswerSentence, MemoryAnswer

app = typer.Typer()

_WIDTH = 100
_WHY = {
    "nothing_found": "memory holds nothing on this",
    "not_held": "memory does not hold the answer",
    "not_proven": "what the model answered stands in no memory, so it was dropped",
    "declined": "the model declined to answer",
}


@command(app, more=NARROWING)
async def ask(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="What to answer, in plain words.")],
    *,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="REF", help="Answer as if this memory were not there. Repeatable."),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Answer from what was known at this time.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="How many tokens of memory the model reads.", min=1)
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many memories it reads.", min=1, max=1_000)] = 20,
    deadline: Annotated[float, typer.Option(metavar="SECONDS", help="When to give up.", min=0, max=600)] = 60.0,
) -> Result:
    """Answer a question from memory with the model, each sentence with its sources.

    What no memory proves is left out. If memory does not hold the answer, it says so.
    """
    from bethink.model.answers import streaming  # noqa: PLC0415 - --help must not wait for it
    from bethink.model.recall import Ref  # noqa: PLC0415

    numbers: dict[str, int] = {}

    def tell(sentence: "AnswerSentence") -> None:
        if not ctx.options.json:
            write([_sentence(sentence, numbers)], sys.stdout)
            sys.stdout.flush()

    with streaming(tell):
        answer = await ctx.space.ask(
            question, without=tuple(map(Ref.parse, without or ())), as_of=as_of, budget=budget, limit=limit,
            deadline=deadline, **narrowing(ctx.more),
        )  # fmt: skip
    if answer.refused is not None:
        ctx.note(f"note: {_WHY.get(answer.refused, answer.refused)}")
    if answer.sentences and answer.dropped:
        ctx.note(f"note: {plural(len(answer.dropped), 'sentence')} left out, which no memory proves")
    return Result(data=answer, lines=list(_sources(answer, numbers)))


def _sentence(sentence: "AnswerSentence", numbers: dict[str, int]) -> OutputLine:
    cited = "".join(f"[{numbers.setdefault(ref, len(numbers) + 1)}]" for ref in sentence.refs)
    return OutputLine(f"{one_line(sentence.text)} {cited}")


def _sources(answer: "MemoryAnswer", numbers: dict[str, int]) -> Iterator[OutputLine]:
    by_ref = {str(item.ref): item for item in answer.cited}
    for ref, number in numbers.items():
        item = by_ref[ref]
        yield OutputLine(f"  [{number}] {when(item.at)}  {one_line(item.text, _WIDTH)} ({one_line(item.origin)})")
        yield OutputLine(f"      {ref}", "dim")
