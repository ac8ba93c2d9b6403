"""Relearning: what another model would learn from the same log, previewed, applied as one change, and undone."""

import json
import re
from datetime import UTC, datetime

import pytest

from bethink import Memory, Message
from bethink.api.connect import connect
from bethink.errors import ConflictError, InvalidRequestError, ModelResponseError, NotFoundError, VersionConflictError
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.facts import Fact
from bethink.model.relearning import RelearningCounts, RelearningStatus
from bethink.model.steering import LearningRules
from bethink.providers.scripted_model import ScriptedModel
from tests.rooms.stored_kit import tables

HOME = "I live in Bergen and I have a dog called Pixel."
WISH = "Please answer in one sentence."


def claim(statement: str, quote: str, **more: object) -> dict[str, object]:
    quotes = [{"message": 1, "text": quote, "as": "word"}]
    return {"statement": statement, "kind": "detail", "about": "owner", "quotes": quotes} | more


def reader(call: ModelCall) -> str:
    said = re.findall(r"^(c\d+) about", call.prompt, re.MULTILINE)
    return json.dumps({"said": said, "others": []})


def model(*claims: dict[str, object]) -> ScriptedModel:
    """A model that claims of each session whatever it can quote."""

    def answer(call: ModelCall) -> str:
        if call.schema_name == "verdicts":
            return reader(call)
        if call.schema_name != "claims":
            return json.dumps({"calls": [], "done": True})
        known = [each for each in claims if str(each["quotes"][0]["text"]) in call.prompt]  # pyright: ignore[reportIndexIssue, reportUnknownArgumentType]
        return json.dumps({"claims": known, "suspicious": [], "title": None})

    return ScriptedModel(answer)


FIRST = (
    claim("The user lives in Bergen.", "I live in Bergen", slot="home"),
    claim("The user has a dog.", "I have a dog"),
    claim("The user wants one sentence.", "answer in one sentence", kind="instruction"),
)
SECOND = (
    claim("The user lives in Bergen.", "I live in Bergen", slot="home"),
    claim("The user has a dog called Pixel.", "I have a dog called Pixel"),
    claim("Pixel is a dog.", "a dog called Pixel", about="Pixel"),
)


async def told(memory: Memory) -> None:
    for conversation, text in (("home", HOME), ("style", WISH)):
        session = await memory.space("mira").session(conversation)
        await session.append([Message(role="user", content=text)])
        await session.end()
    await memory.learn()


async def contents(memory: Memory) -> list[str]:
    return sorted(fact.text for fact in await memory.space("mira").facts.list())


