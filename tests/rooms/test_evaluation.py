"""Evaluation on custom questions: evidence, answers, judges, costs and baselines, with a scripted model."""

import json
import re

import pytest

from benchmarks.ask_cases import honest, lines
from bethink.errors import InvalidRequestError
from bethink.features.evaluation.judges import Judging, matches_expected, verdict_in
from bethink.features.evaluation.questions import EvalQuestion, read_questions
from bethink.features.evaluation.run import EvalOptions, Evaluation, Evaluator
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.prices import Prices
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import Line
from bethink.store.db import Database
from bethink.testing import ScriptedModel
from tests.rooms.ask_kit import answering

MOVED = EvalQuestion(
    id="1",
    question="Where did Ada move to?",
    answers=("Bergen",),
    evidence=("ada moved to  BERGEN",),
)
PLAYS = EvalQuestion(id="2", question="What does Bo play on Sundays?", answers=("harp", "the oboe"))
UNHELD = EvalQuestion(id="3", question="Which car does Ada drive?", answers=())


def reader(call: ModelCall) -> Line:
    """Answer `ask` honestly, the baselines from their notes, and judge by whether the key stands in the answer."""
    if "You mark one answer" in call.system:
        key, answer = re.findall(r"^(?:Key|Answer): (.*)$", call.prompt, re.MULTILINE)
        return "CORRECT" if any(each in answer for each in key.split(" / ")) else "Hm. WRONG"
    if "lines of a memory" in call.system:
        return honest(call)
    name = re.search(r"Where did (\w+)", call.prompt)
    town = re.search(rf"{name[1]} moved to (\w+)", call.prompt) if name else None
    return f"It is {town[1]}." if town else "UNKNOWN."


async def evaluated(
    database: Database, *questions: EvalQuestion, model: ScriptedModel | None = None, **more: object
) -> Evaluation:
    scripted = model or ScriptedModel(reader)
    memory = answering(database, scripted)
    await memory.space("alice").remember(lines())
    options = EvalOptions(**more)  # pyright: ignore[reportArgumentType]
    run = Evaluator(memory.space("alice"), model=scripted, tokens=EstimatedTokens(), options=options)
    return await run.run(questions)


async def test_evaluation_compares_memory_with_both_baselines(database: Database) -> None:
    found = await evaluated(database, MOVED, PLAYS, UNHELD, baselines=True)

    shares = {each.context: (each.right, each.refused) for each in found.figures}
    assert shares["memory"] == (1.0, pytest.approx(1 / 3))
    assert shares["full"] == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert shares["none"] == (pytest.approx(1 / 3), 1.0)
    assert found.evidence[10] == 1.0
    read = {each.context: each.usage.input_tokens for each in found.figures}
    assert read["none"] < read["memory"] < read["full"]
    assert found.right() == 1.0


async def test_evidence_can_be_a_ref_and_missing_evidence_has_no_rank(database: Database) -> None:
    memory = answering(database, reader)
    stored = await memory.space("alice").remember(lines())
    ref, other = EvalQuestion(id="r", question=MOVED.question, evidence=(stored.refs[0],)), "never said"
    questions = [ref, EvalQuestion(id="s", question=MOVED.question, evidence=(other,))]
    run = Evaluator(memory.space("alice"), model=None, tokens=EstimatedTokens(), options=EvalOptions(k=3))

    found = await run.run(questions)

    first, second = (result.ranks for result in found.results)
    assert second == (0,)
    assert first[0] in (1, 2, 3)
    assert found.evidence[3] == 0.5
    assert (found.figures, found.right()) == ((), None)


async def test_evaluation_uses_given_prices_and_counts_the_judge_apart(database: Database) -> None:
    found = await evaluated(database, MOVED, judging=Judging.MODEL, prices=Prices(input=2.0, output=10.0))

    [figures] = found.figures
    used = figures.usage
    assert used.cost == used.input_tokens * 2 + used.output_tokens * 10 > 0
    assert found.judge.calls == 1
    assert figures.right == 1.0


async def test_full_history_is_cut_to_the_window_keeping_the_newest(database: Database) -> None:
    model = ScriptedModel(reader, window=1_000)

    found = await evaluated(database, MOVED, model=model, baselines=True)

    assert {each.context: each.right for each in found.figures} == {"memory": 1.0, "full": 0.0, "none": 0.0}
    full = next(call for call in model.calls if "Notes of earlier" in call.prompt)
    assert "Tariq" in full.prompt
    assert "Ada moved" not in full.prompt


async def test_the_same_answer_is_judged_by_its_words_or_by_all_of_them(database: Database) -> None:
    contains = await evaluated(database, MOVED, judging=Judging.CONTAINS)
    exact = await evaluated(database, MOVED, judging=Judging.EXACT)

    assert (contains.right(), exact.right()) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("answer", "expected", "contains", "exact"),
    [
        ("Bergen.", ["bergen"], True, True),
        ("She lives in Bergen now.", ["Oslo", "Bergen"], True, False),
        ("The red house", ["red house"], True, True),
        ("house red", ["red house"], False, False),
        ("Bergenhus", ["Bergen"], False, False),
        ("", ["Bergen"], False, False),
        ("anything", ["?!"], False, False),
    ],
)
def test_words_are_compared_whatever_their_case(
    answer: str, expected: list[str], *, contains: bool, exact: bool
) -> None:
    assert matches_expected(answer, expected, exactly=False) is contains
    assert matches_expected(answer, expected, exactly=True) is exact


@pytest.mark.parametrize(
    ("text", "right"), [("CORRECT", True), ("It is not wrong: correct.", True), ("WRONG", False), ("hm", False)]
)
def test_a_model_that_thinks_aloud_ends_with_its_verdict(text: str, *, right: bool) -> None:
    assert verdict_in(ModelAnswer(text=text, model="m")) is right


def test_questions_are_read_line_by_line() -> None:
    given = [
        {"question": "Where?", "answer": "Bergen", "evidence": "I live in Bergen", "as_of": "2026-03-01"},
        {"id": "x", "question": "Who?", "answer": None},
        {"question": "What?", "evidence": ["message:ses_1:1"]},
    ]

    found = read_questions([json.dumps(given[0]), "", *map(json.dumps, given[1:])])

    assert found == [
        EvalQuestion(
            id="1", question="Where?", answers=("Bergen",), evidence=("I live in Bergen",), as_of="2026-03-01"
        ),
        EvalQuestion(id="x", question="Who?", answers=()),
        EvalQuestion(id="4", question="What?", evidence=("message:ses_1:1",)),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nonsense", "Line 1 is not JSON"),
        ("[]", "Line 1 is not a JSON object"),
        ('{"answer": "x"}', "Line 1 has no `question`"),
        ('{"question": "x"}', "neither `answer` nor `evidence`"),
        ('{"question": "x", "answer": 3}', "`answer` must be a string"),
        ('{"question": "x", "evidence": ["", "y"]}', "`evidence` must be a string"),
        ('{"question": "x", "answer": "y", "must": "z"}', "unknown field 'must'"),
        ('{"question": "x", "answer": "y", "as_of": 3}', "`as_of` is not a date"),
        ("  ", "The file has no questions"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(line: str, told: str) -> None:
    with pytest.raises(InvalidRequestError, match=told):
        read_questions([line])
