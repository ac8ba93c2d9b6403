"""A person's decision about words is final: no learning, relearning or sync changes what they mean."""

from datetime import datetime, timedelta

import pytest

import bethink
from bethink.memory.facts.decisions import find_decision
from bethink.memory.facts.reconcile import Settlement, settle
from bethink.model.decisions import DecisionKind
from bethink.model.facts import Evidence, Fact, FactStatus, Quote
from bethink.model.ids import new_id
from bethink.model.recall import FactVerdict
from bethink.model.records import Origin
from bethink.model.reviews import ClaimChange, ClaimedFact, ReviewStatus
from bethink.store import facts as store
from bethink.store import reviews
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock, said

RENT = "My rent is 1,240 and my cat is three."


class Talk:
    """Says things in one space, and learns claims from them."""

    def __init__(self, memory: bethink.Memory, database: Database) -> None:
        self.space, self.database, self.learned = memory.space("alice"), database, 0
        self.session_id = ""

    async def say(self, text: str) -> int:
        session = await self.space.session("desk")
        self.session_id = session.id
        [number] = await session.append(said(text))
        return number

    def claim(self, text: str, quote: str, number: int = 1, **more: object) -> ClaimedFact:
        """A claim of the owner about words of a message."""
        links = {name: more.pop(name) for name in ("change", "existing_ids") if name in more}
        fields = {"subject": "user", "origin": Origin("user"), "evidence": Evidence.QUOTED} | more
        fact = Fact(id=new_id("fct"), text=text, source=self.session_id, **fields)  # pyright: ignore[reportArgumentType]
        quotes = (Quote(session_id=self.session_id, number=number, text=quote),)
        return ClaimedFact(fact=fact, quotes=quotes, **links)  # pyright: ignore[reportArgumentType]

    async def learn(self, text: str, quote: str, number: int = 1, **more: object) -> tuple[Settlement, str | None]:
        """Learn a claim, and return its outcome and fact."""
        self.learned += 1
        effect = f"{self.session_id}:{number}:test:{self.learned}"
        claim = self.claim(text, quote, number, **more)

        def body(tx: Tx) -> tuple[Settlement, str | None]:
            store.lock(tx, space="alice")
            settled = settle(tx, claim, space="alice", effect=effect, token=1)
            return settled.settlement, settled.fact_id

        return await self.database.transact(body, space="alice")

    async def texts(self, **view: object) -> list[str]:
        return sorted(fact.text for fact in await self.space.facts.list(**view))  # pyright: ignore[reportArgumentType]

    async def correct(self, old: str, new: str) -> str:
        [fact] = [fact for fact in await self.space.facts.list() if fact.text == old]
        await self.space.correct(fact.ref, new)
        return fact.id


@pytest.fixture
async def talk(memory: bethink.Memory, database: Database) -> Talk:
    talk = Talk(memory, database)
    await talk.say(RENT)
    await talk.learn("The rent is 1,240", "My rent is 1,240", slot="rent")
    return talk


@pytest.mark.parametrize(
    ("text", "quote", "slot"),
    [
        ("The rent is 1,240", "My rent is 1,240", "rent"),
        ("The rent is 1,240", "rent is 1,240 and my cat", None),
        ("The user pays 1,240 a month", "My rent is 1,240", "rent"),
        ("A flat costs 1,240 a month", "1,240", "monthly_costs"),
        ("The rent amounts to 1,240", "1,240 and my cat is three", None),
    ],
    ids=["same", "same text, overlapping words", "same slot", "what a person removed", "same words"],
)
async def test_claims_about_corrected_words_belong_to_the_corrected_fact(
    talk: Talk, text: str, quote: str, slot: str | None
) -> None:
    fact_id = await talk.correct("The rent is 1,240", "The rent is 1,420")

    assert await talk.learn(text, quote, slot=slot) == (Settlement.DECIDED, fact_id)
    assert await talk.texts() == ["The rent is 1,420"]
    assert len(await talk.space.facts.quotes(fact_id)) == 2, "the words are another source"


async def test_another_statement_of_a_corrected_message_is_stored(talk: Talk) -> None:
    await talk.correct("The rent is 1,240", "The rent is 1,420")

    outcome, _ = await talk.learn("The cat is three", RENT, slot="age", subject="cat")
    assert outcome is Settlement.ADDED
    assert await talk.texts() == ["The cat is three", "The rent is 1,420"]


