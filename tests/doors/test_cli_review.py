"""The review inbox on the command line: claims and document changes in one list, decided by id, on both databases."""

import pytest

import bethink
import bethink.sync
import bethink.testing
from bethink.model.calls import ModelCall
from tests.doors.cli_kit import items, ok, run
from tests.rooms.review_kit import claim, claims

pytestmark = pytest.mark.usefixtures("home")

SAID = "I have asthma, and I live in Oslo."
ILL = claim("The owner has asthma.", "I have asthma", review="doubtful")
LIVES = claim("The owner lives in Oslo.", "I live in Oslo")


def answer(call: ModelCall) -> str:
    match call.schema_name:
        case "claims":
            return claims(ILL, LIVES)
        case "verdicts":
            return '{"said": ["c1", "c2"], "others": []}'
        case _:
            return '{"calls": [], "done": true}'


@pytest.fixture
def inbox(target: str) -> str:
    """A space with a claim and a change set that wait; returns the claim's id."""
    model = bethink.testing.ScriptedModel(answer)
    with bethink.sync.connect(target, model=model, review_documents=True, learn_in_background=False) as memory:
        memory.space("alice").remember(SAID)
        memory.learn()
        [review] = memory.space("alice").reviews.list()
    return review.id


def test_review_lists_claims_and_change_sets(on: list[str], inbox: str) -> None:
    found = ok("review", *on)

    assert [each["id"] for each in found["claims"]] == [inbox]
    [waiting] = found["changes"]
    listed = run("review", *on).out
    assert inbox in listed
    assert "The owner has asthma." in listed
    assert waiting["run"] in listed
    assert run("review", "list", *on).out == listed


def test_a_claim_is_shown_with_its_reason_and_its_quotes(on: list[str], inbox: str) -> None:
    shown = run("review", "show", inbox, *on).out

    assert "flagged: marked as doubtful" in shown
    assert "quote  “I have asthma”" in shown


def test_a_claim_is_edited_and_approved_and_listed_as_stated(on: list[str], inbox: str) -> None:
    [done] = ok("review", "approve", inbox, "--text", "The owner has mild asthma.", "--note", "as a child", *on)

    facts = items("fact", "list", *on)
    assert {fact["text"]: fact["evidence"] for fact in facts} == {
        "The owner has mild asthma.": "stated",
        "The owner lives in Oslo.": "confirmed",
    }
    assert done["fact_id"] in {fact["id"] for fact in facts}
    assert "confirmed" in run("fact", "list", *on).out
    assert "evidence  stated" in " ".join(run("show", f"fact:{done['fact_id']}:1", *on).out.split(" " * 4))
    assert ok("review", *on)["claims"] == []


def test_a_change_set_is_approved_by_its_id(target: str, on: list[str], inbox: str) -> None:
    [waiting] = ok("review", *on)["changes"]
    assert run("review", "show", waiting["run"], *on).code == 0
    ok("review", "approve", waiting["run"], *on)

    with bethink.sync.connect(target, learn=False) as memory:
        assert memory.space("alice").documents.list()
    assert ok("review", *on)["changes"] == []
    assert inbox


def test_several_are_rejected_in_one_call(on: list[str], inbox: str) -> None:
    [waiting] = ok("review", *on)["changes"]
    ok("review", "reject", inbox, waiting["run"], "--note", "not now", *on)

    assert ok("review", *on) == {"claims": [], "changes": [], "next": ""}
    [rejected] = ok("review", "--status", "rejected", *on)["claims"]
    assert rejected["note"] == "not now"


def test_review_decides_nothing_if_one_id_is_unknown(on: list[str], inbox: str) -> None:
    for wrong in ("rev_gone", "run_gone"):
        done = run("review", "approve", inbox, wrong, *on)
        assert done.code == 3
    assert [each["id"] for each in ok("review", *on)["claims"]] == [inbox]


def test_a_text_edits_one_claim_only(on: list[str], inbox: str) -> None:
    done = run("review", "approve", inbox, "rev_other", "--text", "Both.", *on)

    assert done.code == 2
    assert "--text works with one claim only" in done.err


def test_status_and_doctor_say_how_much_waits(target: str, on: list[str], inbox: str) -> None:
    assert inbox
    assert ok("status", *on)["to_review"] == {"claims": 1, "changes": 1}
    assert "1 claim and 1 change set; see 'bethink review --space alice" in run("status", *on).out
    assert "1 claim and 1 change set in 1 space" in run("doctor", "--database", target).out
