"""The second pass: its request, its verdicts for any answer, and their effect on claims."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.errors import ModelResponseError
from bethink.memory.learning.extraction.judge import find_unsettled, judge, readable
from bethink.memory.learning.extraction.request import Scene
from bethink.memory.learning.extraction.second import VERDICTS, Verdict, merge_verdicts, parse, request
from bethink.memory.learning.extraction.validation import CheckedClaim, ClaimReason, ClaimValidator, Effect
from bethink.model.facts import Evidence, Fact
from bethink.model.records import Record
from bethink.model.reviews import ClaimChange
from tests.unit.extraction_kit import checked, claim, talk, whole

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(["c1", "c2", "c3", "c4", ""])
SCENE = Scene(owner="Ana", conversation="cli:desk")


def answered(**more: object) -> str:
    return json.dumps({"said": [], "others": [], **more})


@given(JSON, JSON)
def test_every_claim_gets_a_verdict_or_the_answer_is_bad(said: object, others: object) -> None:
    try:
        found = parse(json.dumps({"said": said, "others": others}), 3)
    except ModelResponseError:
        return
    assert len(found) == 3


@given(st.lists(NAMES), st.lists(st.tuples(NAMES, st.sampled_from([*map(str, VERDICTS), "fine"]))))
def test_claim_passes_only_if_said_and_not_otherwise_judged(said: list[str], others: list[tuple[str, str]]) -> None:
    told = [{"claim": name, "verdict": word, "text": "so"} for name, word in others]

    for place, verdict in enumerate(parse(answered(said=said, others=told), 4), 1):
        name = f"c{place}"
        rejected = [word for each, word in others if each == name]
        assert (verdict.reason is None) is (name in said and not rejected)
        if rejected:
            assert verdict.reason == (rejected[-1] if rejected[-1] in VERDICTS else "unclear")


@pytest.mark.parametrize(
    "bad", ["no json", "[]", "{}", answered(said=None), answered(others={}), answered(others="c1")]
)
def test_an_answer_without_its_lists_is_bad(bad: str) -> None:
    with pytest.raises(ModelResponseError):
        parse(bad, 1)


def test_a_correction_is_one_sentence_without_tags_and_a_reason_is_short() -> None:
    fixed = ["User  plans\nto go", "x </bethink-memory>", "x" * 1_001, 7]
    others = [{"claim": f"c{number}", "verdict": "fixed", "text": text} for number, text in enumerate(fixed, 1)]
    other = {"claim": "c5", "verdict": "denied", "text": "# no\n" * 200}

    *kept, denied = parse(answered(said=["c1", "c2", "c3", "c4"], others=[*others, other]), 5)

    assert [verdict.fixed for verdict in kept] == ["User plans to go", None, None, None]
    assert (denied.reason, len(denied.because) <= 200, "\n" in denied.because) == ("denied", True, False)


def test_request_shows_quoted_messages_neighbors_and_claims() -> None:
    said = talk(*(("user", f"word {number}") for number in range(1, 7)))
    claims = [checked(claim("It is\nword 2", (2, "word 2"), about="<system>it"), said)]

    text = request(claims, said, SCENE)

    assert text == (
        "<messages>\n2025-11-15, Saturday\n[1] 12:00 Ana: word 1\n[2] Ana: word 2\n[3] Ana: word 3\n</messages>\n"
        "<claims>\nc1 about \u2039system>it, detail, [2]: It is / word 2\n</claims>"
    )


def test_request_shows_the_next_message_of_a_person_and_shortens_neighbors() -> None:
    said = talk(("user", "I like tea."), ("assistant", "Noted. " * 99), ("user", "No, rain."), ("user", "Bye."))

    text = request([checked(whole("User likes tea", said, 1), said)], said, SCENE)

    assert "[1] 12:00 Ana: I like tea.\n[3] Ana: No, rain.\n</messages>" in text
    text = request([checked(whole("User likes rain", said, 3), said)], said, SCENE)
    [neighbor] = [line for line in text.splitlines() if line.startswith("[2]")]
    assert (" […] " in neighbor, len(neighbor) < 150) == (True, True)


def test_request_names_existing_facts_that_a_claim_changes_and_its_doubt() -> None:
    said = talk(("user", "I no longer like tea."))
    facts = [Fact(id="a", text="User likes rain"), Fact(id="b", text="User likes tea")]
    draft = whole("User likes tea", said, 1, change=ClaimChange.ENDS, fact_ids=("b",))

    text = request([checked(draft, said)], said, SCENE, facts)

    assert "<known>\nimport said:\nf1 knowledge: User likes tea\n</known>" in text
    assert "c1 about owner, detail, ends f1, doubt: no, [1]: User likes tea\n" in text


def test_claim_is_named_by_its_position_in_the_answer() -> None:
    claims = in_order(REFUSED, DOUBTED, HELD, STANDS)

    text = request(readable(claims), SAID, SCENE)

    assert [line.split()[0] for line in text.splitlines() if " about " in line] == ["c2", "c4"]


SAID: dict[int, Record] = talk(("user", "I like tea."), ("tool", "User likes cake."), ("user", "I like Oslo."))
STANDS = checked(whole("User likes tea", SAID, 1), SAID)
DOUBTED = checked(whole("User likes Darjeeling", SAID, 1), SAID)
HELD = checked(whole("User likes cake", SAID, 2), SAID)
REFUSED = checked(claim("User likes snow", (1, "I like snow.")), SAID)


PROVED = Verdict(None, proof="I like tea")


def in_order(*claims: CheckedClaim) -> list[CheckedClaim]:
    """The claims, each with its position in an answer."""
    return [replace(each, claim=replace(each.claim, position=position)) for position, each in enumerate(claims)]


def forces(*claims: CheckedClaim, verdicts: list[Verdict] | None) -> list[tuple[str, str] | None]:
    judged = judge(in_order(*claims), verdicts, ClaimValidator(SAID), review_flags=("health",))
    return [None if each.problem is None else (each.problem.reason, each.problem.effect) for each in judged]


def test_refused_and_pending_claims_are_not_read_again() -> None:
    assert readable([REFUSED, DOUBTED, HELD, STANDS]) == [DOUBTED, STANDS]


def test_each_verdict_meets_its_own_claim() -> None:
    denied, said = Verdict(ClaimReason.DENIED, "no"), PROVED

    assert forces(REFUSED, DOUBTED, HELD, STANDS, verdicts=[denied, said, denied, denied]) == [
        ("no_quote", "refuses"), None, ("from_tool", "holds"), ("denied", "holds"),
    ]  # fmt: skip
    assert forces(REFUSED, DOUBTED, HELD, STANDS, verdicts=[said, denied, said, said]) == [
        ("no_quote", "refuses"), ("denied", "holds"), ("from_tool", "holds"), None,
    ]  # fmt: skip


def test_confirmed_name_that_no_message_has_needs_words_it_stands_for() -> None:
    for verdict in (Verdict(None), Verdict(None, proof="I like Darjeeling"), Verdict(None, proof="like te")):
        assert forces(DOUBTED, verdicts=[verdict]) == [("foreign_name", "doubts")]
    assert forces(DOUBTED, verdicts=[PROVED]) == [None]


def test_unsaid_name_is_read_twice_and_other_doubts_until_proved() -> None:
    said = talk(("user", "I don't like tea, at half past two."))
    doubtful = checked(whole("User likes tea", said, 1), said)
    number = checked(whole("User does not like tea at 14:30", said, 1), said)
    name = checked(whole("User does not like Darjeeling", said, 1), said)
    validator, words = ClaimValidator(said), Verdict(None, proof="half past two")

    def again(claim: CheckedClaim, verdict: Verdict) -> bool:
        return bool(find_unsettled([claim], [verdict], validator))

    assert [again(item, words) for item in (doubtful, number, name)] == [False, True, True]
    assert [again(item, Verdict(None)) for item in (doubtful, number, name)] == [True, True, True]
    assert not any(again(item, Verdict(ClaimReason.DENIED)) for item in (doubtful, number, name))
    assert not again(name, Verdict(None, fixed="User does not like tea"))
    assert merge_verdicts([Verdict(None)], {0: words}) == [words]
    assert merge_verdicts([words], {0: Verdict(ClaimReason.DENIED)}) == [Verdict(ClaimReason.DENIED)]


def test_number_in_digits_proves_no_other_number() -> None:
    said = talk(("user", "At half past two, in room 12."))
    number = checked(whole("The meeting is at 14:30", said, 1), said)
    validator = ClaimValidator(said)

    assert validator.is_settled(number, "half past two")
    assert not validator.is_settled(number, "in room 12")


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
