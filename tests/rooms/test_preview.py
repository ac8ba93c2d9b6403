"""Preview on a transcript: accepted, pending and refused claims with their cost, and nothing stored."""

import json
import re

import pytest

import bethink
from bethink.api.connect import connect
from bethink.errors import ConflictError, InvalidRequestError
from bethink.model.calls import ModelCall
from bethink.model.facts import Evidence, Fact
from bethink.model.kinds import FactKind
from bethink.model.records import Origin
from bethink.providers.scripted_model import ScriptedModel
from tests.rooms.review_kit import claim
from tests.rooms.stored_kit import tables

SAID = "I live in Oslo. Keep it short. I have asthma. My sister may move to Rome. I sold the boat."
COUNTED = {"spending", "model_spending"}
"""What a preview adds to: the costs of the day, which are no one's words."""


def scripted(*found: dict[str, object], calls: list[ModelCall] | None = None) -> ScriptedModel:
    """A model that claims this, and finds in its second reading that nothing about Rome was said."""

    def answer(call: ModelCall) -> str:
        if calls is not None:
            calls.append(call)
        if call.schema_name == "verdicts":
            named = re.findall(r"^(c\d+) about .*", call.prompt, re.MULTILINE)
            doubted = re.findall(r"^(c\d+) about .*Rome", call.prompt, re.MULTILINE)
            others = [{"claim": each, "verdict": "quoted_or_supposed", "text": "only perhaps"} for each in doubted]
            return json.dumps({"said": [each for each in named if each not in doubted], "others": others})
        return json.dumps({"claims": list(found), "suspicious": [], "title": None})

    return ScriptedModel(answer)


CLAIMS: tuple[dict[str, object], ...] = (
    claim("The owner lives in Oslo.", "I live in Oslo", slot="home_town"),
    claim("The owner wants short answers.", "Keep it short", kind="preference"),
    claim("The owner has asthma.", "I have asthma", review="doubtful"),
    claim("The owner's sister moves to Rome.", "My sister may move to Rome", about="sister"),
    claim("The owner is a pilot.", "I am a pilot"),
    claim("The owner sold the boat.", "I sold the boat", kind="note"),
    {"statement": "No quotes at all.", "kind": "detail"},
)


async def test_preview_lists_accepted_pending_and_refused_claims(target: str) -> None:
    async with connect(target, model=scripted(*CLAIMS), learn_in_background=False) as memory:
        found = await memory.space("alice").admin.rules.preview(SAID)

    assert [each.claim.fact.text for each in found.accepted] == [
        "The owner lives in Oslo.", "The owner wants short answers.",
    ]  # fmt: skip
    assert [each.settlement for each in found.accepted] == ["added", "added"]
    assert {each.claim.fact.evidence for each in found.accepted} == {Evidence.CONFIRMED}
    assert [(each.claim.fact.text, each.reason) for each in found.pending] == [
        ("The owner has asthma.", "flagged"), ("The owner's sister moves to Rome.", "quoted_or_supposed"),
    ]  # fmt: skip
    assert [(each.claim.fact.text, each.reason) for each in found.rejected] == [("The owner is a pilot.", "no_quote")]
    assert found.notes == ("The owner sold the boat.",)
    assert found.malformed == 1
    assert [(quote.session_id, quote.number) for quote in found.accepted[0].claim.quotes] == [("", 1)]
    assert found.usage.calls == 3, "claims, once more for the quote that is missing, and the second reading"
    assert found.usage.cost > 0


async def test_a_preview_stores_nothing_at_all_but_its_cost(target: str, superuser_dsn: str) -> None:
    async with connect(target, model=scripted(*CLAIMS), learn_in_background=False) as memory:
        alice = memory.space("alice")
        await alice.remember("I live in Bergen.")
        await memory.learn()
        before = tables(target, superuser_dsn)
        spent = (await memory.admin.audit()).spent_today
        found = await alice.admin.rules.preview([{"role": "user", "content": SAID}] * 3)
        assert found.accepted
        after = tables(target, superuser_dsn)
        changed = {name for name in before if before[name] != after[name]}
        assert changed == {*COUNTED, "access_log"}  # and who asked for it
        assert (await memory.admin.audit()).spent_today == spent + found.usage
        await memory.space("nobody").admin.rules.preview(SAID)
        assert "nobody" not in [space.name for space in await memory.spaces.list()]


