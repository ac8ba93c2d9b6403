"""People are found by speaker, name and entity in every visible space, and deleted with receipts."""

import json
from datetime import datetime

import pytest

import bethink
from bethink.errors import InvalidRequestError
from bethink.features.people.records import PersonMatchKind
from bethink.memory.deletion.plan import Step
from bethink.memory.deletion.replay import find_covered
from bethink.model.access import Caller, Interface, KeyInfo, Scope, calling_as
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Fact
from bethink.model.moments import from_micros
from bethink.model.recall import FactVerdict
from bethink.model.records import Message, Origin
from bethink.model.working import Event, Mode
from bethink.store import people
from bethink.store.db import Database, Tx
from tests.conftest import KEY, said
from tests.rooms.stored_kit import stored


async def furnished(memory: bethink.Memory) -> bethink.Session:
    """A team that speaks of Kari and of others, and one that does not."""
    team = memory.space("team")
    session = await team.session(KEY)
    await session.append(
        [
            Message(role="user", name="Kari Moe", content="I am allergic to nuts."),
            Message(role="user", name="Ole", content="Kari Moe should not eat these."),
            Message(role="user", name="Ole", content="I bought karikatures at Moen."),
            Message(role="assistant", content="Noted.", tool_calls=[{"id": "c1", "args": {"to": "kari moe"}}]),
        ]
    )
    await team.facts.save(
        Fact(id="f1", text="She is allergic to nuts.", subject="Kari Moe", origin=Origin("user"), entities=("nuts",))
    )
    await team.facts.save(Fact(id="f2", text="They share an office.", entities=("Ole", "kari moe")))
    await team.facts.save(Fact(id="f3", text="Ole likes tea.", subject="Ole"))
    await team.documents.create(DocumentDraft(slug="people", title="People", body="Kari Moe: no nuts."))
    await memory.space("other").remember("Ole likes tea.")
    return session


async def test_person_is_found_by_speaker_words_and_entities(memory: bethink.Memory) -> None:
    session = await furnished(memory)

    found = await memory.admin.people.find("kari moe")

    [team] = found.spaces
    assert (team.space, found.spaces_searched) == ("team", 2)
    assert (team.messages, team.facts, team.documents, team.threads) == (3, 2, 1, 0)
    assert (team.speaker, team.words, team.entities) == (1, 3, 2)
    assert {str(ref) for ref in team.refs} >= {f"message:{session.id}:{number}" for number in (1, 2, 4)}
    assert not any(str(ref) == f"message:{session.id}:3" for ref in team.refs), "a part of another word is no name"
    assert found.matched_by == tuple(PersonMatchKind)
    assert any("pronouns" in each for each in found.limitations)
    assert "nuts" not in json.dumps([str(ref) for ref in team.refs]), "a preview has no texts"


async def test_person_search_uses_only_requested_ways_and_aliases(memory: bethink.Memory) -> None:
    await furnished(memory)

    speaker = (await memory.admin.people.find("Kari Moe", match=[PersonMatchKind.SPEAKER])).spaces[0]
    assert (speaker.messages, speaker.facts, speaker.documents) == (1, 0, 0)
    entities = (await memory.admin.people.find("Kari Moe", match=[PersonMatchKind.ENTITIES])).spaces[0]
    assert (entities.messages, entities.facts) == (0, 2)
    assert (await memory.admin.people.find("K. M.")).spaces == ()
    assert (await memory.admin.people.find("K. M.", aliases=["Kari Moe"])).spaces[0].messages == 3
    for wrong in ("!", ""):
        with pytest.raises(InvalidRequestError):
            await memory.admin.people.find(wrong)
    with pytest.raises(InvalidRequestError):
        await memory.admin.people.find("Kari", match=["magic"])  # pyright: ignore[reportArgumentType]


