"""Terminal output of recall: why each item was found, in parts that add up."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bethink.cli.recall import recall_lines
from bethink.model.moments import from_micros
from bethink.model.recall import Candidate, Fate, Match, RecallResult, Signal
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind

REF = Ref(RefKind.MESSAGE, "s", 1)


@given(st.lists(st.floats(-0.3, 0.3), min_size=1, max_size=9))
def test_signals_of_a_match_add_up_to_its_score(added: list[float]) -> None:
    score = sum(added)
    signals = {f"s{place}": Signal(1.0, 1.0, value) for place, value in enumerate(added)}
    item = Match(ref=REF, text="x", origin=Origin("user"), said_at=from_micros(0), score=score, tokens=1, label="a")
    why = Candidate(ref=REF, text="x", signals=signals, score=score, ranks={}, fate=Fate.SHOWN)

    lines = [line.text for line in recall_lines(
        RecallResult(question="x", items=(item,), candidates=(why,)), explain=True
    )]  # fmt: skip

    parts = [float(part) for line in lines if "why:" in line for part in re.findall(r"[+-]\d\.\d\d", line)]
    assert abs(sum(parts) - round(score, 2)) < 0.001
    assert 0.0 not in parts
