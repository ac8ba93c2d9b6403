"""A page is shown with the labels of the facts that it states in full, and only with those."""

from datetime import UTC, datetime

import pytest

from bethink import Fact
from bethink.memory.learning.documents.labels import label_facts

MARCH = datetime(2026, 3, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "fact", "expected"),
    [
        ("## Mia\nIt is seven. She sings.", Fact(id="a", text="It is seven"), "## Mia\nIt is seven. [f1] She sings."),
        ("- Mia is seven.\n- She sings.", Fact(id="a", text="She sings."), "- Mia is seven.\n- She sings. [f1]"),
        ("米娅七岁\u3002她唱歌\u3002", Fact(id="a", text="米娅七岁\u3002"), "米娅七岁\u3002 [f1] 她唱歌\u3002"),
        ("At the fair on 16 March 2026.", Fact(id="a", text="At the fair", event_from=MARCH),
         "At the fair on 16 March 2026. [f1]"),
        ("For the shop: use tabs.", Fact(id="a", text="Use tabs", scope="shop"), "For the shop: use tabs. [f1]"),
        ("Mia is seven. [f9]", Fact(id="a", text="Mia is seven"), "Mia is seven. [f1]"),
    ],
)  # fmt: skip
def test_label_follows_the_sentence_that_states_the_fact(body: str, fact: Fact, expected: str) -> None:
    shown = label_facts(body, {"f1": fact})

    assert (shown.text, shown.labels) == (expected, {"f1"})


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("Mia is here. She is seven.", Fact(id="a", text="Mia is seven")),
        ("Mia is not seven.", Fact(id="a", text="Mia is seven")),
        ("Mia is 7.", Fact(id="a", text="Mia is 8")),
        ("At the fair.", Fact(id="a", text="At the fair", event_from=MARCH)),
        ("Use tabs.", Fact(id="a", text="Use tabs", scope="shop")),
        ("Mia is seven.", Fact(id="a", text="Mia is seven", valid_to=MARCH)),
        ("# Mia is seven", Fact(id="a", text="Mia is seven")),
    ],
)
def test_fact_that_a_page_does_not_state_in_full_has_no_label(body: str, fact: Fact) -> None:
    shown = label_facts(body, {"f1": fact})

    assert (shown.text, shown.labels) == (body, frozenset())
