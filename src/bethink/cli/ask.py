"""The command that answers a question from memory."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.recall import SEVERAL, spaces_in_use
from bethink.cli.results import Result
from bethink.cli.terminal import OutputLine, one_line, when, write
from bethink.cli.viewing import VIEW, view
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.answers import Answer, AnswerSentence

app = typer.Typer()

_WIDTH = 100
_REASONS = {
    "nothing_found": "No match. Try other words or another space.",
    "not_in_memory": "Memory does not have the answer.",
    "not_proven": "No memory supports what the model answered, so the answer was dropped.",
    "declined": "The model declined to answer.",
}


@command(app, without=NO_SPACE, more={**NARROWING, **SEVERAL, **VIEW})
async def ask(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="Question, in plain words.")],
    *,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="Memory to exclude from the answer. Repeatable.")
    ] = None,
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="Maximum size of the memories.", min=1)] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Maximum number of memories.", min=1, max=1_000)] = 20,
    seconds: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="Time limit.", min=0, max=600)] = 60.0,
) -> Result:
    """Answer a question from memory, with citations.

    The model answers, and sentences that no memory supports are dropped.
    """
    from bethink.model.refs import Ref  # noqa: PLC0415 - --help must not wait for it

    numbers: dict[str, int] = {}

    def print_sentence(sentence: "AnswerSentence") -> None:
        if not ctx.options.json:
            write([_sentence(sentence, numbers)], sys.stdout)
            sys.stdout.flush()

    answer = await spaces_in_use(ctx).ask(
        question, exclude=tuple(map(Ref.parse, exclude or ())), budget=budget, limit=limit,
        timeout=seconds, on_sentence=print_sentence, **view(ctx.more), **narrowing(ctx.more),
    )  # fmt: skip
    if len(answer.searches) > 1:
        ctx.note(f"note: also searched for {one_line('; '.join(answer.searches[1:]), _WIDTH)}")
    if answer.refusal is not None:
        ctx.note(_REASONS.get(answer.refusal, answer.refusal))
    if answer.sentences and answer.rejected_sentences:
        ctx.note(f"note: {plural(len(answer.rejected_sentences), 'sentence')} dropped, which no memory supports")
    return Result(data=answer, lines=list(_sources(answer, numbers)))


def _sentence(sentence: "AnswerSentence", numbers: dict[str, int]) -> OutputLine:
    citations = "".join(f"[{numbers.setdefault(ref, len(numbers) + 1)}]" for ref in sentence.refs)
    return OutputLine(f"{one_line(sentence.text)} {citations}")


def _sources(answer: "Answer", numbers: dict[str, int]) -> Iterator[OutputLine]:
    from bethink.model.status_words import status_mark  # noqa: PLC0415 - --help must not wait for it

    by_ref = {str(item.ref): item for item in answer.cited}
    for ref, number in numbers.items():
        item = by_ref[ref]
        mark = f", {one_line(status_mark(item))}" if status_mark(item) else ""
        where = f" in {one_line(item.space)}" if item.space else ""
        yield OutputLine(
            f"  [{number}] {when(item.said_at)}  {one_line(item.text, _WIDTH)} ({one_line(item.origin)}{where}){mark}"
        )
        yield OutputLine(f"      {ref}", "dim")