async def test_an_export_has_the_texts_page_by_page(memory: bethink.Memory) -> None:
    await furnished(memory)
    await memory.space("zoo").remember(said("Kari Moe feeds the seals.", "Kari Moe is late."))

    whole = (await memory.admin.people.export("Kari Moe", limit=100)).items
    pages: list[object] = []
    after = ""
    while True:
        page = await memory.admin.people.export("Kari Moe", limit=2, after=after)
        pages += page.items
        if not page.next:
            break
        after = page.next

    assert tuple(pages) == whole
    assert [each.space for each in whole] == ["team"] * 6 + ["zoo"] * 2
    assert {each.text for each in whole} >= {"I am allergic to nuts.", "Kari Moe feeds the seals."}
    assert "Ole likes tea." not in {each.text for each in whole}
    assert whole[0].speaker == "Kari Moe"
    assert whole[0].matched_by == (PersonMatchKind.SPEAKER,)


async def test_a_person_is_forgotten_with_one_receipt_for_each_space(
    memory: bethink.Memory, target: str, superuser_dsn: str
) -> None:
    session = await furnished(memory)
    await memory.space("zoo").remember("Kari Moe feeds the seals.")
    would = await memory.admin.people.forget("Kari Moe", dry_run=True)
    assert [(each.space, each.deletion.messages) for each in would.spaces] == [("team", 3), ("zoo", 1)]
    assert len((await memory.admin.people.find("Kari Moe")).spaces) == 2, "a dry run removes nothing"

    done = await memory.admin.people.forget("Kari Moe", reason="request 12")

    assert [(each.space, each.deletion.messages, each.deletion.facts) for each in done.spaces] == [
        ("team", 3, 2),
        ("zoo", 1, 0),
    ]
    for each in done.spaces:
        receipt = json.loads(each.deletion.receipt)["receipt"]
        assert (receipt["space"], receipt["reason"]) == (each.space, "request 12")
        assert "Kari" not in each.deletion.receipt
    assert (await memory.admin.people.find("Kari Moe")).spaces == ()
    assert [each.message.content for each in await session.messages()] == ["I bought karikatures at Moen."]
    assert [each.id for each in await memory.space("team").facts.list()] == ["f3"]
    assert len(await (await memory.space("other").session("notes")).messages()) == 1
    assert await memory.space("other").admin.erasures.list() == []
    for text in ("allergic", "seals", "no nuts"):
        assert text not in stored(target, superuser_dsn)
    assert any("nicknames" in each for each in done.limitations)
    assert (await memory.admin.people.forget("Kari Moe")).spaces == ()


async def test_a_key_of_some_spaces_reaches_no_person_of_another(memory: bethink.Memory) -> None:
    await furnished(memory)
    await memory.space("zoo").remember("Kari Moe feeds the seals.")
    key = KeyInfo(
        prefix="000000000000", name="zoo", scopes=frozenset({Scope.READ, Scope.ERASE}), spaces=frozenset({"zoo"}),
        created_at=from_micros(0),
    )  # fmt: skip

    with calling_as(Caller(interface=Interface.HTTP, key=key)):
        assert [each.space for each in (await memory.admin.people.find("Kari Moe")).spaces] == ["zoo"]
        assert {each.space for each in (await memory.admin.people.export("Kari Moe")).items} == {"zoo"}
        done = await memory.admin.people.forget("Kari Moe")

    assert [each.space for each in done.spaces] == ["zoo"]
    assert [each.space for each in (await memory.admin.people.find("Kari Moe")).spaces] == ["team"]
    assert (await memory.space("zoo").admin.erasures.list())[0].key_prefix == "000000000000"


async def test_person_data_under_a_legal_hold_is_named_and_stays(memory: bethink.Memory) -> None:
    await furnished(memory)
    await memory.space("zoo").remember("Kari Moe feeds the seals.")
    await memory.space("team").admin.holds.place("case 12")
    await memory.space("other").admin.holds.place("case 13")

    done = await memory.admin.people.forget("Kari Moe")

    assert [(each.space, each.deletion.messages) for each in done.spaces] == [("team", 0), ("zoo", 1)]
    assert "case 12" in done.spaces[0].refused
    assert [each.space for each in (await memory.admin.people.find("Kari Moe")).spaces] == ["team"]