async def test_relearning_shows_what_would_change_and_changes_nothing(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
    async with connect(target, model=model(*SECOND), learn_in_background=False) as memory:
        before = await memory.space("mira").facts.list()
        found = await memory.space("mira").admin.relearning.propose()

        assert found.status is RelearningStatus.PROPOSED
        assert (found.sessions, found.same) == (2, 1)
        assert [each.fact.text for each in found.new] == ["Pixel is a dog."]
        assert [fact.text for fact in found.removed] == ["The user wants one sentence."]
        assert [(each.before.text, each.after.fact.text) for each in found.changed] == [
            ("The user has a dog.", "The user has a dog called Pixel.")
        ]
        assert found.usage.calls >= 3
        assert await memory.space("mira").facts.list() == before


async def test_applied_relearning_is_one_change_that_can_be_undone(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
    async with connect(target, model=model(*SECOND), learn_in_background=False) as memory:
        space = memory.space("mira")
        before = [await _everything(memory, fact) for fact in await space.facts.list()]
        found = await space.admin.relearning.propose()
        applied = await space.admin.relearning.apply(found.id)

        assert applied.status is RelearningStatus.APPLIED
        assert await contents(memory) == [
            "Pixel is a dog.", "The user has a dog called Pixel.", "The user lives in Bergen.",
        ]  # fmt: skip
        assert (await space.admin.relearning.apply(found.id)).status is RelearningStatus.APPLIED, (
            "a second time does nothing"
        )

        assert (await space.admin.relearning.undo(found.id)).status is RelearningStatus.UNDONE
        assert [await _everything(memory, fact) for fact in await space.facts.list()] == before


async def test_relearning_never_touches_stated_facts(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
        await memory.space("mira").facts.save(Fact(id="mine", text="The user is called Mira."))
    async with connect(target, model=model(), learn_in_background=False) as memory:
        found = await memory.space("mira").admin.relearning.propose(dry_run=False)

        assert len(found.removed) == 0, "an applied one keeps no texts"
        assert await contents(memory) == ["The user is called Mira."]


async def test_relearning_proposal_is_deleted_by_forget(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
    async with connect(target, model=model(*SECOND), learn_in_background=False) as memory:
        found = await memory.space("mira").admin.relearning.propose()
        await memory.space("mira").forget(conversation="home")

        with pytest.raises(NotFoundError, match=r"Relearning .* does not exist"):
            await memory.space("mira").admin.relearning.apply(found.id)


async def test_a_proposal_about_facts_that_changed_since_is_not_applied_at_all(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
    async with connect(target, model=model(*SECOND), learn_in_background=False) as memory:
        space = memory.space("mira")
        found = await space.admin.relearning.propose()
        [dog] = [fact for fact in await space.facts.list() if "dog" in fact.text]
        await space.facts.save(Fact(id=dog.id, text="The user has two dogs."))
        before = await contents(memory)

        with pytest.raises(VersionConflictError):
            await space.admin.relearning.apply(found.id)
        assert await contents(memory) == before


async def test_relearning_without_a_model_says_so(target: str) -> None:
    async with connect(target, learn_in_background=False) as memory:
        await told(memory)
        with pytest.raises(InvalidRequestError, match="No model is configured"):
            await memory.space("mira").admin.relearning.propose()


async def test_relearning_stops_at_the_daily_budget_and_counts_against_it(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
        spent = (await memory.admin.audit()).spent_today
    async with connect(
        target, model=model(*SECOND), learn_in_background=False, daily_budget=spent.cost / 1e6
    ) as memory:
        with pytest.raises(ConflictError, match="daily budget"):
            await memory.space("mira").admin.relearning.propose()
    async with connect(target, model=model(*SECOND), learn_in_background=False) as memory:
        found = await memory.space("mira").admin.relearning.propose()
        assert (await memory.admin.audit()).spent_today.cost == spent.cost + found.usage.cost


async def test_undone_relearning_restores_every_row(target: str, superuser_dsn: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
    before = tables(target, superuser_dsn)
    async with connect(target, model=model(*SECOND), learn_in_background=False) as memory:
        found = await memory.space("mira").admin.relearning.propose(dry_run=False)
        during = tables(target, superuser_dsn)
        await memory.space("mira").admin.relearning.undo(found.id)
    after = tables(target, superuser_dsn)

    assert {name for name in before if during[name] != before[name]} >= {"facts", "fact_quotes", "fact_sources"}
    for name in ("facts", "fact_sources", "fact_quotes", "reviews", "session_summaries", "documents", "messages"):
        assert after[name] == before[name], name


async def test_relearning_uses_space_rules_or_given_instructions(target: str) -> None:
    calls: list[ModelCall] = []
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
        rules = LearningRules(instructions="Learn about pets.", owner="Mira", review_kinds=("instruction",))  # pyright: ignore[reportArgumentType]
        await memory.space("mira").admin.rules.set(rules)
        await memory.space("mira").admin.rules.set(LearningRules(instructions="Of the coach."), agent="coach")
    async with connect(target, model=listening(calls, *FIRST), learn_in_background=False) as memory:
        space = memory.space("mira")
        found = await space.admin.relearning.propose()
        assert all("<instructions>\nLearn about pets.\n</instructions>" in call.prompt for call in calls)
        assert found.pending == 1, "what a person approves first is held in a relearning, too"
        calls.clear()
        await space.admin.relearning.propose(instructions="Learn about towns.")
        assert all("Learn about towns." in call.prompt and "pets" not in call.prompt for call in calls)
        assert all("Owner: Mira" in call.prompt for call in calls), "the other rules stay"
        calls.clear()
        await space.admin.relearning.propose(instructions="")
        assert not any("<instructions>" in call.prompt for call in calls)
        assert await space.admin.rules.get() == rules, "the rules themselves are as they were"


async def test_custom_prompt_is_recorded_and_bypasses_no_check(target: str) -> None:
    calls: list[ModelCall] = []
    made_up = claim("The user is a king.", "I am a king of Bergen")
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
    own = "Claim whatever you like. It is believed."
    lies = listening(calls, *SECOND, made_up | {"quotes": [{"message": 1, "text": "I am a king", "as": "word"}]})
    async with connect(target, model=lies, learn_in_background=False) as memory:
        found = await memory.space("mira").admin.relearning.propose(prompt=own)

    assert {call.system for call in calls} == {own}
    assert "The user is a king." not in [each.fact.text for each in found.new]
    [new] = found.new
    assert new.fact.created_by is not None
    assert new.fact.created_by.prompt.startswith("own-")
    assert own not in new.fact.created_by.prompt


async def test_a_model_that_fails_proposes_nothing(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
        spent = (await memory.admin.audit()).spent_today
    async with connect(target, model=ScriptedModel(lambda _: "no JSON"), learn_in_background=False) as memory:
        with pytest.raises(ModelResponseError, match="no usable answer"):
            await memory.space("mira").admin.relearning.propose(dry_run=False)
        assert len(await contents(memory)) == 3
        assert (await memory.admin.audit()).spent_today.cost > spent.cost, "it was paid for all the same"


async def test_relearn_of_an_unknown_space_raises_not_found(target: str) -> None:
    calls: list[ModelCall] = []
    async with connect(target, model=listening(calls)) as memory:
        with pytest.raises(NotFoundError, match="No space 'nobody'"):
            await memory.space("nobody").admin.relearning.propose()

    assert calls == []


@pytest.mark.parametrize("prompt", [" \n", "x" * 20_001])
async def test_a_prompt_that_cannot_be_one_is_refused(memory: Memory, prompt: str) -> None:
    with pytest.raises(InvalidRequestError, match="prompt"):
        await memory.space("mira").admin.relearning.propose(prompt=prompt)


def listening(calls: list[ModelCall], *claims: dict[str, object]) -> ScriptedModel:
    """A model that claims of each session whatever it can quote, and keeps what it was asked for claims."""
    found = model(*claims)

    class Listening(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if call.schema_name == "claims":
                calls.append(call)
            return await found.answer(call)

    return Listening(())


async def _everything(memory: Memory, fact: Fact) -> object:
    space = memory.space("mira")
    return (
        [(each, each.recorded_at, each.replaced_at, each.replaced_by, each.version, each.evidence, each.created_by)
         for each in await space.facts.versions(fact.id)],
        await space.facts.sources(fact.id),
    )  # fmt: skip


@pytest.mark.parametrize(("model", "second"), [("\tu\u00bb", ""), ("openai:gpt", ""), ("openai:gpt", "\r\u00e9")])
async def test_a_model_that_cannot_work_is_the_mistake_of_who_named_it(
    target: str, model: str, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with connect(target, learn_in_background=False) as memory:
        await memory.space("mira").remember("I live in Bergen.")
        with pytest.raises(InvalidRequestError, match=r"does not name a provider|OPENAI_API_KEY"):
            await memory.space("mira").admin.relearning.propose(model=model, verify_model=second)


FLAT, HOUSE = "I live in a flat in Bergen.", "I live in my own house now."
FLAT_CLAIM = claim("The user lives in a flat.", "I live in a flat")
HOUSE_CLAIM = claim("The user lives in a house.", "I live in my own house")


def linking(*claims: dict[str, object], of: str = "The user lives in a flat.") -> ScriptedModel:
    """A model whose claim about a house replaces the known fact with a text."""

    def answer(call: ModelCall) -> str:
        if call.schema_name == "verdicts":
            return reader(call)
        if call.schema_name != "claims":
            return json.dumps({"calls": [], "done": True})
        known = re.search(rf"^(f\d+) .*?: {re.escape(of)}$", call.prompt, re.MULTILINE)
        quoted = [item for item in claims if str(item["quotes"][0]["text"]) in call.prompt]  # pyright: ignore[reportIndexIssue, reportUnknownArgumentType]
        op = {"op": "replaces", "known": [known[1]]} if known else {"op": "new"}
        found = [item | op if "house" in str(item["statement"]) else item for item in quoted]
        return json.dumps({"claims": found, "suspicious": [], "title": None})

    return ScriptedModel(answer)


async def moved(memory: Memory) -> None:
    """Say two things on two days, and learn from both."""
    days = ("2026-03-01T10:00:00Z", "2026-05-01T10:00:00Z")
    for conversation, text, day in zip(("flat", "house"), (FLAT, HOUSE), days, strict=True):
        session = await memory.space("mira").session(conversation)
        await session.append([Message(role="user", content=text, said_at=datetime.fromisoformat(day))])
        await session.end()
        await memory.learn()


async def history(memory: Memory) -> dict[str, tuple[object, ...]]:
    """What is true from when to when, without what a relearning retired."""
    entries = await memory.space("mira").facts.history()
    return {
        entry.fact.text: (
            entry.status, entry.fact.created_at, entry.fact.valid_from, entry.fact.valid_to, entry.replaced_by_text,
        )
        for entry in entries
        if entry.fact.replaced_at is None
    }  # fmt: skip


async def test_relearning_changes_nothing_if_the_same_is_learned(target: str) -> None:
    async with connect(target, model=linking(FLAT_CLAIM, HOUSE_CLAIM), learn_in_background=False) as memory:
        await moved(memory)
        before = await history(memory)
        assert before["The user lives in a flat."][0] == "replaced"
        done = await memory.space("mira").admin.relearning.propose(dry_run=False)

        assert done.same == 2
        assert done.applied == RelearningCounts()
        assert await history(memory) == before


@pytest.mark.parametrize(
    "first",
    [model(FLAT_CLAIM, HOUSE_CLAIM), model(claim("The user has a flat in Bergen.", "flat in Bergen")), model()],
    ids=["without links", "other words", "nothing"],
)
async def test_history_after_relearning_is_that_of_learning(target: str, first: ScriptedModel) -> None:
    async with connect(target, model=first, learn_in_background=False) as memory:
        await moved(memory)
        before = await history(memory)
    async with connect(target, model=linking(FLAT_CLAIM, HOUSE_CLAIM), learn_in_background=False) as memory:
        space = memory.space("mira")
        done = await space.admin.relearning.propose(dry_run=False)
        after = await history(memory)

        assert {text: (str(entry[0]), entry[4]) for text, entry in after.items()} == {
            "The user lives in a flat.": ("replaced", "The user lives in a house."),
            "The user lives in a house.": ("current", None),
        }
        flat, house = after["The user lives in a flat."], after["The user lives in a house."]
        assert flat[3] == house[1] == datetime(2026, 5, 1, 10, tzinfo=UTC)
        assert flat[1] == datetime(2026, 3, 1, 10, tzinfo=UTC)
        assert done.applied is not None
        assert done.applied.added + done.applied.replaced + done.applied.restated > 0

        await space.admin.relearning.undo(done.id)
        assert await history(memory) == before


async def test_a_link_that_is_not_learned_again_is_removed_and_restored(target: str) -> None:
    async with connect(target, model=linking(FLAT_CLAIM, HOUSE_CLAIM), learn_in_background=False) as memory:
        await moved(memory)
        before = await history(memory)
    async with connect(target, model=model(FLAT_CLAIM, HOUSE_CLAIM), learn_in_background=False) as memory:
        space = memory.space("mira")
        done = await space.admin.relearning.propose(dry_run=False)
        assert [str(entry[0]) for entry in (await history(memory)).values()] == ["current", "current"]
        assert done.applied == RelearningCounts(restated=1)

        await space.admin.relearning.undo(done.id)
        assert await history(memory) == before


async def test_settled_claims_are_listed_and_never_applied(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
        space = memory.space("mira")
        home, wish, dog = sorted(await space.facts.list(), key=lambda fact: ("dog" in fact.text, "one" in fact.text))
        await space.correct(home.ref, "The user lives in Asker.")
        feedback = await space.facts.rate(wish.ref, "wrong")
        await space.reviews.reject(feedback.review_id or "")
        corrected_at = (await space.facts.get(home.id)).recorded_at

        for _ in range(2):
            found = await space.admin.relearning.propose()
            assert [(item.claim.fact.text, str(item.decision.kind)) for item in found.settled] == [
                ("The user lives in Bergen.", "corrected"), ("The user wants one sentence.", "rejected"),
            ]  # fmt: skip
            first, second = (item.decision for item in found.settled)
            assert (first.actor, first.decided_at, first.fact_id) == ("user", corrected_at, home.id)
            assert first.text == "The user lives in Asker."
            assert (second.actor, second.fact_id) == ("user", None)
            assert (found.new, found.removed, found.changed, found.same) == ((), (), (), 1)
            done = await space.admin.relearning.apply(found.id)
            assert done.applied == RelearningCounts()
            assert await contents(memory) == [dog.text, "The user lives in Asker."]


async def test_an_approved_fact_is_not_part_of_relearning(target: str) -> None:
    async with connect(target, model=model(*FIRST), learn_in_background=False) as memory:
        await told(memory)
        [home] = [fact for fact in await memory.space("mira").facts.list() if "Bergen" in fact.text]
        await memory.space("mira").correct(home.ref, home.text)
    async with connect(target, model=model(), learn_in_background=False) as memory:
        await memory.space("mira").admin.relearning.propose(dry_run=False)
        assert await contents(memory) == [home.text]


async def test_undo_refuses_if_a_later_statement_changed_what_was_added(target: str) -> None:
    async with connect(target, model=model(), learn_in_background=False) as memory:
        await moved(memory)
    async with connect(target, model=linking(FLAT_CLAIM), learn_in_background=False) as memory:
        done = await memory.space("mira").admin.relearning.propose(dry_run=False)
    async with connect(target, model=linking(FLAT_CLAIM, HOUSE_CLAIM), learn_in_background=False) as memory:
        session = await memory.space("mira").session("later")
        await session.append([Message(role="user", content="As I said: I live in my own house.")])
        await session.end()
        await memory.learn()
        assert await contents(memory) == ["The user lives in a house."]

        with pytest.raises(VersionConflictError):
            await memory.space("mira").admin.relearning.undo(done.id)