async def test_words_elsewhere_in_the_message_are_not_settled(talk: Talk) -> None:
    """Same slot, but other words: only overlapping quotes are decided."""
    number = await talk.say("I pay 1,240 for my office and 900 for rent.")
    await talk.learn("The office costs 1,240", "I pay 1,240 for my office", number, slot="costs")
    await talk.correct("The office costs 1,240", "The office costs 1,250")

    outcome, _ = await talk.learn("The parking space costs 900", "900 for rent", number, slot="costs")
    assert outcome is not Settlement.DECIDED


async def test_a_later_statement_changes_a_corrected_fact(talk: Talk, clock: FakeClock) -> None:
    await talk.correct("The rent is 1,240", "The rent is 1,420")
    clock.time += timedelta(days=1)
    number = await talk.say("My rent is 1,240 from now on.")

    outcome, _ = await talk.learn("The rent is 1,240", "My rent is 1,240", number, slot="rent")
    assert outcome is Settlement.SUCCEEDED
    assert await talk.texts() == ["The rent is 1,240"]


async def test_what_was_said_before_a_correction_is_corrected_too(talk: Talk, clock: FakeClock) -> None:
    """Whether the same was learned twice before the correction, or the second time after it."""
    number = await talk.say("As I said, 1,240 is my rent.")
    before = clock()
    clock.time += timedelta(days=1)
    fact_id = await talk.correct("The rent is 1,240", "The rent is 1,420")

    outcome = await talk.learn("The rent is 1,240", "1,240 is my rent", number, slot="rent", created_at=before)
    assert outcome == (Settlement.DECIDED, fact_id)
    assert await talk.texts() == ["The rent is 1,420"]


async def test_correction_applies_to_facts_that_say_the_same(talk: Talk, clock: FakeClock) -> None:
    start = clock.time
    number = await talk.say("My rent is 1,240 in May only.")
    days = {"valid_from": start + timedelta(days=40), "valid_to": start + timedelta(days=70)}
    past = {"valid_from": start - timedelta(days=70), "valid_to": start - timedelta(days=40)}
    await talk.learn("The garage is 90", "My rent", number, slot="garage", **past)
    _, other_id = await talk.learn("The garage is 90", "1,240 in May", number, slot="garage", **days)
    first = next(fact for fact in (await talk.space.facts.history()) if fact.fact.text == "The garage is 90")
    await talk.space.correct(first.fact.ref, "The garage is 95")

    texts = [entry.fact.text for entry in await talk.space.facts.history() if entry.status is not FactStatus.CORRECTED]
    assert other_id is not None
    assert texts.count("The garage is 95") == 2
    assert "The garage is 90" not in texts


async def test_correction_is_known_from_then_and_true_from_the_start(talk: Talk, clock: FakeClock) -> None:
    clock.time += timedelta(days=1)
    before = clock()
    clock.time += timedelta(days=1)
    await talk.correct("The rent is 1,240", "The rent is 1,420")

    assert await talk.texts(known_at=before) == ["The rent is 1,240"]
    assert await talk.texts(as_of=before) == ["The rent is 1,420"]
    assert await talk.texts() == ["The rent is 1,420"]


async def test_corrected_version_is_corrected_and_a_saved_one_replaced(talk: Talk) -> None:
    fact_id = await talk.correct("The rent is 1,240", "The rent is 1,420")
    await talk.space.facts.save(Fact(id=fact_id, text="The rent is 1,430"))

    versions = await talk.space.facts.versions(fact_id)
    assert [version.status for version in versions] == [
        FactStatus.CORRECTED, FactStatus.REPLACED, FactStatus.CURRENT,
    ]  # fmt: skip
    history = {entry.fact.text: entry for entry in await talk.space.facts.history()}
    assert history["The rent is 1,240"].status is FactStatus.CORRECTED
    assert history["The rent is 1,240"].replaced_by_text == "The rent is 1,420"
    lineage = await talk.space.explain(f"fact:{fact_id}:1")
    assert lineage.fact is not None
    assert lineage.fact.status is FactStatus.CORRECTED


@pytest.mark.parametrize("verdict", [ReviewStatus.REJECTED, ReviewStatus.APPROVED])
async def test_a_decided_review_settles_its_words(talk: Talk, verdict: ReviewStatus) -> None:
    claim = talk.claim("The cat is three", "my cat is three", slot="age", subject="cat")
    review_id = await talk.database.transact(
        lambda tx: reviews.put(
            tx, claim, space="alice", status=ReviewStatus.PENDING, reason="flagged", detail="", effect="e"
        ),
        space="alice",
    )  # fmt: skip
    if verdict is ReviewStatus.REJECTED:
        await talk.space.reviews.reject(review_id)
    else:
        await talk.space.reviews.approve(review_id, text="The cat is four")
    before = await talk.texts()

    outcome, fact_id = await talk.learn("The cat is three years old", "cat is three", slot="age", subject="cat")
    assert outcome is Settlement.DECIDED
    assert fact_id == (await talk.space.reviews.get(review_id)).fact_id
    assert await talk.texts() == before