async def test_person_data_in_threads_is_found_and_deleted(memory: bethink.Memory) -> None:
    desk = memory.backend.local().working("team")
    thread = await desk.open_thread(mode=Mode.AUTO)
    await desk.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": "Call Kåri Moe."}))
    await memory.space("team").remember("hello")

    found = await memory.admin.people.find("Kari Moe")
    assert (found.spaces[0].threads, found.spaces[0].thread_ids) == (1, (thread.id,))
    done = await memory.admin.people.forget("Kari Moe")

    assert done.spaces[0].deletion.threads == 1
    assert (await memory.admin.people.find("Kari Moe")).spaces == ()


async def test_person_name_on_its_own_line_is_found_in_json(
    memory: bethink.Memory, target: str, superuser_dsn: str
) -> None:
    space, lines = memory.space("team"), "Visitors:\nJosé Quist\n\tOle"
    call = {"id": "c1", "function": {"name": "mail", "arguments": json.dumps({"body": lines})}}
    await space.remember("hello", metadata={"note": lines})
    await space.remember([Message(role="assistant", content="sent", tool_calls=[call])])
    await space.remember([Message(role="tool", content=json.dumps({"found": lines}), tool_call_id="c1")])
    await space.facts.save(Fact(id="f1", text="Somebody came.", metadata={"note": lines}))
    await space.documents.create(DocumentDraft(slug="day", title="Day", body="Busy.", metadata={"note": lines}))
    desk = memory.backend.local().working("team")
    thread = await desk.open_thread(mode=Mode.AUTO)
    await desk.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": lines}))

    [found] = (await memory.admin.people.find("Jose Quist")).spaces
    assert (found.messages, found.facts, found.documents, found.threads) == (3, 1, 1, 1)

    await memory.admin.people.forget("Jose Quist")
    assert (await memory.admin.people.find("Jose Quist")).spaces == ()
    assert "Quist" not in stored(target, superuser_dsn)


async def spoken_of(memory: bethink.Memory) -> bethink.Session:
    """Kari, where only a claim under review, a summary, a session's labels and a note of feedback name her."""
    space = memory.space("team")
    kept = await space.remember("He is ill.", conversation="c")
    await space.reviews.propose(kept.refs[0], text="Kari Moe is ill.")
    await memory.backend.local().history("team").set_summary("c", "They spoke of:\nKari Moe")
    await space.session("tagged", tags=["kari-moe"])
    session = await space.session("labelled", metadata={"customer": {"name": "Kari\nMoe"}})
    await space.facts.save(Fact(id="f1", text="Tea is at four."))
    await space.facts.rate("fact:f1:1", FactVerdict.USEFUL, note="Kari Moe says five.")
    return session


async def test_person_data_in_summaries_and_labels_is_deleted(
    memory: bethink.Memory, target: str, superuser_dsn: str
) -> None:
    session = await spoken_of(memory)
    space = memory.space("team")

    answer = await memory.admin.people.find("Kari Moe")
    assert any("memory tests" in each for each in answer.limitations), "what it does not look in is named"
    [found] = answer.spaces
    assert (found.total, found.others, found.words) == (5, 5, 5)
    kinds = [each.partition(":")[0] for each in found.other_ids]
    assert sorted(kinds) == ["feedback", "labels", "labels", "review", "summary"]
    assert f"labels:{session.id}" in found.other_ids
    texts = [each.text for each in (await memory.admin.people.export("Kari Moe")).items]
    assert "Kari Moe says five." in texts
    assert any("Kari Moe is ill." in each for each in texts)

    [done] = (await memory.admin.people.forget("Kari Moe")).spaces

    assert (done.deletion.others, done.deletion.messages, done.deletion.facts) == (5, 0, 0)
    assert json.loads(done.deletion.receipt)["receipt"]["counts"]["others"] == 5
    assert (await memory.admin.people.find("Kari Moe")).spaces == ()
    assert await space.reviews.list() == []
    assert await memory.backend.local().history("team").get_summary("c") == ""
    assert (await space.explain("fact:f1:1")).feedback[0].note is None, "the verdict stays"
    for text in ("kari", "Kari", "says five"):
        assert text not in stored(target, superuser_dsn)


