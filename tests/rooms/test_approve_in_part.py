"""Partial approval of a change set: chosen documents are written, the others discarded with their text."""

import pytest

import bethink
from bethink.errors import ConflictError, InvalidRequestError
from bethink.model.consolidation import ChangeStatus
from bethink.store.db import Database
from tests.conftest import whole_tree
from tests.rooms.learn_kit import a_fact, consolidator
from tests.rooms.stored_kit import stored
from tests.rooms.test_consolidate import Life


@pytest.fixture
async def life(memory: bethink.Memory, database: Database) -> Life:
    life = Life(database, memory)
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.tell("I like zebrafinches.", a_fact("User likes zebrafinches", 1, about="Zebrafinch"))
    await life.consolidate(consolidator(database, review=True))
    return life


async def test_only_the_chosen_documents_are_written(life: Life, target: str, superuser_dsn: str) -> None:
    [held] = await life.docs.changes.list()
    assert {"~/memory/tea", "~/memory/zebrafinch"} <= {change.path for change in held.changes}

    await life.docs.changes.approve(held.run, paths=["~/memory/tea"])

    paths = set(await whole_tree(life.docs))
    assert "~/memory/tea" in paths
    assert "~/memory/zebrafinch" not in paths
    [applied] = await life.docs.changes.list()
    assert applied.status is ChangeStatus.APPLIED
    assert [change.path for change in applied.changes] == ["~/memory/tea"]
    with pytest.raises(ConflictError):
        await life.docs.changes.approve(held.run, paths=["~/memory/zebrafinch"])
    assert "~/memory/zebrafinch" not in stored(target, superuser_dsn)
    await life.docs.changes.undo(held.run)
    assert "~/memory/tea" not in await whole_tree(life.docs)


@pytest.mark.parametrize("paths", [[], ["~/memory/coffee"], ["~/memory/tea", "~/memory/coffee"]])
async def test_a_path_that_the_change_set_does_not_have_decides_nothing(life: Life, paths: list[str]) -> None:
    [held] = await life.docs.changes.list()

    with pytest.raises(InvalidRequestError, match=r"path|change of"):
        await life.docs.changes.approve(held.run, paths=paths)

    assert [each.status for each in await life.docs.changes.list()] == [ChangeStatus.PENDING]
    assert await whole_tree(life.docs) == {}


async def test_document_text_can_be_edited_on_approval(life: Life) -> None:
    [held] = await life.docs.changes.list()

    await life.docs.changes.approve(held.run, paths=["~/memory/tea"], texts={"~/memory/tea": "User likes green tea.\n"})

    found = await life.docs.find("~/memory/tea")
    assert found is not None
    assert found.body == "User likes green tea.\n"
    assert found.author.reason == "approved with edits"
    assert await life.docs.sources(found.id, version=found.version) != []


@pytest.mark.parametrize("path", ["~/memory/coffee", "~/memory/zebrafinch"])
async def test_other_words_for_a_document_that_is_not_written_decide_nothing(life: Life, path: str) -> None:
    [held] = await life.docs.changes.list()

    with pytest.raises(InvalidRequestError, match="does not write"):
        await life.docs.changes.approve(held.run, paths=["~/memory/tea"], texts={path: "x"})

    assert [each.status for each in await life.docs.changes.list()] == [ChangeStatus.PENDING]
