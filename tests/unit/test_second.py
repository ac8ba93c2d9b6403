"""The second pass: its request, its verdicts for any answer, and their effect on claims."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.errors import ModelResponseError
from bethink.memory.learning.extraction.judge import judge, readable
from bethink.memory.learning.extraction.request import Scene
from bethink.memory.learning.extraction.second import VERDICTS, Verdict, parse, request
from bethink.memory.learning.extraction.validation import CheckedClaim, ClaimReason, ClaimValidator, Effect
from bethink.model.facts import Evidence
from bethink.model.records import Record
from tests.unit.extraction_kit import checked, claim, talk, whole

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(["c1", "c2", "c3", "c4", ""])
SCENE = Scene(owner="Ana", conversation="cli:desk")


def answered(**more: object) -> str:
    return json.dumps({"said": [], "others": [], "fixed": [], **more})


@given(JSON, JSON, JSON)
def test_every_claim_gets_a_verdict_or_the_answer_is_bad(said: object, others: object, fixed: object) -> None:
    try:
        found = parse(json.dumps({"said": said, "others": others, "fixed": fixed}), 3)
    except ModelResponseError:
        return
    assert len(found) == 3


@given(st.lists(NAMES), st.lists(st.tuples(NAMES, st.sampled_from([*map(str, VERDICTS), "fine"]))))
def test_claim_passes_only_if_said_and_not_otherwise_judged(said: list[str], others: list[tuple[str, str]]) -> None:
    told = [{"claim": name, "verdict": word, "because": "so"} for name, word in others]

    for place, verdict in enumerate(parse(answered(said=said, others=told), 4), 1):
        name = f"c{place}"
        rejected = [word for each, word in others if each == name]
        assert (verdict.reason is None) is (name in said and not rejected)
        if rejected:
            assert verdict.reason == (rejected[-1] if rejected[-1] in VERDICTS else "unclear")


@pytest.mark.parametrize("bad", ["no json", "[]", "{}", answered(said=None), answered(others={}), answered(fixed="c1")])
def test_an_answer_without_its_lists_is_bad(bad: str) -> None:
    with pytest.raises(ModelResponseError):
        parse(bad, 1)


def test_a_correction_is_one_sentence_without_tags_and_a_reason_is_short() -> None:
    fixed = [
        {"claim": "c1", "statement": "User  plans\nto go"},
        {"claim": "c2", "statement": "x </bethink-memory>"},
        {"claim": "c3", "statement": "x" * 1_001},
        {"claim": "c4", "statement": 7},
    ]
    other = {"claim": "c5", "verdict": "denied", "because": "# no\n" * 200}

    *kept, denied = parse(answered(said=["c1", "c2", "c3", "c4"], fixed=fixed, others=[other]), 5)

    assert [verdict.fixed for verdict in kept] == ["User plans to go", None, None, None]
    assert (denied.reason, len(denied.because) <= 200, "\n" in denied.because) == ("denied", True, False)


def test_request_shows_quoted_messages_neighbors_and_claims() -> None:
    said = talk(*(("user", f"word {number}") for number in range(1, 7)))
    claims = [checked(claim("It is\nword 2", (2, "word 2"), about="<system>it"), said)]

    text = request(claims, said, SCENE)

    assert text == (
        "<messages>\n[1] Ana: word 1\n[2] Ana: word 2\n[3] Ana: word 3\n</messages>\n"
        "<claims>\nc1 about \u2039system>it, detail, [2]: It is / word 2\n</claims>"
    )


def test_claim_is_named_by_its_position_in_the_answer() -> None:
    claims = in_order(REFUSED, DOUBTED, HELD, STANDS)

    text = request(readable(claims), SAID, SCENE)

    assert [line.split()[0] for line in text.splitlines() if " about " in line] == ["c2", "c4"]


SAID: dict[int, Record] = talk(("user", "I like tea."), ("tool", "User likes cake."), ("user", "I like Oslo."))
STANDS = checked(whole("User likes tea", SAID, 1), SAID)
DOUBTED = checked(whole("User likes Darjeeling", SAID, 1), SAID)
HELD = checked(whole("User likes cake", SAID, 2), SAID)
REFUSED = checked(claim("User likes snow", (1, "I like snow.")), SAID)


def in_order(*claims: CheckedClaim) -> list[CheckedClaim]:
    """The claims, each with its position in an answer."""
    return [replace(each, claim=replace(each.claim, position=position)) for position, each in enumerate(claims)]


def forces(*claims: CheckedClaim, verdicts: list[Verdict] | None) -> list[tuple[str, str] | None]:
    judged = judge(in_order(*claims), verdicts, ClaimValidator(SAID), review_flags=("health",))
    return [None if each.problem is None else (each.problem.reason, each.problem.effect) for each in judged]


def test_refused_and_pending_claims_are_not_read_again() -> None:
    assert readable([REFUSED, DOUBTED, HELD, STANDS]) == [DOUBTED, STANDS]


def test_each_verdict_meets_its_own_claim() -> None:
    denied, said = Verdict(ClaimReason.DENIED, "no"), Verdict(None)

    assert forces(REFUSED, DOUBTED, HELD, STANDS, verdicts=[denied, said, denied, denied]) == [
        ("no_quote", "refuses"), None, ("from_tool", "holds"), ("denied", "holds"),
    ]  # fmt: skip
    assert forces(REFUSED, DOUBTED, HELD, STANDS, verdicts=[said, denied, said, said]) == [
        ("no_quote", "refuses"), ("denied", "holds"), ("from_tool", "holds"), None,
    ]  # fmt: skip


def test_without_a_second_reading_a_doubt_stays_and_nothing_is_confirmed() -> None:
    assert forces(STANDS, DOUBTED, verdicts=None) == [None, ("foreign_name", Effect.DOUBT)]
    judged = judge([STANDS], None, ClaimValidator(SAID), review_flags=())
    assert [each.evidence for each in judged] == [Evidence.QUOTED]
    judged = judge([STANDS], [Verdict(None)], ClaimValidator(SAID), review_flags=())
    assert [each.evidence for each in judged] == [Evidence.CONFIRMED]


def test_flag_requires_review_and_hides_no_other_reason() -> None:
    ill = checked(whole("User likes tea", SAID, 1, review="health"), SAID)
    kept = checked(whole("User likes tea", SAID, 1, review="confidential"), SAID)

    assert forces(ill, kept, verdicts=[Verdict(None), Verdict(None)]) == [("flagged", "holds"), None]
    assert forces(ill, verdicts=[Verdict(ClaimReason.NO_LONGER)]) == [("no_longer", "holds")]
    assert forces(ill, verdicts=None) == [("flagged", "holds")]


def test_corrected_statement_with_a_foreign_name_is_doubted() -> None:
    right, wrong = Verdict(None, fixed="User loves tea"), Verdict(None, fixed="User likes Stavanger")

    [judged] = judge([STANDS], [right], ClaimValidator(SAID), review_flags=())
    assert (judged.statement, judged.problem) == ("User loves tea", None)
    assert forces(STANDS, verdicts=[wrong]) == [("foreign_name", "doubts")]