@pytest.mark.parametrize("is_rejected", [False, True])
async def test_a_fact_reported_as_wrong_is_not_learned_again(talk: Talk, is_rejected: bool) -> None:
    [fact] = await talk.space.facts.list()
    feedback = await talk.space.facts.rate(fact.ref, FactVerdict.WRONG)
    if is_rejected:
        await talk.space.reviews.reject(feedback.review_id or "")

    assert await talk.learn("The rent is 1,240", "My rent is 1,240", slot="rent") == (Settlement.DECIDED, None)
    assert await talk.texts() == []


async def test_what_a_wrong_fact_had_replaced_is_true_again_until_it_is_approved(talk: Talk, clock: FakeClock) -> None:
    clock.time += timedelta(days=1)
    number = await talk.say("My rent is 900 now.")
    await talk.learn("The rent is 900", "My rent is 900", number, slot="rent")
    assert await talk.texts() == ["The rent is 900"]
    [fact] = await talk.space.facts.list()
    feedback = await talk.space.facts.rate(fact.ref, FactVerdict.WRONG)
    assert await talk.texts() == ["The rent is 1,240"]

    await talk.space.reviews.approve(feedback.review_id or "")
    assert await talk.texts() == ["The rent is 900"]


async def test_an_ended_fact_is_not_true_again_if_its_words_are_learned_again(talk: Talk) -> None:
    [fact] = await talk.space.facts.list()
    await talk.space.facts.rate(fact.ref, FactVerdict.OUTDATED)

    assert await talk.learn("The rent amounts to 1,240", "rent is 1,240", slot="rent") == (Settlement.DECIDED, fact.id)
    assert await talk.texts() == []


async def test_a_deleted_fact_is_not_learned_from_the_same_words(talk: Talk) -> None:
    [fact] = await talk.space.facts.list()
    await talk.space.forget(fact.ref)

    outcome = await talk.learn("The rent is 1,240!", "My rent is 1,240", slot="rent")
    assert outcome == (Settlement.DECIDED, None)
    assert (await talk.learn("The cat is three", "my cat is three", subject="cat"))[0] is Settlement.ADDED
    number = await talk.say("My rent is 1,240.")
    assert (await talk.learn("The rent is 1,240", "My rent is 1,240", number, slot="rent"))[0] is Settlement.ADDED


async def test_claims_about_settled_words_keep_their_links(talk: Talk, clock: FakeClock) -> None:
    """A corrected statement that is learned again still ends what it ended."""
    _, old_id = await talk.learn("The rent is paid in cash", "my cat is three", slot="payment")
    clock.time += timedelta(days=1)
    number = await talk.say("I now pay by card.")
    _, fact_id = await talk.learn("The rent is paid by card", "I now pay by card", number)
    assert fact_id is not None
    assert old_id is not None
    await talk.correct("The rent is paid by card", "The rent is paid by debit card")
    assert "The rent is paid in cash" in await talk.texts()

    links = {"change": ClaimChange.REPLACES, "existing_ids": (old_id,)}
    outcome = await talk.learn("The rent is paid by card", "I now pay by card", number, **links)
    assert outcome == (Settlement.DECIDED, fact_id)
    assert "The rent is paid in cash" not in await talk.texts()
    assert (await talk.space.facts.get(old_id)).replaced_by == fact_id


async def test_decisions_name_their_actor_and_time(talk: Talk, clock: FakeClock, database: Database) -> None:
    clock.time += timedelta(days=3)
    day: datetime = clock.time
    fact_id = await talk.correct("The rent is 1,240", "The rent is 1,420")
    claim = talk.claim("The rent is 1,240", "My rent is 1,240", slot="rent")
    decision = await database.transact(lambda tx: find_decision(tx, claim, space="alice"), space="alice")

    assert decision is not None
    assert (decision.kind, decision.actor, decision.fact_id) == (DecisionKind.CORRECTED, "user", fact_id)
    assert decision.text == "The rent is 1,420"
    assert timedelta(0) < decision.decided_at - day < timedelta(seconds=1)
