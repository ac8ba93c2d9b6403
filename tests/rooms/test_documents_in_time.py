"""Documents have what is current and only that, whenever it was learned, and never what a person asked to forget."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import bethink
from bethink.api.connect import connect
from bethink.model.calls import ModelCall
from bethink.model.documents import DocumentDraft
from bethink.providers.scripted_model import ScriptedModel
from tests.conftest import whole_tree
from tests.truth.runs import SPACE, Clock, learn, open_memory, store
from tests.truth.scenario_kit import claim, talk
from tests.truth.script import Talk, moment

MEMORY = "~/memory/consolidated/MEMORY.md"


def _named(*talks: Talk) -> list[Talk]:
    return [Talk(f"t{number}", item.lines, item.claims) for number, item in enumerate(talks, 1)]


async def _take(memory: bethink.Memory, clock: Clock, *talks: Talk) -> bethink.Space:
    space = memory.space(SPACE)
    for item in talks:
        clock.set(item.ends_at + timedelta(hours=1))
        await store(space, item)
        await learn(memory)
    return space


async def _all_text(space: bethink.Space) -> str:
    """Return everything that the documents show: texts, versions, proposals, files and blame."""
    tree = await whole_tree(space.documents)
    versions = [version for entry in tree.values() for version in await space.documents.versions(entry.id)]
    blamed = [await space.documents.blame(entry.id) for entry in tree.values()]
    found = await space.documents.search("Valentin Osman locker tailor", limit=9)
    return f"{[item.body for item in versions]} {blamed} {found} {await space.documents.read_all()}"


async def _run(memory: bethink.Memory, space: bethink.Space) -> str:
    """Consolidate, and return the overview."""
    await space.documents.refresh()
    await learn(memory)
    document = await space.documents.find(MEMORY)
    return "" if document is None else document.body


async def test_saved_facts_are_written_without_a_session(target: str) -> None:
    async with connect(target, embedder="none", learn_in_background=False) as memory:
        space = memory.space(SPACE)
        said = datetime(2026, 3, 2, tzinfo=UTC)
        await space.facts.save(bethink.Fact(id="a", text="Owner keeps bees", created_at=said))
        body = await _run(memory, space)
        assert "Owner keeps bees" in body
        for entry in (await whole_tree(space.documents)).values():
            sources = await space.documents.sources(entry.id, entry.version)
            assert sources or entry.author.id == "memory", entry.title


async def test_a_model_is_shown_facts_without_a_session(target: str) -> None:
    prompts: list[str] = []

    def answer(call: ModelCall) -> str:
        prompts.append(call.prompt)
        return '{"calls": [], "done": true}'

    model = ScriptedModel(answer)
    async with connect(target, model=model, embedder="none", learn_in_background=False) as memory:
        space = memory.space(SPACE)
        await space.facts.save(bethink.Fact(id="a", text="Owner keeps bees"))
        assert "Owner keeps bees" in await _run(memory, space)
        assert "Owner keeps bees" in prompts[0]


async def test_unused_facts_stay_in_the_documents(target: str) -> None:
    """A year without use removes the session from the overview, not what is still true."""
    talks = _named(talk("2026-01-05", "My tailor is Herr Grabner.", a=claim("The tailor is Herr Grabner")))
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await _take(memory, clock, *talks)
        assert "Herr Grabner" in await _run(memory, space)
        clock.set(moment("2027-01-05"))
        body = await _run(memory, space)
        assert "Herr Grabner" in body
        assert "## Sessions" not in body


async def test_ended_and_corrected_facts_leave_the_documents(target: str) -> None:
    talks = _named(
        talk("2026-01-05", "I live in Namur.", a=claim("Owner lives in Namur", slot="home")),
        talk("2026-01-06", "The rent is 1,240.", b=claim("The rent is 1,240", slot="rent")),
        talk("2026-02-05", "I moved to Oslo.", c=claim("Owner lives in Oslo", slot="home", replaces="a")),
        talk("2026-02-06", "The rent was always 1,420.", d=claim("The rent is 1,420", slot="rent", corrects="b")),
    )
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await _take(memory, clock, *talks)
        body = await _run(memory, space)
        assert [text for text in ("Namur", "1,240") if text in body] == []
        assert [text for text in ("Oslo", "1,420") if text not in body] == []


async def test_doubtful_facts_are_marked(target: str) -> None:
    talks = _named(
        talk("2026-01-05", "I live in Namur.", a=claim("Owner lives in Namur", slot="home")),
        talk("2026-01-06", "My commute is 20 minutes.", b=claim("The commute takes 20 minutes", rests_on="a")),
        talk("2026-02-05", "I moved to Oslo.", c=claim("Owner lives in Oslo", slot="home", replaces="a")),
    )
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await _take(memory, clock, *talks)
        body = await _run(memory, space)
        [line] = [line for line in body.splitlines() if "20 minutes" in line]
        [home] = [fact for fact in await space.facts.list() if "Oslo" in fact.text]
        assert f"in doubt because of {home.id}" in line


async def test_documents_of_a_day_do_not_know_what_followed(target: str) -> None:
    """Neither a later version, nor that there is one, nor when it was written."""
    talks = _named(
        talk("2026-01-05", "I live in Namur.", a=claim("Owner lives in Namur", slot="home")),
        talk("2026-02-05", "I moved to Oslo.", c=claim("Owner lives in Oslo", slot="home", replaces="a")),
    )
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await _take(memory, clock, talks[0])
        await _run(memory, space)
        await _take(memory, clock, talks[1])
        await _run(memory, space)
        views: tuple[dict[str, Any], ...] = ({"as_of": "2026-01-20"}, {"known_at": "2026-01-20"})
        for view in views:
            before = await space.documents.find(MEMORY, **view)
            assert before is not None
            assert ("Namur" in before.body, "Oslo" in before.body) == (True, False)
            entries = await space.documents.list(**view)
            assert [item.valid_to for item in (before, *entries)] == [None] * (1 + len(list(entries)))
            lineage = await space.explain(before.ref, **view)
            assert (lineage.replaced_by, [item.until for item in lineage.versions]) == (None, [None])
            assert "Oslo" not in f"{lineage}"
            assert "Oslo" not in f"{await space.documents.search('live Oslo', limit=9, **view)}"


FORGET = (
    ("My ex is called Valentin.", "The ex is called Valentin", "Please erase my ex from your memory.", "Valentin"),
    ("My neighbor Osman works at night.", "Osman works at night", "Forget everything about Osman.", "Osman"),
    ("My locker number is 417.", "The locker number is 417", "Delete my locker number from your memory.", "417"),
)


@pytest.mark.parametrize(("said", "fact", "request_text", "word"), FORGET)
async def test_hidden_words_leave_the_documents_at_once(
    target: str, said: str, fact: str, request_text: str, word: str
) -> None:
    """Before the next consolidation their lines are left out, and it writes every document again without them."""
    talks = _named(
        talk("2026-01-05", said, a=claim(fact)),
        talk("2026-01-06", "I keep bees.", b=claim("Owner keeps bees")),
        talk("2026-02-05", request_text),
    )
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await _take(memory, clock, *talks[:2])
        assert word in await _run(memory, space)
        clock.set(talks[2].ends_at + timedelta(hours=1))
        await store(space, talks[2])
        await memory.learn(kinds=("extract",))

        assert word not in await _all_text(space)
        assert word not in f"{(await space.context()).text} {(await space.recall(said)).items}"
        body = await _run(memory, space)
        assert word not in body
        assert "Owner keeps bees" in body
        assert word not in await _all_text(space)


async def test_a_request_queues_a_consolidation(target: str) -> None:
    """Without a model too, where a page is named after the person."""
    clock = Clock(moment("2026-01-05"))
    async with connect(target, clock=clock, embedder="none", learn_in_background=False) as memory:
        space = memory.space(SPACE)
        talks = _named(
            talk("2026-01-05", "My neighbor Osman works at night."),
            talk("2026-02-05", "Forget everything about Osman."),
        )  # fmt: skip
        fact = bethink.Fact(id="a", text="Osman works at night", subject="Osman", created_at=moment("2026-01-05"))
        await space.facts.save(fact)
        await _take(memory, clock, talks[0])
        await _run(memory, space)
        assert "~/memory/osman" in await whole_tree(space.documents)
        await _take(memory, clock, talks[1])
        assert "~/memory/osman" not in await whole_tree(space.documents)
        assert await space.facts.list() == []


async def test_what_a_person_wrote_by_hand_stays(target: str) -> None:
    talks = _named(
        talk("2026-01-05", "My neighbor Osman works at night."), talk("2026-02-05", "Forget everything about Osman.")
    )  # fmt: skip
    clock = Clock(talks[0].begins_at)
    async with open_memory(target, talks, clock) as memory:
        space = await _take(memory, clock, talks[0])
        own = await space.documents.create(
            DocumentDraft(slug="people", title="People", body="Osman is asleep by day.")
        )  # fmt: skip
        await _take(memory, clock, talks[1])
        assert (await space.documents.get(own.id)).body == "Osman is asleep by day."
