"""Feedback on facts: stored with actor and time; `wrong` and `outdated` take effect."""

import pytest

import bethink
import bethink.types
from bethink.errors import ConflictError, InvalidRequestError, NotFoundError, VersionConflictError
from bethink.model.facts import Evidence, Fact, FactStatus
from bethink.model.recall import FactVerdict
from bethink.model.records import Origin
from bethink.model.reviews import ReviewStatus
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.review_kit import claim, learn
from tests.rooms.stored_kit import stored

PILOT = "The owner is a pilot."
LEARNT = claim(PILOT, "I am a pilot")


async def ref_of(space: bethink.Space, content: str = PILOT) -> bethink.Ref:
    [fact] = [each for each in await space.facts.list() if each.text == content]
    return bethink.Ref(bethink.types.RefKind.FACT, fact.id, fact.version)


async def knows(space: bethink.Space) -> tuple[bool, bool]:
    """Whether recall finds the fact, and whether it stands in context."""
    found = await space.recall("pilot", kinds=[bethink.types.RefKind.FACT])
    return PILOT in [item.text for item in found.items], PILOT in (await space.context()).text


@pytest.fixture
async def alice(memory: bethink.Memory, database: Database) -> bethink.Space:
    alice = memory.space("alice")
    await alice.remember("I am a pilot.")
    await learn(database, LEARNT)
    return alice


async def test_useful_feedback_is_stored_and_counts_as_use(alice: bethink.Space) -> None:
    ref = await ref_of(alice)
    first = await alice.facts.rate(ref, FactVerdict.USEFUL, note="exactly", actor="Tom")
    await alice.facts.rate(ref, "useful")

    found = await alice.explain(ref)
    assert [(each.verdict, each.actor, each.note) for each in found.feedback] == [
        (FactVerdict.USEFUL, "user", None), (FactVerdict.USEFUL, "Tom", "exactly"),
    ]  # fmt: skip
    assert found.feedback[1].rated_at == first.rated_at
    assert found.usage is not None
    assert found.usage.times == 2
    assert await knows(alice) == (True, True)


async def test_wrong_feedback_makes_a_fact_pending(alice: bethink.Space, clock: FakeClock) -> None:
    ref, before = await ref_of(alice), clock()
    await alice.facts.pin(ref)
    said = await alice.facts.rate(ref, FactVerdict.WRONG, note="She is a diver.")

    assert await knows(alice) == (False, False)
    [review] = await alice.reviews.list()
    assert (review.id, review.reason, review.detail) == (said.review_id, "reported_wrong", "She is a diver.")
    assert [quote.text for quote in review.claim.quotes] == ["I am a pilot"]
    assert review.fact_id == ref.id
    past = await alice.recall("pilot", kinds=[bethink.types.RefKind.FACT], known_at=before)
    assert [item.text for item in past.items] == [PILOT]
    assert not await alice.recall("pilot", kinds=[bethink.types.RefKind.FACT], as_of=before), "it was never true"

    approved = await alice.reviews.approve(review.id)
    fact = await alice.facts.get(ref.id)
    assert approved.fact_id == ref.id
    assert (fact.version, fact.evidence, fact.pinned_at is not None) == (2, Evidence.STATED, True)
    assert await knows(alice) == (True, True)
    assert len((await alice.explain(f"fact:{ref.id}:2")).feedback) == 1, "it is still told with the fact"
    await alice.facts.rate(f"fact:{ref.id}:2", FactVerdict.WRONG)
    assert await knows(alice) == (False, False), "it can be doubted again"


async def test_fact_marked_wrong_is_hidden_and_can_be_corrected(alice: bethink.Space) -> None:
    ref = await ref_of(alice)
    said = await alice.facts.rate(ref, FactVerdict.WRONG)
    assert [entry.status for entry in await alice.facts.history(status="pending")] == [FactStatus.PENDING]
    rejected = await alice.reviews.reject(said.review_id or "", note="she said so")
    assert (rejected.status, rejected.fact_id) == (ReviewStatus.REJECTED, ref.id)
    assert await knows(alice) == (False, False)
    assert [entry.fact.id for entry in await alice.facts.history(status="corrected")] == [ref.id]
    assert await alice.facts.history(status="pending") == []
    with pytest.raises(ConflictError):
        await alice.reviews.approve(said.review_id or "")

    await alice.facts.save(Fact(id="f2", text=PILOT, origin=Origin("user")))
    again = await alice.facts.rate("fact:f2:1", FactVerdict.WRONG)
    await alice.reviews.approve(again.review_id or "", text="The owner is a diver.")
    assert [fact.text for fact in await alice.facts.list()] == ["The owner is a diver."]


