"""Claims name facts of the request and claims of their answer: by stable ids, in an order that can be stored."""

from bethink.memory.learning.extraction.claim_ids import merge_answers, with_fact_ids
from bethink.memory.learning.extraction.claim_order import in_order, with_stored_ids
from bethink.memory.learning.extraction.claims import DraftClaim, DraftQuote
from bethink.memory.learning.extraction.judge import JudgedClaim
from bethink.memory.learning.extraction.validation import CheckedClaim
from bethink.model.facts import Fact, Quote
from bethink.model.kinds import FactKind
from bethink.model.records import Origin
from bethink.model.reviews import ClaimedFact

FACTS = [Fact(id="fct_a", text="A"), Fact(id="fct_b", text="B")]


def entry(statement: str, **ids: list[str]) -> dict[str, object]:
    return {"statement": statement, **ids}


def judged(position: int, message: int, *, names: tuple[str, ...] = ()) -> JudgedClaim:
    draft = DraftClaim(
        statement=f"Claim {position}", kind=FactKind.DETAIL, quotes=(DraftQuote(message, "x"),), position=position,
        base_ids=names,
    )  # fmt: skip
    quotes = (Quote(session_id="s", number=message, text="x"),)
    checked = CheckedClaim(claim=draft, quotes=quotes, origin=Origin("user"), speaker="owner")
    return JudgedClaim(checked=checked, statement=draft.statement)


def order_of(*claims: JudgedClaim) -> list[int]:
    return [item.checked.claim.position for item in in_order(claims)]


def test_recorded_answer_names_facts_by_their_real_ids() -> None:
    tree = {
        "claims": [
            entry("x", known=["f1", "c2", "f9"], earlier=["f2"], rests_on=["c9", "f1"]),
            entry("y", known=[]),
            7,
        ],
        "title": None,
    }

    first, second, other = with_fact_ids(tree, FACTS)["claims"]

    assert first == entry("x", known=["fct_a", "c2"], earlier=["fct_b"], rests_on=["fct_a"])
    assert (second, other) == (entry("y", known=[]), 7)


def test_claims_of_a_second_answer_keep_the_claims_they_name() -> None:
    first = [entry("lost"), entry("home"), entry("commute", rests_on=["c2", "c1"]), entry("gone")]
    valid = {1: first[1], 2: first[2]}
    again = [entry("new", known=["c2"]), entry("lost", known=["c1", "f1"]), first[1]]

    merged = merge_answers(first, valid, again)

    assert merged == [
        entry("home"),
        entry("commute", rests_on=["c1", "c4"]),
        entry("new", known=["c4"]),
        entry("lost", known=["c3", "f1"]),
    ]


def test_claim_is_stored_after_those_it_names() -> None:
    assert order_of(judged(0, 3), judged(1, 1)) == [1, 0], "by message"
    assert order_of(judged(0, 1, names=("c2",)), judged(1, 2)) == [1, 0]
    assert order_of(judged(0, 1, names=("c2", "c9")), judged(1, 1, names=("c3", "fct_a")), judged(2, 3)) == [2, 1, 0]
    assert sorted(order_of(judged(0, 1, names=("c2",)), judged(1, 1, names=("c1",)))) == [0, 1], "in a circle"


def test_claim_names_the_facts_that_other_claims_became() -> None:
    claimed = ClaimedFact(
        fact=FACTS[0], quotes=(), existing_ids=("c1", "fct_x"), later_ids=("c2",), rests_on=("c1", "fct_y", "c1")
    )

    stored = with_stored_ids(claimed, {0: "fct_1"})

    assert (stored.existing_ids, stored.later_ids, stored.rests_on) == (("fct_1", "fct_x"), (), ("fct_1", "fct_y"))
