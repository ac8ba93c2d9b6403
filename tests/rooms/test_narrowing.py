"""Filters run inside the database, and several spaces are searched as one."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest

import bethink
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.model.documents import Author, DocumentDraft, Provenance
from bethink.model.facts import SourceMessage
from bethink.model.operations.memory import RECALL, RecallRequest
from bethink.model.refs import RefKind
from bethink.store.db import Database
from tests.rooms.recall_kit import learnt, texts, user, with_vectors
from tests.rooms.vector_kit import index_all

NONE: set[str] = set()


async def told(memory: bethink.Memory, *, space: str = "alice") -> bethink.Session:
    """A session with a few words on tea, each labelled in another way."""
    session = await memory.space(space).session("desk", tags=["work"], metadata={"project": "samovar"})
    await session.append([
        user("The green tea is on the shelf", name="Ann", tags=["green"], metadata={"rank": 1, "cold": False}),
        user("The black tea is in the tin", name="Bo", metadata={"rank": 2, "project": "kettle"}),
        user("The white tea is in the drawer", tags=["green", "rare"], metadata={"rank": 3.5}),
    ])  # fmt: skip
    return session


@pytest.mark.parametrize(
    ("only", "wanted"),
    [
        ({"tags": ["green"]}, {"green", "white"}),
        ({"tags": ["green", "rare"]}, {"white"}),
        ({"tags": ["work"]}, {"green", "black", "white"}),  # the session has it
        ({"speaker": "Bo"}, {"black"}),
        ({"where": {"rank": {"gte": 2}}}, {"black", "white"}),
        ({"where": {"rank": [1, 3.5], "cold": {"ne": False}}}, {"white"}),
        ({"where": {"project": "samovar"}}, {"green", "white"}),  # the message's own value comes first
        ({"where": {"rank": "1"}}, NONE),
        ({"conversation": "desk", "agent": "assistant"}, {"green", "black", "white"}),
        ({"conversation": "phone"}, NONE),
        ({"since": date(2001, 1, 1), "until": "2001-12-31"}, NONE),
        ({"origin": ["assistant"]}, NONE),
    ],
)
async def test_recall_and_context_find_only_what_they_are_narrowed_to(
    memory: bethink.Memory, only: dict[str, Any], wanted: set[str]
) -> None:
    await told(memory)
    alice = memory.space("alice")

    found = await alice.recall("Where is the tea?", kinds=[RefKind.MESSAGE], **only)
    block = await alice.context("Where is the tea?", **only)

    assert {text.split()[1] for text in texts(found)} == wanted
    assert {item.text.split()[1] for item in block.items} == wanted
    if not wanted:
        assert found.note == "No match by words. The search was filtered. Try fewer filters or other words."


async def test_a_narrow_search_is_not_starved_by_better_matches(memory: bethink.Memory) -> None:
    crowd = [user(f"Tea, tea and tea again, number {number}") for number in range(300)]
    session = await memory.space("alice").session("desk")
    await session.append([*crowd, user("A cup of tea", tags=["rare"])])

    assert texts(await memory.space("alice").recall("tea", limit=1, tags=["rare"])) == ["A cup of tea"]


@pytest.mark.pgvector
async def test_vectors_are_compared_only_within_what_a_search_is_narrowed_to(database: Database) -> None:
    memory = with_vectors(database)
    session = await memory.space("alice").session("desk")
    crowd = [user(f"oolong oolong oolong {number}") for number in range(50)]
    await session.append([*crowd, user("oolong pot", tags=["rare"], metadata={"rank": 7})])
    await index_all(database)

    found = await memory.space("alice").recall("oolong", limit=3, where={"rank": {"gt": 6}}, explain=True)

    assert texts(found) == ["oolong pot"]
    assert {str(each.ref) for each in found.candidates} == {f"message:{session.id}:51"}
    assert found.candidates[0].signals["vector"].raw > 0


async def test_fact_matches_by_the_labels_of_its_source_messages(memory: bethink.Memory, database: Database) -> None:
    session = await told(memory)
    await learnt(database, "fct_1", "Ann has green tea", SourceMessage(session.id, 1))
    await learnt(database, "fct_2", "Bo has black tea", SourceMessage(session.id, 2), metadata={"rank": 9})
    facts = memory.space("alice").facts

    assert [fact.id for fact in await facts.list(where={"rank": 1})] == ["fct_1"]
    assert [fact.id for fact in await facts.list(where={"rank": 2})] == []  # it has a rank of its own
    assert [fact.id for fact in await facts.list(where={"project": "kettle"})] == ["fct_2"]
    assert [fact.id for fact in await facts.list(tags=["green"])] == ["fct_1"]
    assert [fact.id for fact in await facts.list(speaker="Bo")] == ["fct_2"]
    assert [fact.id for fact in await facts.search("tea", tags=["work"], limit=1)] != []
    assert [fact.id for fact in await facts.list(tags=["work"], limit=1, after="fct_1")] == ["fct_2"]


async def test_sessions_and_their_messages_can_be_narrowed(memory: bethink.Memory) -> None:
    session = await told(memory)
    other = await memory.space("alice").session("phone", agent="coach")
    alice = memory.space("alice")

    assert [entry.session.id for entry in await alice.sessions.list(tags=["work"])] == [session.id]
    assert [entry.session.id for entry in await alice.sessions.list(agent="coach")] == [other.id]
    assert [entry.session.id for entry in await alice.sessions.list(where={"project": {"contains": "mov"}})] == [
        session.id
    ]
    assert [record.number for record in await session.messages(tags=["green"])] == [1, 3]
    following = await session.restart()
    assert (following.info.tags, following.info.metadata) == (("work",), {"project": "samovar"})
    again = await alice.session("desk", tags=["home"])
    assert (again.info.tags, again.info.metadata) == (("home",), {"project": "samovar"})


async def test_forget_by_filter_deletes_derived_data(memory: bethink.Memory, database: Database) -> None:
    session = await told(memory)
    await learnt(database, "fct_1", "Ann has green tea on the shelf", SourceMessage(session.id, 1))
    await learnt(database, "fct_2", "The tea is black", SourceMessage(session.id, 2))
    alice = memory.space("alice")
    await alice.documents.create(DocumentDraft(slug="tea", title="Tea", metadata={"rank": 1}))

    would = await alice.forget(where={"rank": 1}, dry_run=True)
    assert (would.messages, would.facts, would.documents, would.dry_run) == (1, 1, 1, True)
    assert len(await session.messages()) == 3
    gone = await alice.forget(where={"rank": 1}, kinds=[RefKind.MESSAGE, RefKind.FACT])
    assert (gone.messages, gone.facts, gone.documents) == (1, 1, 0)
    assert [record.number for record in await session.messages()] == [2, 3]
    assert [fact.id for fact in await alice.facts.list()] == ["fct_2"]
    gone = await alice.forget(conversation="desk", tags=["rare"])
    assert [record.number for record in await session.messages()] == [2]
    assert (await alice.forget(conversation="phone", tags=["work"])).messages == 0


async def test_a_filter_is_a_target_of_its_own(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    wrong: list[dict[str, Any]] = [
        {"tags": ["a"], "everything": True}, {"kinds": [RefKind.FACT], "everything": True}, {},
    ]  # fmt: skip
    for each in wrong:
        with pytest.raises(InvalidRequestError):
            await alice.forget(**each)


async def test_labels_of_documents_and_sessions_go_with_their_text(memory: bethink.Memory) -> None:
    session = await told(memory)
    alice = memory.space("alice")
    draft = DocumentDraft(slug="tea", title="Tea", tags=("green",), metadata={"rank": 1})
    document = await alice.documents.create(draft)
    assert (document.tags, document.metadata) == (("green",), {"rank": 1})

    await alice.forget(f"document:{document.id}:1")
    await alice.forget(session_id=session.id)

    left = (await alice.documents.versions(document.id))[0]
    assert (left.tags, left.metadata) == ((), {})
    info = (await alice.sessions.get(session.id)).info
    assert (info.tags, info.metadata) == ((), {})


async def test_a_job_that_rewrites_a_document_keeps_its_labels(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    made = await alice.documents.create(DocumentDraft(slug="tea", title="Tea", tags=("green",), metadata={"rank": 1}))

    by = Provenance(author=Author(kind="job", id="writer"))
    await alice.documents.update(made.id, DocumentDraft(slug="tea", title="Teas"), if_version=1, provenance=by)
    by_hand = await alice.documents.update(made.id, DocumentDraft(slug="tea", title="Hers"), if_version=2)

    assert [each.tags for each in await alice.documents.versions(made.id)] == [("green",), ("green",), ()]
    assert by_hand.metadata == {}


async def test_remember_adds_the_tags_and_metadata_of_the_call(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    kept = await alice.remember(
        [user("one", tags=["a"], metadata={"k": 1}), user("two")], tags=["b", "a"], metadata={"k": 2, "n": 3}
    )

    [one, two] = [record.message for record in await (await alice.sessions.get(kept.session.id)).messages()]
    assert (one.tags, one.metadata) == (("a", "b"), {"k": 1, "n": 3})
    assert (two.tags, two.metadata) == (("b", "a"), {"k": 2, "n": 3})
    item = (await alice.recall("one", kinds=[RefKind.MESSAGE])).items[0]
    assert (item.tags, item.metadata) == (("a", "b"), {"k": 1, "n": 3})


async def test_since_and_until_include_the_whole_day(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    noon = datetime.fromisoformat("2026-03-01T12:00:00Z")
    for days in (-1, 0, 1):
        await alice.remember([user(f"tea {days}", said_at=noon + timedelta(days=days))])

    assert texts(await alice.recall("tea", since="2026-03-01", until=date(2026, 3, 1))) == ["tea 0"]
    assert len((await alice.recall("tea", since="2026-03-01T12:00:00.000001Z")).items) == 1


async def test_several_spaces_are_one_ranking_within_one_budget(memory: bethink.Memory) -> None:
    await told(memory, space="mira")
    await memory.space("team").remember("Tea")
    await memory.space("other").remember("Tea that nobody asked for")
    both = memory.group("mira", "team")

    found = await both.recall("Where is the tea?", explain=True)
    alone = {
        name: {item.ref: item.score for item in (await memory.space(name).recall("Where is the tea?")).items}
        for name in ("mira", "team")
    }

    assert {item.space for item in found.items} == {"mira", "team"}
    assert all(alone[item.space][item.ref] == item.score for item in found.items)
    assert [item.score for item in found.items] == sorted((item.score for item in found.items), reverse=True)
    assert {each.space for each in found.candidates} == {"mira", "team"}
    assert found.tokens == sum(item.tokens for item in found.items)
    assert found.certainty in [item.certainty for item in found.items]

    best = await both.recall("Where is the tea?", limit=2, explain=True)
    assert best.items == found.items[:2]
    assert sum(each.fate == "shown" for each in best.candidates) == 2
    small = await both.recall("Where is the tea?", budget=found.items[0].tokens)
    assert small.tokens <= found.items[0].tokens
    narrow = await both.recall("Where is the tea?", tags=["rare"])
    assert [(item.space, item.text) for item in narrow.items] == [("mira", "The white tea is in the drawer")]


async def test_the_context_of_several_spaces_shares_one_budget(memory: bethink.Memory) -> None:
    await told(memory, space="mira")
    await memory.space("team").remember("The tea of the team")

    block = await memory.group("mira", "team").context("tea", budget=300)

    assert {item.space for item in block.items} == {"mira", "team"}
    assert 0 < block.tokens <= 300
    assert "The tea of the team" in block.text
    assert not await memory.group("nobody", "none").context("tea")


async def test_several_empty_spaces_say_why(memory: bethink.Memory) -> None:
    await memory.space("mira").remember("Coffee")

    found = await memory.group("mira", "team").recall("tea")

    assert (found.items, found.note) == (
        (),
        "mira: No match. Try other words or another space. "
        "team: This space is empty. Store messages in it, or search another space.",
    )


@pytest.mark.parametrize("names", [(), ("a", "a"), ("a", ""), tuple(map(str, range(21)))])
def test_spaces_that_cannot_be_combined_are_rejected(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRequestError):
        bethink.connect(enabled=False).group(*names)


async def test_multi_space_error_names_its_space(memory: bethink.Memory) -> None:
    with pytest.raises(NotFoundError, match="Space 'mira': No session"):
        await memory.group("mira", "team")._run(RECALL, RecallRequest(question="tea", session_id="ses_none"))


async def test_misspelled_origin_is_rejected(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    for call in (
        lambda: alice.recall("tea", origin="usr"),
        lambda: alice.facts.list(origin=["user", "tools"]),
        lambda: alice.facts.history(origin="tool:"),
    ):
        with pytest.raises(InvalidRequestError, match=r"origin.* cannot be .* Use user, assistant"):
            await call()
    assert await alice.facts.list(origin=["tool", "tool:shop", "import"]) == []
