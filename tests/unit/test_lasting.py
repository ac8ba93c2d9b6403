"""The table that tells lasting sentences of users from tasks for now."""

import json
import math
import time

import pytest

from benchmarks import lasting_training
from bethink.base.language import lasting, preferences_in


@pytest.mark.parametrize(
    "text",
    [
        "What do we always use here?",
        "haha never let me write css at 2am again",
        'the colleague wrote "never use print in the server code"',
        "ok now fix the typo in README",
        "it always crashes here",
    ],
)
def test_questions_jokes_quotations_and_tasks_are_not_meant_to_last(text: str) -> None:
    assert preferences_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "From now on use uv, never pip.",
        "never use console.log in the server code",
        "we decided to go with Postgres instead of Mongo",
        "Wir nehmen LoRaWAN statt NB-IoT.",
        "quedamos en NATS en vez de Kafka",
    ],
)
def test_instructions_and_decisions_are_meant_to_last(text: str) -> None:
    assert preferences_in(text) == [text]


def test_the_table_is_what_training_makes_of_the_data() -> None:
    stored = json.loads(lasting_training.TABLE.read_text(encoding="utf-8"))
    trained = lasting_training.train(lasting_training.load())
    assert stored.keys() == trained.keys()
    assert stored == pytest.approx(trained, abs=0.011)  # sums of other processors differ in the last digit


def test_pasted_output_is_not_scored() -> None:
    assert lasting.lasting_score("pages/Pier.tsx:88:14 - error TS2345: hands off the changelog") == -math.inf


def test_scoring_is_linear() -> None:
    def seconds(words: int) -> float:
        text = "never use print " * (words // 3)
        began = time.process_time()
        for _ in range(20):
            lasting.lasting_score(text)
        return time.process_time() - began

    seconds(300)
    assert min(seconds(48_000) for _ in range(3)) < 20 * 3 * max(min(seconds(3_000) for _ in range(3)), 1e-4)
