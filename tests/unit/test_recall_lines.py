"""What the terminal says of a recall: why each was found, in parts that add up."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bethink.cli.recall import recall_lines
from bethink.model.moments import from_micros
from bethink.model.recall import Candidate, Fate, Recall, Recalled, Ref, RefKind, Signal
from bethink.model.records import Origin

REF = Ref(RefKind.MESSAGE, "s", 1)


@given(st.lists(st.floats(-0.3, 0.3), min_size=1, max_size=9))
def test_the_parts_of_a_why_line_add_up_to_the_score_above_it(added: list[float]) -> None:
    score = sum(added)
    signals = {f"s{place}": Signal(1.0, 1.0, value) for place, value in enumerate(added)}
    item = Recalled(ref=REF, text="x", origin=Origin("user"), at=from_micros(0), score=score, tokens=1, label="a")
    why = Candidate(ref=REF, text="x", signals=signals, score=score, ranks={}, fate=Fate.SHOWN)

    head, *lines = [line.text for line in recall_lines(
        Recall(question="x", items=(item,), candidates=(why,)), explain=True
    )]  # fmt: skip

    parts = [float(part) for line in lines if "why:" in line for part in re.findall(r"[+-]\d\.\d\d", line)]
    assert abs(sum(parts) - float(head.split()[0])) < 0.001
    assert 0.0 not in parts
