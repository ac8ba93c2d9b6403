"""What people say about facts: kept with who and when, and `wrong` and `outdated` do what they say."""

import pytest

import bethink
from bethink.errors import Conflict, Invalid, NotFound, Stale
from bethink.model.facts import Evidence, Fact
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
    [fact] = [each for each in await space.facts.all() if each.content == content]
    return bethink.Ref(bethink.RefKind.FACT, fact.id, fact.version)


async def knows(space: bethink.Space) -> tuple[bool, bool]:
    """Whether recall finds the fact, and whether it stands in context."""
    found = await space.recall("pilot", kinds=[bethink.RefKind.FACT])
    return PILOT in [item.text for item in found.items], PILOT in (await space.context()).text


@pytest.fixture
async def alice(memory: bethink.Memory, database: Database) -> bethink.Space:
    alice = memory.space("alice")
    await alice.remember("I am a pilot.")
    await learn(database, LEARNT)
    return alice


async def test_useful_is_kept_and_counts_as_used(alice: bethink.Space) -> None:
    ref = await ref_of(alice)
    first = await alice.feedback(ref, FactVerdict.USEFUL, note="exactly", by="Tom")
    await alice.feedback(ref, "useful")  # pyright: ignore[reportArgumentType]

    found = await alice.explain(ref)
    assert [(each.verdict, each.by, each.note) for each in found.feedback] == [
        (FactVerdict.USEFUL, "user", None), (FactVerdict.USEFUL, "Tom", "exactly"),
    ]  # fmt: skip
    assert found.feedback[1].at == first.at
    assert found.usage is not None
    assert found.usage.times == 2
    assert await knows(alice) == (True, True)


async def test_wrong_holds_a_fact_until_it_is_decided(alice: bethink.Space, clock: FakeClock) -> None:
    ref, before = await ref_of(alice), clock()
    await alice.pin(ref)
    said = await alice.feedback(ref, FactVerdict.WRONG, note="She is a diver.")

    assert await knows(alice) == (False, False)
    [review] = await alice.reviews.all()
    assert (review.id, review.reason, review.detail) == (said.review_id, "reported_wrong", "She is a diver.")
    assert [quote.text for quote in review.claim.quotes] == ["I am a pilot"]
    assert review.fact_id == ref.id
    past = await alice.recall("pilot", kinds=[bethink.RefKind.FACT], as_of=before)
    assert [item.text for item in past.items] == [PILOT]

    approved = await alice.reviews.approve(review.id)
    fact = await alice.facts.get(ref.id)
    assert approved.fact_id == ref.id
    assert (fact.version, fact.evidence, fact.pinned_at is not None) == (2, Evidence.STATED, True)
    assert await knows(alice) == (True, True)
    assert len((await alice.explain(f"fact:{ref.id}:2")).feedback) == 1, "it is still told with the fact"
    await alice.feedback(f"fact:{ref.id}:2", FactVerdict.WRONG)
    assert await knows(alice) == (False, False), "it can be doubted again"


async def test_a_fact_found_wrong_stays_away_and_may_be_put_right(alice: bethink.Space) -> None:
    ref = await ref_of(alice)
    said = await alice.feedback(ref, FactVerdict.WRONG)
    rejected = await alice.reviews.reject(said.review_id or "", note="she said so")
    assert (rejected.status, rejected.fact_id) == (ReviewStatus.REJECTED, ref.id)
    assert await knows(alice) == (False, False)
    with pytest.raises(Conflict):
        await alice.reviews.approve(said.review_id or "")

    await alice.facts.save(Fact(id="f2", content=PILOT, origin=Origin("user")))
    again = await alice.feedback("fact:f2:1", FactVerdict.WRONG)
    await alice.reviews.approve(again.review_id or "", statement="The owner is a diver.")
    assert [fact.content for fact in await alice.facts.all()] == ["The owner is a diver."]


