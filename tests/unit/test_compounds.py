"""A claim with several statements is split where that is safe, always in the same way."""

import json
from collections.abc import Mapping

import pytest

from bethink.memory.learning.extraction.claims import ExtractionAnswer, parse
from bethink.memory.learning.extraction.compounds import split, split_compounds
from tests.unit.compound_sentences import FIRST, SECOND, Labeled

PIXEL = "Pixel is three and afraid of umbrellas."


def _answer(*claims: Mapping[str, object]) -> ExtractionAnswer:
    quote = {"message": 1, "text": "He is three and afraid of umbrellas", "as": "word"}
    entries = [{"quotes": [quote], "kind": "detail", "about": "Pixel", **claim} for claim in claims]
    return split_compounds(parse(json.dumps({"claims": entries, "suspicious": [], "title": None})))


@pytest.mark.parametrize("sentence", [*FIRST, *SECOND], ids=lambda sentence: sentence.text)
def test_sentence_is_split_only_where_it_is_safe(sentence: Labeled) -> None:
    parts = [part.statement for part in split(sentence.text, sentence.about)]

    assert parts == list(sentence.parts or (sentence.text,))


def test_parts_keep_quotes_dates_and_op_but_only_the_first_keeps_the_slot() -> None:
    answer = _answer(
        {"statement": PIXEL, "slot": "age", "since": "2026-03-18", "op": "replaces", "known": ["fct_1"]},
        {"statement": "Pixel eats salmon."},
    )

    first, second, other = answer.claims
    assert [claim.statement for claim in (first, second)] == ["Pixel is three.", "Pixel is afraid of umbrellas."]
    assert (first.slot, second.slot) == ("age", None)
    assert (first.position, second.position, other.position) == (0, 2, 1)
    for part in (first, second):
        assert (part.change, part.fact_ids, part.about) == ("replaces", ("fct_1",), "Pixel")
        assert part.since == first.since
        assert part.quotes == first.quotes


def test_split_is_the_same_every_time() -> None:
    claims = [{"statement": PIXEL}, {"statement": "Rex is five and weighs twelve kilos."}, {"statement": "Tea is hot."}]

    assert _answer(*claims) == _answer(*claims)
    assert [claim.position for claim in _answer(*claims).claims] == [0, 3, 1, 4, 2]


def test_claim_that_names_a_compound_names_its_parts() -> None:
    answer = _answer(
        {"statement": PIXEL},
        {"statement": "Pixel is no longer afraid of umbrellas.", "op": "ends", "known": ["c1"]},
        {"statement": "Pixel stays at home when it rains.", "rests_on": ["c1", "fct_1"]},
    )

    by_position = {claim.position: claim for claim in answer.claims}
    assert by_position[1].fact_ids == ("c4",), "the part with the umbrellas"
    assert by_position[2].base_ids == ("c1", "c4", "fct_1")


def test_second_clause_about_a_name_is_about_it() -> None:
    _, second = split("Anna lives in Oslo and Ben works in Rome.", "Anna")

    assert second.about == "Ben"


@pytest.mark.parametrize("kind", ["event", "instruction", "procedure", "note"])
def test_events_instructions_and_notes_are_never_split(kind: str) -> None:
    assert len(_answer({"statement": PIXEL, "kind": kind}).claims) == 1