async def test_a_preview_knows_what_memory_knows_of_this_space_alone(target: str) -> None:
    calls: list[ModelCall] = []
    moved = claim("The owner lives in Oslo.", "I live in Oslo", slot="home_town", op="replaces", known=["f1"])
    async with connect(target, model=scripted(moved, calls=calls), learn_in_background=False) as memory:
        user = Origin("user")
        bergen = Fact(id="f-bergen", text="The owner lives in Bergen.", subject="user", slot="home_town", origin=user)
        await memory.space("alice").facts.save(bergen)
        await memory.space("bob").facts.save(Fact(id="f-secret", text="Bob lives in a castle in Oslo."))
        found = await memory.space("alice").admin.rules.preview(SAID)
        assert "lives in Bergen" in calls[0].prompt
        assert "castle" not in calls[0].prompt
        assert [(each.settlement, each.claim.existing_ids) for each in found.accepted] == [("succeeded", ("f-bergen",))]
        assert (await memory.space("alice").facts.get("f-bergen")).replaced_at is None


async def test_a_preview_follows_the_rules_that_are_set_or_those_to_try(target: str) -> None:
    calls: list[ModelCall] = []
    async with connect(target, model=scripted(*CLAIMS, calls=calls), learn_in_background=False) as memory:
        alice = memory.space("alice")
        await alice.admin.rules.set(
            bethink.LearningRules(review_kinds=(FactKind.PREFERENCE,), instructions="Of the space.")
        )
        assert {each.reason for each in (await alice.admin.rules.preview(SAID)).pending} >= {"review_kind"}
        assert "Of the space." in calls[0].prompt
        calls.clear()
        tried = await alice.admin.rules.preview(
            SAID, rules=bethink.LearningRules(instructions="To try.", review_flags=())
        )
        assert "The owner has asthma." in [each.claim.fact.text for each in tried.accepted]
        assert "To try." in calls[0].prompt
        assert "Of the space." not in calls[0].prompt
        assert (await alice.admin.rules.get()).instructions == "Of the space."


async def test_a_preview_sends_no_secret_to_a_model(target: str) -> None:
    calls: list[ModelCall] = []
    async with connect(target, model=scripted(calls=calls), learn_in_background=False) as memory:
        secret = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        await memory.space("alice").admin.rules.preview(
            f"My key is {secret}.", rules=bethink.LearningRules(instructions=secret)
        )
        assert secret not in calls[0].prompt


async def test_a_long_transcript_is_looked_at_in_parts_and_every_message_once(target: str) -> None:
    calls: list[ModelCall] = []
    model = scripted(calls=calls)
    model.window = 4_000
    async with connect(target, model=model, learn_in_background=False) as memory:
        talk = [{"role": "user", "content": f"Sentence {number} about tea. " * 20} for number in range(40)]
        await memory.space("alice").admin.rules.preview(talk)
    asked = [call.prompt.partition("New:")[2] for call in calls]
    assert len(asked) > 2
    numbers = [int(number) for part in asked for number in re.findall(r"^\[(\d+)\]", part, re.MULTILINE)]
    assert numbers == list(range(1, 41))


async def test_a_preview_needs_a_model_and_money(target: str) -> None:
    async with connect(target, learn_in_background=False) as memory:
        with pytest.raises(InvalidRequestError, match="No model"):
            await memory.space("alice").admin.rules.preview(SAID)
    async with connect(target, model=scripted(*CLAIMS), learn_in_background=False, daily_budget=0.0) as memory:
        with pytest.raises(ConflictError, match="daily budget"):
            await memory.space("alice").admin.rules.preview(SAID)