async def test_deleted_person_data_is_deleted_again_when_it_returns(memory: bethink.Memory, database: Database) -> None:
    session = await spoken_of(memory)
    [summary] = [each.id for each in (await memory.admin.people.export("Kari Moe")).items if each.kind == "summary"]
    before = await database.transact(
        lambda tx: (tx.now, tx.first("find_session", space="team", id=session.id)), space="team"
    )
    await memory.admin.people.forget("Kari Moe")

    def come(tx: Tx, at: datetime, metadata: str) -> list[Step]:
        tx.run("set_summary", space="team", conversation=summary, content="Kari Moe", now=at)
        tx.run("label_session", space="team", id=session.id, tags="[]", metadata=metadata)
        return find_covered(tx, space="team")

    assert await database.transact(lambda tx: come(tx, tx.now, '{"customer":"new"}'), space="team") == []
    assert before[1] is not None
    back = str(before[1]["metadata"])
    again = await database.transact(lambda tx: come(tx, before[0], back), space="team")

    assert again == [Step("summary", summary), Step("labels", session.id)]


async def test_tags_slots_and_ids_are_looked_at(memory: bethink.Memory) -> None:
    space = memory.space("team")
    await space.remember("hello", tags=["kari-moe"])
    await space.facts.save(Fact(id="f1", text="Tea.", tags=("Kari Moe",)))
    await space.facts.save(Fact(id="f2", text="Milk.", subject="tea", slot="kari moe"))
    await space.facts.save(Fact(id="Kari Moe", text="Nuts."))
    await space.documents.create(DocumentDraft(slug="day", title="Day", body="Busy.", tags=("kari moe",)))

    [found] = (await memory.admin.people.find("Kari Moe")).spaces

    assert (found.messages, found.facts, found.documents) == (1, 3, 1)
    await memory.admin.people.forget("Kari Moe")
    assert (await memory.admin.people.find("Kari Moe")).spaces == ()


async def test_every_page_of_every_kind_is_read(memory: bethink.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "_PAGE", 2)
    space = memory.space("team")
    for number in range(5):
        await space.remember(said("Kari was here.", "Ole was not."), conversation=f"c{number}")
        kept = await space.remember("Somebody was here.", conversation=f"s{number}")
        await space.reviews.propose(kept.refs[0], text="Kari was here.")
        await memory.backend.local().history("team").set_summary(f"s{number}", "Kari was here.")
        await space.session(f"t{number}", tags=["Kari"])
        await space.facts.save(Fact(id=f"f{number}", text="Kari was here."))
        await space.facts.rate(f"fact:f{number}:1", FactVerdict.USEFUL, note="Kari!")
        await space.correct(f"fact:f{number}:1", "Ole was here.")
        await space.documents.create(DocumentDraft(slug=f"d{number}", title="Day", body="Kari was here."))
        desk = memory.backend.local().working("team")
        thread = await desk.open_thread(mode=Mode.AUTO)
        await desk.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": "Kari!"}))

    found = (await memory.admin.people.find("Kari")).spaces[0]

    assert (found.messages, found.facts, found.documents, found.threads) == (5, 5, 5, 5), "also in old versions"
    assert found.others == 20
    went = (await memory.admin.people.forget("Kari")).spaces[0].deletion
    assert (went.messages, went.others) == (5, 15), "feedback goes with its fact"
    assert (await memory.admin.people.find("Kari")).spaces == ()


async def test_each_space_that_was_looked_at_is_in_the_access_record(
    memory: bethink.Memory, database: Database
) -> None:
    session = await furnished(memory)

    await memory.admin.people.find("Kari Moe")

    entries = [
        each
        for each in (await memory.admin.access.list(limit=100)).items
        if each.operation == "space.admin.people.find"
    ]
    assert {each.space for each in entries} == {"team", "other"}
    named = next(each.refs for each in entries if each.space == "team")
    assert f"message:{session.id}:1-2" in named
    del database
