"""Defects that first users met: what a person corrected comes back, what ended is listed, a late fact is not used."""

import json
import re
from datetime import timedelta

import pytest

from bethink import Memory, Space
from bethink.api.connect import connect
from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import ScriptedModel
from tests.truth.runs import SPACE, Clock, learn, open_memory, store
from tests.truth.scenario_kit import claim, talk
from tests.truth.script import ScriptedReader, Talk, moment


def named(*talks: Talk) -> list[Talk]:
    """Return talks with names of their own."""
    return [Talk(f"t{number}", item.lines, item.claims) for number, item in enumerate(talks, 1)]


async def take(memory: Memory, clock: Clock, *talks: Talk) -> Space:
    """Store talks, learn after each, and return the space."""
    space = memory.space(SPACE)
    for item in talks:
        clock.set(item.ends_at + timedelta(hours=1))
        await store(space, item)
        await learn(memory)
    return space


async def test_relearning_keeps_a_correction(target: str) -> None:
    """The corrected claim does not come back, in the proposal, in the list or in recall."""
    talks = named(talk("2026-10-01", "My tailor is Herr Grabner.", a=claim("The tailor is Herr Grabner")))
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await take(memory, clock, *talks)
        [fact] = await space.facts.list()
        await space.correct(fact.ref, "The tailor is Herr Grabherr")
        proposal = await space.admin.relearning.propose()
        assert (proposal.new, proposal.changed, proposal.removed) == ((), (), ())
        await space.admin.relearning.apply(proposal.id)

        assert [item.text for item in await space.facts.list()] == ["The tailor is Herr Grabherr"]
        matches = await space.recall("Who is my tailor?")
        assert matches[0].text == "The tailor is Herr Grabherr"
        unmarked = [match for match in matches if match.status in (None, "current") and match.replaced_by is None]
        assert [match.text for match in unmarked if match.text.rstrip(".").endswith("Grabner")] == []


async def test_late_learned_facts_reach_the_documents(target: str) -> None:
    """What was stored before there was a model is consolidated once it has been learned."""
    talks = named(
        talk("2026-10-01", "I rent in Lillehammer.", a=claim("Owner rents in Lillehammer")),
        talk("2026-10-02", "I keep bees.", b=claim("Owner keeps bees")),
    )
    clock, prompts = Clock(talks[0].begins_at), list[str]()
    reader = ScriptedReader(talks)

    def answer(call: ModelCall) -> str:
        if call.schema_name == "document_calls":
            prompts.append(call.prompt)
        return reader(call)

    async with connect(target, clock=clock, embedder="none", learn_in_background=False) as memory:
        await take(memory, clock, *talks)
    model = ScriptedModel(answer)
    async with connect(target, model=model, clock=clock, embedder="none", learn_in_background=False) as memory:
        await learn(memory)
        await memory.space(SPACE).documents.refresh()
        await learn(memory)
    assert [text for text in ("Owner keeps bees", "Owner rents in Lillehammer") if text not in prompts[0]] == []


async def test_facts_that_ended_are_not_listed(target: str) -> None:
    """A fact that was learned after what replaced it ends where that begins, which was said for a later day."""
    talks = named(
        talk("2026-10-20", "We get our oats from Rasmus from 26 October on.",
             b=claim("Oats come from Rasmus", about="bakery", slot="oats", since="2026-10-26")),
        talk("2026-10-05", "We get our oats from Kilian.",
             a=claim("Oats come from Kilian", about="bakery", slot="oats")),
    )  # fmt: skip
    clock = Clock(moment("2026-10-19"))
    async with open_memory(target, talks, clock) as memory:
        space = await take(memory, clock, *talks)
        before = {fact.text: str(fact.status) for fact in await space.facts.list()}
        assert before == {"Oats come from Kilian": "current", "Oats come from Rasmus": "upcoming"}
        clock.set(moment("2026-11-02"))

        assert [fact.text for fact in await space.facts.list()] == ["Oats come from Rasmus"]
        entries = {entry.fact.text: entry.fact for entry in await space.facts.history()}
        old = entries["Oats come from Kilian"]
        assert str(old.status) == "replaced"
        assert (str(old.valid_from or old.created_at)[:10], str(old.valid_to)[:10]) == ("2026-10-05", "2026-10-26")
        [version] = (await space.explain(old.ref)).versions
        assert str(version.until)[:10] == "2026-10-26"


@pytest.mark.parametrize("claimed", [True, False])
async def test_a_correction_in_the_next_sentence_comes_first(target: str, claimed: bool) -> None:
    """The message that was corrected is marked or left out, whether or not a model claimed the wrong value as well."""
    lines = ("My long run yesterday was 24 km in 2:20.", "Sorry, typo: it was 22 km, not 24.")
    wrong = claim("Owner ran 24 km on 2026-10-24", "My long run yesterday was 24 km in 2:20", slot="run")
    text, quote = "Owner ran 22 km on 2026-10-24", "it was 22 km, not 24"
    if claimed:
        item = talk("2026-10-25", *lines, a=wrong, b=claim(text, quote, slot="run", corrects="a"))
    else:
        item = talk("2026-10-25", *lines, b=claim(text, quote, slot="run"))
    talks = named(item)
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await take(memory, clock, *talks)
        matches = await space.recall("How far was my last long run?")
        assert "22 km" in matches[0].text
        wrong_lines = [match for match in matches if "24 km" in match.text]
        assert [match for match in wrong_lines if match.status is None and match.replaced_by is None] == []


ASKS = (
    ("The team lead is Runa Foss.", "Teodor Blix is our new team lead."),
    ("The team lead is Runa Foss.", "Teodor Blix is our new team lead. Any tips or things to watch out for?"),
    ("The team lead is Runa Foss. Any tips?", "Teodor Blix is our new team lead."),
    ("I live in Namur.", "I live in Teodorsund now. Any tips?"),
    ("I live in Namur.", "I live in Teodorsund now."),
)


@pytest.mark.parametrize(("before", "after"), ASKS)
async def test_a_statement_that_ends_in_a_question_is_found_first(target: str, before: str, after: str) -> None:
    """Without a model as well: a message that states something and then asks is a statement."""
    async with connect(target, embedder="none", learn_in_background=False) as memory:
        space = memory.space(SPACE)
        for text in (before, after):
            await space.remember(text)
        matches = await space.recall("Who is the team lead?" if "lead" in before else "Where do I live?")
        assert matches[0].text == after, [match.text for match in matches]


async def test_an_order_to_the_assistant_is_no_answer(target: str) -> None:
    async with connect(target, embedder="none", learn_in_background=False) as memory:
        space = memory.space(SPACE)
        await space.remember("The rain barrel holds 200 liters.")
        await space.remember("Write a haiku about the rain barrel.")
        matches = await space.recall("What about the rain barrel?")
        assert re.search("200 liters", matches[0].text)
        assert json.dumps([match.text for match in matches]).count("haiku") <= 1
