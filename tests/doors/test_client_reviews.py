"""The review inbox on a server: pending items are read and decided remotely, and a decision is never sent twice."""

import pytest

import bethink
import bethink.sync
import bethink.testing
from bethink.errors import ConflictError
from bethink.model.facts import Evidence
from bethink.model.reviews import ReviewStatus
from tests.doors.client_kit import serving
from tests.rooms.review_kit import claim, claims


def test_a_claim_is_read_and_approved_through_a_server(target: str) -> None:
    model = bethink.testing.ScriptedModel(
        lambda call: claims(claim("The owner has asthma.", "I have asthma", review="doubtful", happened="2026-05"))
    )
    with bethink.sync.connect(target, model=model, learn_in_background=False, verify_claims=False) as memory:
        memory.space("alice").remember("I have asthma.")
        memory.learn()
    with serving(target) as server, bethink.sync.connect(server.url, api_key=server.key) as remote:
        alice = remote.space("alice")
        [review] = alice.reviews.list()
        approved = alice.reviews.approve(review.id, text="The owner has mild asthma.")
        assert approved.fact_id is not None
        fact = alice.facts.get(approved.fact_id)
        quotes = alice.facts.quotes(fact.id)
        counted = alice.reviews.count()
        with pytest.raises(ConflictError):
            alice.reviews.reject(review.id)

    assert (fact.text, fact.evidence, fact.origin) == ("The owner has mild asthma.", Evidence.STATED, "user")
    assert review.claim.fact.event_from is not None
    assert [quote.text for quote in quotes] == ["I have asthma"]
    assert (approved.status, counted["approved"]) == (ReviewStatus.APPROVED, 1)