async def test_outdated_ends_a_fact_now_and_leaves_its_past(alice: bethink.Space, clock: FakeClock) -> None:
    ref, before = await ref_of(alice), clock()
    await alice.feedback(ref, FactVerdict.OUTDATED)

    assert await knows(alice) == (False, False)
    assert (await alice.reviews.count())["held"] == 0
    past = await alice.recall("pilot", kinds=[bethink.RefKind.FACT], as_of=before)
    assert [item.text for item in past.items] == [PILOT]
    assert [fact.valid_to is None for fact in await alice.facts.versions(ref.id)] == [True, False]


@pytest.mark.parametrize("verdict", [FactVerdict.WRONG, FactVerdict.OUTDATED])
async def test_who_read_an_earlier_version_decides_nothing_about_the_next(
    alice: bethink.Space, verdict: FactVerdict
) -> None:
    ref = await ref_of(alice)
    await alice.correct(ref, "The owner is a co-pilot.")

    with pytest.raises(Stale):
        await alice.feedback(ref, verdict)
    await alice.feedback(ref, FactVerdict.USEFUL)
    assert [fact.content for fact in await alice.facts.all()] == ["The owner is a co-pilot."]


async def test_feedback_is_refused_for_what_is_no_fact_of_the_space(
    alice: bethink.Space, memory: bethink.Memory
) -> None:
    ref = await ref_of(alice)
    for verdict in FactVerdict:
        with pytest.raises(NotFound):
            await memory.space("bob").feedback(ref, verdict)
    with pytest.raises(Invalid, match="not a fact"):
        await alice.feedback("document:d:1", FactVerdict.USEFUL)
    with pytest.raises(Invalid, match="verdict"):
        await alice.feedback(ref, "great")  # pyright: ignore[reportArgumentType]
    assert await knows(alice) == (True, True)


@pytest.mark.parametrize("what", ["fact", "message", "conversation"])
async def test_forgetting_leaves_nothing_of_what_was_said_about_a_fact(
    alice: bethink.Space, target: str, superuser_dsn: str, what: str
) -> None:
    ref = await ref_of(alice)
    await alice.feedback(ref, FactVerdict.USEFUL, note="zebrafinch")
    await alice.feedback(ref, FactVerdict.WRONG, note="zebrafinch")
    assert "zebrafinch" in stored(target, superuser_dsn)
    [source] = await alice.facts.sources(ref.id)

    if what == "conversation":
        await alice.forget(conversation="notes")
    else:
        await alice.forget(str(ref) if what == "fact" else f"message:{source.session_id}:{source.number}")

    assert "zebrafinch" not in stored(target, superuser_dsn)
    assert (await alice.reviews.count())["held"] == 0


async def test_several_claims_are_decided_at_once_all_or_none(memory: bethink.Memory, database: Database) -> None:
    alice = memory.space("alice")
    await alice.remember("I have asthma. I have a dog. I owe money.")
    held = [
        claim("The owner has asthma.", "I have asthma", review="health"),
        claim("The owner has a dog.", "I have a dog", review="doubtful"),
        claim("The owner owes money.", "I owe money", review="money"),
    ]
    await learn(database, *held)
    ids = [review.id for review in await alice.reviews.all()]

    with pytest.raises(NotFound):
        await alice.reviews.approve_all([ids[0], "rev_none"])
    assert (await alice.reviews.count())["held"] == 3
    done = await alice.reviews.approve_all([ids[0], ids[1], ids[0]], note="asked her")
    assert [(each.status, each.note) for each in done] == [(ReviewStatus.APPROVED, "asked her")] * 2
    with pytest.raises(Conflict):
        await alice.reviews.reject_all([ids[2], ids[0]])
    assert (await alice.reviews.count())["held"] == 1
    [last] = await alice.reviews.reject_all([ids[2]])
    assert last.status is ReviewStatus.REJECTED
    assert await alice.facts.count() == 2
    with pytest.raises(Invalid, match="review_ids"):
        await alice.reviews.approve_all([])
