"""The second pass: claims it does not confirm are pending, and without it nothing is confirmed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bethink import Fact, Memory, Message
from bethink.jobs.worker import Worker
from bethink.model.calls import ModelCall
from bethink.model.facts import Evidence
from bethink.model.jobs import JobKind
from bethink.model.reviews import ReviewStatus
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from bethink.types import Facts
from tests.conftest import FakeClock
from tests.rooms.learn_kit import a_fact, answer, every_claim_is_said, extractor, reviewed, worker
from tests.rooms.test_claims import Talk, holding


@pytest.fixture
def talk(database: Database, memory: Memory) -> Talk:
    return Talk(database, memory)


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.space("alice").facts


def verdicts(said_: Sequence[str] = (), fixed: str | None = None, **others: str) -> Callable[[ModelCall], str]:
    """A reader that has these verdicts."""
    entries = [{"claim": name, "verdict": word, "text": "so it is"} for name, word in others.items()]
    entries += [] if fixed is None else [{"claim": "c1", "verdict": "fixed", "text": fixed}]
    return lambda _: json.dumps({"said": list(said_), "others": entries})


@pytest.mark.parametrize("verdict", ["denied", "somebody_elses", "quoted_or_supposed", "no_longer", "unclear"])
async def test_claim_rejected_by_second_pass_is_pending(
    talk: Talk, facts: Facts, database: Database, verdict: str
) -> None:
    claims = [a_fact("User likes tea", 1), a_fact("User likes rain", 2)]

    report = await talk.learn("I like tea", "If only I liked rain", claims=claims, reader=verdicts(["c1"], c2=verdict))

    assert (report.settled, report.for_review) == ({"added": 1}, {verdict: 1})
    assert await holding(facts) == ["User likes tea"]
    [held] = await reviewed(database)
    assert (held.status, held.reason, held.detail) == (ReviewStatus.PENDING, verdict, "so it is")
    assert held.claim.fact.evidence is Evidence.QUOTED
    assert talk.session is not None
    kept = await talk.session.summary()
    assert kept is not None
    assert kept.raw_memory == "- User likes tea"


async def test_a_claim_that_a_reader_passes_over_is_unclear(talk: Talk, facts: Facts) -> None:
    report = await talk.learn("I like tea", claims=[a_fact("User likes tea", 1)], reader=verdicts())

    assert (report.for_review, await facts.list()) == ({"unclear": 1}, [])


async def test_second_pass_corrects_claims_without_foreign_names(talk: Talk, facts: Facts) -> None:
    claim = a_fact("User goes to Oslo", 1)
    plans = verdicts(["c1"], fixed="User plans to go to Oslo")
    await talk.learn("I plan to go to Oslo", claims=[claim], reader=plans)
    assert await holding(facts) == ["User plans to go to Oslo"]

    wrong = verdicts(["c1"], fixed="User plans to go to Stavanger")
    report = await talk.learn("I plan to go to Oslo", claims=[claim], reader=wrong)

    assert report.for_review == {"foreign_name": 1}
    assert await holding(facts) == ["User plans to go to Oslo"]


async def test_second_pass_sees_quoted_messages_and_neighbors_only(talk: Talk, database: Database) -> None:
    await talk.say(*(f"message {number}" for number in range(1, 8)))
    reader = ScriptedModel(every_claim_is_said)

    await worker(database, [answer(a_fact("It is message 4", 4, about="it"))], reader=reader).run_once()

    [call] = reader.calls
    assert [f"message {number}\n" in call.prompt for number in range(1, 8)] == [False, False, *[True] * 3, False, False]
    assert call.prompt.endswith("<claims>\nc1 about it, detail, [4]: It is message 4\n</claims>")


async def test_doubted_claim_is_pending_without_a_second_pass(talk: Talk, facts: Facts, database: Database) -> None:
    claims = [a_fact("User likes tea", 1), a_fact("User likes Darjeeling", 1), a_fact("User likes 7 teas", 1)]

    report = await talk.learn("I like tea", claims=claims, reader=None)

    assert (report.settled, report.for_review) == ({"added": 1}, {"foreign_name": 1, "foreign_number": 1})
    [fact] = await facts.list()
    assert (fact.text, fact.evidence) == ("User likes tea", Evidence.QUOTED)
    [job] = [each for each in await talk.memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert job.usage.calls == 1
    assert {each.detail for each in await reviewed(database)} == {"not said: Darjeeling", "not said: 7"}


async def test_doubted_claim_can_be_confirmed_by_the_second_pass(talk: Talk, facts: Facts) -> None:
    await talk.learn("I like tea", claims=[a_fact("User likes Darjeeling", 1)])

    [fact] = await facts.list()
    assert (fact.text, fact.evidence) == ("User likes Darjeeling", Evidence.CONFIRMED)


async def test_flags_and_preferences_are_judged_without_a_second_pass(talk: Talk, facts: Facts) -> None:
    page = Message(role="tool", name="web", content="User wants cake")
    claims = [a_fact("User has a cold", 1, review="doubtful"), a_fact("User wants cake", 2, kind="preference")]

    report = await talk.learn("I have a cold", page, claims=claims, reader=None)

    assert (report.for_review, report.refused) == ({"flagged": 1}, {"not_from_user": 1})
    assert await facts.list() == []


async def test_invalid_second_pass_fails_the_job_and_keeps_the_claims(
    talk: Talk, facts: Facts, database: Database, clock: FakeClock
) -> None:
    model = ScriptedModel(lambda _: answer(a_fact("User likes tea", 1)))
    await talk.say("I like tea")
    reader = ScriptedModel(["no json", "no json"])

    report = await worker(database, model, reader=reader).run_once()
    assert (report.outcomes, await facts.list()) == ({"failed": 1}, [])
    clock.time += timedelta(hours=1)
    await worker(database, model).run_once()

    assert (len(model.calls), len(reader.calls)) == (1, 2)
    assert await holding(facts) == ["User likes tea"]


async def test_after_a_crash_each_recorded_verdict_still_means_its_own_claim(
    talk: Talk, facts: Facts, database: Database, clock: FakeClock
) -> None:
    claims = [
        a_fact("Ada lives in Paris", 1, about="Ada"),
        a_fact("User likes rain", 2),
        a_fact("User likes tea", 3),
    ]
    model, reader = ScriptedModel([answer(*claims)]), ScriptedModel(verdicts(["c1", "c3"], c2="denied"))
    session = await talk.say(Message(role="assistant", content="Ada lives in Paris"), "I like rain? No!", "I like tea")

    def crash(*_: object) -> None:
        raise RuntimeError("killed before it was applied")

    doomed = replace(extractor(database, model, reader=reader), post=crash)
    report = await Worker(database, {JobKind.EXTRACT: doomed}).run_once()
    assert (report.outcomes, len(model.calls), len(reader.calls)) == ({"failed": 1}, 1, 1)
    # Meanwhile memory shows the session what its assistant said: now the first claim proves nothing.
    await facts.save(Fact(id="ada", text="Ada lives in Paris"))
    assert (await session.recall("Where does Ada live?")).items
    clock.time += timedelta(hours=1)

    report = await worker(database, ScriptedModel([]), reader=ScriptedModel([])).run_once()

    assert (report.refused, report.for_review, report.settled) == ({"echo": 1}, {"denied": 1}, {"added": 1})
    assert await holding(facts) == ["Ada lives in Paris", "User likes tea"]
