"""Calculated answers: `ask` keeps the right ones and rejects at least 200 wrong ones."""

from collections import Counter
from collections.abc import Sequence

import pytest

from benchmarks import ask_calculations
from benchmarks.ask_calculations import Calculation, check, load, right, wrong
from benchmarks.ask_cases import given
from bethink.model.answers import AnswerSentence, Refusal, SentenceFault
from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import Line
from bethink.store.db import Database
from tests.rooms.ask_kit import answering
from tests.rooms.recall_kit import tell, user

CASES = load()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question[:40])
def test_right_calculation_is_kept_and_wrong_ones_are_rejected(case: Calculation) -> None:
    kept = check(case, right(case))
    accepted = [attempt for attempt in wrong(case) if isinstance(check(case, attempt), AnswerSentence)]

    assert isinstance(kept, AnswerSentence)
    assert kept.working
    assert set(kept.refs) == {case.lines[number].ref for number in case.cites}
    assert accepted == []


def test_two_hundred_wrong_calculations_of_each_kind_are_tried() -> None:
    kinds = Counter(attempt.kind for case in CASES for attempt in wrong(case))

    assert len(CASES) >= 30
    assert kinds.total() >= 200
    assert min(kinds[kind] for kind in ("result", "unit", "uncited operand", "foreign operand")) >= 9


def test_benchmark_fails_if_a_wrong_calculation_is_accepted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask_calculations.main() == 0
    assert capsys.readouterr().out.startswith(f"kept: {len(CASES)} of {len(CASES)}; rejected: ")

    def trust(case: Calculation, attempt: ask_calculations.Attempt) -> AnswerSentence | SentenceFault:
        return AnswerSentence(text=attempt.text, refs=(case.lines[0].ref,))

    monkeypatch.setattr(ask_calculations, "check", trust)
    assert ask_calculations.main() == 1
    assert "rejected: 0 of" in capsys.readouterr().out


def cite(call: ModelCall, case: Calculation, numbers: Sequence[int]) -> str:
    labels = {line.text: line.label for line in given(call)}
    return "".join(f"[^{labels[case.lines[number].text]}]" for number in numbers)


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.question[:40])
async def test_ask_answers_with_a_right_calculation_only(database: Database, case: Calculation) -> None:
    attempts = [right(case), next(attempt for attempt in wrong(case) if attempt.kind == "result")]
    texts = iter(attempts)

    def calculate(call: ModelCall) -> Line:
        attempt = next(texts)
        return f"{attempt.text}. {cite(call, case, attempt.cites)}"

    memory = answering(database, calculate)
    await tell(memory, *(user(line.text, said_at=line.said_at) for line in case.lines))
    # The words of some lines are not in the question, so ask for all of them.
    question = " ".join([case.question, *(line.text.split()[-2] for line in case.lines)])

    kept = await memory.space("alice").ask(question, as_of=case.today)
    rejected = await memory.space("alice").ask(question, as_of=case.today)

    assert kept.sentences[0].working
    assert rejected.refusal is Refusal.NOT_PROVEN
