"""The command that evaluates a memory on questions of one's own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import read_file
from bethink.cli.command import CommandContext, ExitCode, Failure, Result, UsageError, command
from bethink.cli.terminal import OutputLine, columns, one_line
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.config.settings import Settings
    from bethink.extend import Model
    from bethink.features.evaluation.run import EvalOptions, Evaluation

app = typer.Typer()

_JUDGES = ("contains", "exact", "model")
_WIDTH = 80
Price = Annotated[float | None, typer.Option(metavar="DOLLARS", help="For a million tokens.  [default: as set]", min=0)]


@command(app, "eval", effect="changes")
async def evaluate(  # noqa: PLR0913 - each is an option of the command
    ctx: CommandContext,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Questions as JSON Lines; - reads stdin.")],
    *,
    k: Annotated[
        int, typer.Option("--k", metavar="N", help="How many results may hold the evidence.", min=1, max=1_000)
    ] = 10,
    judge: Annotated[
        str, typer.Option(metavar="HOW", help="How answers are judged: contains, exact, model, or by PROVIDER:NAME.")
    ] = "contains",
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also answer from everything that was said, and from nothing.")
    ] = False,
    no_answers: Annotated[bool, typer.Option("--no-answers", help="Look for evidence only, without a model.")] = False,
    budget: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="How many tokens of memory the model reads.", min=1)
    ] = None,
    price_input: Price = None,
    price_output: Price = None,
    goal: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Fail if fewer answers are right, or less evidence is found.", min=0, max=1),
    ] = None,
) -> Result:
    """Evaluate memory on your own questions: evidence, answers, tokens and cost.

    Each line has a question with an answer, or with evidence: texts or refs that recall should find, or both. An answer
    of null means that memory does not hold it, and must say so.
    """
    from bethink.features.evaluation.questions import read_questions  # noqa: PLC0415 - --help must not wait for it
    from bethink.features.evaluation.run import Evaluator  # noqa: PLC0415
    from bethink.memory.plugins import Providers  # noqa: PLC0415

    questions = read_questions(read_file(file, what="the questions").splitlines())
    settings = ctx.target.settings
    options = _options(
        settings, k=k, judge=judge, baselines=baselines, budget=budget, prices=(price_input, price_output)
    )
    providers = Providers(settings)
    model = None if no_answers else providers.model()
    if model is None and not no_answers and any(each.answers is not None for each in questions):
        ctx.note("note: no model is configured, so only evidence is looked for; set model, such as 'openai:NAME'")
    judging = None if no_answers else _judge(settings, judge)
    evaluator = Evaluator(ctx.space, model=model, tokens=providers.tokens(), options=options, judge=judging)
    found = await evaluator.run(questions)
    return _result(found, goal)


def _options(
    settings: "Settings",
    *,
    k: int,
    judge: str,
    baselines: bool,
    budget: int | None,
    prices: tuple[float | None, float | None],
) -> "EvalOptions":
    from bethink.features.evaluation.judges import Judging  # noqa: PLC0415 - as above
    from bethink.features.evaluation.run import EvalOptions  # noqa: PLC0415
    from bethink.model.prices import Prices  # noqa: PLC0415

    if judge not in _JUDGES and ":" not in judge:
        raise UsageError(f"unknown judge {judge!r}.", hint=f"Use {', '.join(_JUDGES)}, or a model such as openai:NAME.")
    read, written = prices
    price = Prices(
        input=settings.model.price_input if read is None else read,
        output=settings.model.price_output if written is None else written,
    )
    return EvalOptions(
        k=k, judging=Judging.MODEL if ":" in judge else Judging(judge), baselines=baselines, budget=budget, prices=price
    )


def _judge(settings: "Settings", judge: str) -> "Model | None":
    """Return the model that is to judge, if it is another one. One of another provider has an address of its own."""
    from bethink.config.settings import with_values  # noqa: PLC0415
    from bethink.memory.plugins import Providers  # noqa: PLC0415 - as above

    provider, colon, _ = judge.partition(":")
    if not colon:
        return None
    own = {} if settings.model.name.partition(":")[0] == provider else {"model_base_url": "", "model_api_key": ""}
    return Providers(with_values(settings, {"model": judge, **own})).model()


def _result(found: "Evaluation", goal: float | None) -> Result:
    lines = list(_lines(found))
    reached = found.right() if found.figures else found.evidence.get(found.k)
    if goal is None or (reached is not None and reached >= goal):
        return Result(data=found, lines=lines)
    shown = "nothing was measured" if reached is None else f"{reached:.3f} is below the goal of {goal:.3f}"
    failure = Failure(code="failed", message=f"{shown}.", hint="Run it with --json to see each question.")
    return Result(data=found, lines=lines, code=ExitCode.FAILURE, failure=failure)


def _lines(found: "Evaluation") -> Iterator[OutputLine]:
    yield OutputLine(plural(found.questions, "question"), "bold")
    if found.evidence:
        shares = ", ".join(f"{share:.3f} in {cut}" for cut, share in found.evidence.items())
        yield OutputLine(f"evidence found: {shares}")
    rows = [
        [
            each.context, f"{each.right:.3f}", f"{each.refused:.3f}", str(each.usage.input_tokens),
            str(each.usage.output_tokens), f"{each.usage.cost / 1_000_000:.4f}",
        ]
        for each in found.figures
    ]  # fmt: skip
    if rows:
        yield from columns(rows, head=["answers from", "right", "refused", "read", "written", "dollars"])
    for result in found.results:
        wrong = [each for each in result.answers if each.context == "memory" and not each.right]
        if wrong or 0 in result.ranks:
            what = "wrong" if wrong else "evidence missed"
            yield OutputLine(f"{what}: {one_line(result.question.question, _WIDTH)}")
