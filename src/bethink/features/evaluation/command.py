"""The command that measures recall and answers: test eval."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import read_file
from bethink.cli.command import CommandContext, command
from bethink.cli.results import ExitCode, Failure, Result, UsageError
from bethink.cli.terminal import OutputLine, columns, one_line
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.config.settings import Settings
    from bethink.extend import Model
    from bethink.features.evaluation.run import EvalOptions, Evaluation

app = typer.Typer()

_JUDGES = ("contains", "exact", "model")
_WIDTH = 80
Price = Annotated[
    float | None, typer.Option(metavar="DOLLARS", help="Price of a million tokens.  [default: as set]", min=0)
]


@command(app, "test eval", effect="changes")
async def evaluate(  # noqa: PLR0913 - each is an option of the command
    ctx: CommandContext,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Questions as JSON Lines; - for stdin.")],
    *,
    top_k: Annotated[
        int, typer.Option(metavar="N", help="Number of results to search for evidence.", min=1, max=1_000)
    ] = 10,
    judge: Annotated[
        str, typer.Option(metavar="JUDGE", help="Judge of answers: contains, exact, model, or PROVIDER:NAME.")
    ] = "contains",
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also answer with all messages, and without memory.")
    ] = False,
    no_answers: Annotated[bool, typer.Option("--no-answers", help="Check evidence only, without a model.")] = False,
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="Maximum size of the memories.", min=1)] = None,
    input_price: Price = None,
    output_price: Price = None,
    min_score: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Minimum share of correct answers, or of evidence.", min=0, max=1),
    ] = None,
) -> Result:
    """Measure recall and answers on your own questions.

    Each line has a question with an answer, or with evidence: texts or refs that recall should find, or both. An answer
    of null means that the answer is not in memory, and that the reply must say so.
    """
    from bethink.features.evaluation.questions import read_questions  # noqa: PLC0415 - --help must not wait for it
    from bethink.features.evaluation.run import Evaluator  # noqa: PLC0415
    from bethink.memory.plugins import Providers  # noqa: PLC0415

    questions = read_questions(read_file(file, label="the questions").splitlines())
    settings = ctx.target.settings
    options = _options(
        settings, top_k=top_k, judge=judge, baselines=baselines, budget=budget, prices=(input_price, output_price)
    )
    providers = Providers(settings)
    model = None if no_answers else providers.model()
    if model is None and not no_answers and any(question.answers is not None for question in questions):
        ctx.note("note: no model is configured, so only evidence is measured; set model, such as 'openai:NAME'")
    judging = None if no_answers else _judge(settings, judge)
    evaluator = Evaluator(ctx.space, model=model, tokens=providers.tokens(), options=options, judge=judging)
    evaluation = await evaluator.run(questions)
    return _result(evaluation, min_score)


def _options(
    settings: "Settings",
    *,
    top_k: int,
    judge: str,
    baselines: bool,
    budget: int | None,
    prices: tuple[float | None, float | None],
) -> "EvalOptions":
    from bethink.features.evaluation.judges import Judging  # noqa: PLC0415 - as above
    from bethink.features.evaluation.run import EvalOptions  # noqa: PLC0415
    from bethink.model.prices import Prices  # noqa: PLC0415

    if judge not in _JUDGES and ":" not in judge:
        raise UsageError(f"Unknown judge {judge!r}.", hint=f"Use {', '.join(_JUDGES)}, or a model such as openai:NAME.")
    input_price, output_price = prices
    price = Prices(
        input=settings.model.input_price if input_price is None else input_price,
        output=settings.model.output_price if output_price is None else output_price,
    )
    return EvalOptions(
        k=top_k,
        judging=Judging.MODEL if ":" in judge else Judging(judge),
        baselines=baselines,
        budget=budget,
        prices=price,
    )


def _judge(settings: "Settings", judge: str) -> "Model | None":
    """Return the model that judges, if it is another one. Another provider has its own address."""
    from bethink.config.settings import with_values  # noqa: PLC0415
    from bethink.memory.plugins import Providers  # noqa: PLC0415 - as above

    provider, colon, _ = judge.partition(":")
    if not colon:
        return None
    own = {} if settings.model.name.partition(":")[0] == provider else {"model_base_url": "", "model_api_key": ""}
    return Providers(with_values(settings, {"model": judge, **own})).model()


def _result(evaluation: "Evaluation", min_score: float | None) -> Result:
    lines = list(_lines(evaluation))
    score = evaluation.right() if evaluation.figures else evaluation.evidence.get(evaluation.k)
    if min_score is None or (score is not None and score >= min_score):
        return Result(data=evaluation, lines=lines)
    problem = "Nothing was measured" if score is None else f"The score {score:.3f} is below {min_score:.3f}"
    failure = Failure(code="failed", message=f"{problem}.", hint="Run it with --json to see each question.")
    return Result(data=evaluation, lines=lines, code=ExitCode.FAILURE, failure=failure)


def _lines(evaluation: "Evaluation") -> Iterator[OutputLine]:
    yield OutputLine(plural(evaluation.questions, "question"), "bold")
    if evaluation.evidence:
        shares = ", ".join(f"{share:.3f} in {cut}" for cut, share in evaluation.evidence.items())
        yield OutputLine(f"evidence found: {shares}")
    rows = [
        [
            row.context, f"{row.right:.3f}", f"{row.refused:.3f}", str(row.usage.input_tokens),
            str(row.usage.output_tokens), f"{row.usage.cost / 1_000_000:.4f}",
        ]
        for row in evaluation.figures
    ]  # fmt: skip
    if rows:
        yield from columns(rows, head=["ANSWERS FROM", "RIGHT", "REFUSED", "INPUT", "OUTPUT", "DOLLARS"])
    for result in evaluation.results:
        wrong = [answer for answer in result.answers if answer.context == "memory" and not answer.right]
        if wrong or 0 in result.ranks:
            label = "wrong" if wrong else "evidence missed"
            yield OutputLine(f"{label}: {one_line(result.question.question, _WIDTH)}")