async def test_outdated_ends_a_fact_now_and_leaves_its_past(alice: bethink.Space, clock: FakeClock) -> None:
    ref, before = await ref_of(alice), clock()
    await alice.facts.rate(ref, FactVerdict.OUTDATED)

    assert await knows(alice) == (False, False)
    assert (await alice.reviews.count())["pending"] == 0
    past = await alice.recall("pilot", kinds=[bethink.types.RefKind.FACT], as_of=before)
    assert [item.text for item in past.items] == [PILOT]
    past = await alice.recall("pilot", kinds=[bethink.types.RefKind.FACT], known_at=before)
    assert [item.text for item in past.items] == [PILOT]
    [fact] = await alice.facts.versions(ref.id)
    assert fact.status is FactStatus.ENDED
    assert fact.valid_to is not None
    assert before < fact.valid_to <= clock.time


@pytest.mark.parametrize("verdict", [FactVerdict.WRONG, FactVerdict.OUTDATED])
async def test_feedback_on_an_old_version_raises_stale(alice: bethink.Space, verdict: FactVerdict) -> None:
    ref = await ref_of(alice)
    await alice.correct(ref, "The owner is a co-pilot.")

    with pytest.raises(VersionConflictError):
        await alice.facts.rate(ref, verdict)
    await alice.facts.rate(ref, FactVerdict.USEFUL)
    assert [fact.text for fact in await alice.facts.list()] == ["The owner is a co-pilot."]


async def test_feedback_needs_a_fact_of_the_space(alice: bethink.Space, memory: bethink.Memory) -> None:
    ref = await ref_of(alice)
    for verdict in FactVerdict:
        with pytest.raises(NotFoundError):
            await memory.space("bob").facts.rate(ref, verdict)
    with pytest.raises(InvalidRequestError, match="not a fact"):
        await alice.facts.rate("document:d:1", FactVerdict.USEFUL)
    with pytest.raises(InvalidRequestError, match="verdict"):
        await alice.facts.rate(ref, "great")  # pyright: ignore[reportArgumentType]
    assert await knows(alice) == (True, True)


@pytest.mark.parametrize("what", ["fact", "message", "conversation"])
async def test_forget_deletes_feedback_about_the_fact(
    alice: bethink.Space, target: str, superuser_dsn: str, what: str
) -> None:
    ref = await ref_of(alice)
    await alice.facts.rate(ref, FactVerdict.USEFUL, note="zebrafinch")
    await alice.facts.rate(ref, FactVerdict.WRONG, note="zebrafinch")
    assert "zebrafinch" in stored(target, superuser_dsn)
    [source] = await alice.facts.sources(ref.id)

    if what == "conversation":
        await alice.forget(conversation="notes")
    else:
        await alice.forget(str(ref) if what == "fact" else f"message:{source.session_id}:{source.number}")

    assert "zebrafinch" not in stored(target, superuser_dsn)
    assert (await alice.reviews.count())["pending"] == 0


async def test_several_claims_are_decided_at_once_all_or_none(memory: bethink.Memory, database: Database) -> None:
    alice = memory.space("alice")
    await alice.remember("I have asthma. I have a dog. I owe money.")
    held = [
        claim("The owner has asthma.", "I have asthma", review="doubtful"),
        claim("The owner has a dog.", "I have a dog", review="doubtful"),
        claim("The owner owes money.", "I owe money", review="doubtful"),
    ]
    await learn(database, *held)
    ids = [review.id for review in await alice.reviews.list()]

    with pytest.raises(NotFoundError):
        await alice.reviews.approve_many([ids[0], "rev_none"])
    assert (await alice.reviews.count())["pending"] == 3
    done = await alice.reviews.approve_many([ids[0], ids[1], ids[0]], note="asked her")
    assert [(each.status, each.note) for each in done] == [(ReviewStatus.APPROVED, "asked her")] * 2
    with pytest.raises(ConflictError):
        await alice.reviews.reject_many([ids[2], ids[0]])
    assert (await alice.reviews.count())["pending"] == 1
    [last] = await alice.reviews.reject_many([ids[2]])
    assert last.status is ReviewStatus.REJECTED
    assert await alice.facts.count() == 2
    with pytest.raises(InvalidRequestError, match="review_ids"):
        await alice.reviews.approve_many([])
