"""A preference is in the block right after it was stored, with or without a model, and only its newest version."""

from pathlib import Path

import pytest

from bethink import Memory, Message
from bethink.model.calls import ModelCall
from bethink.model.recall import ContextBlock
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.learn_kit import a_fact, answer, quoting, willing, worker
from tests.rooms.recall_kit import DAY, tell, user

SPANISH = "Please answer in Spanish from now on."
ENGLISH = "From now on, please answer in English."
PREFERENCES = "What the user wants"


def wanted(block: ContextBlock) -> list[str]:
    return [item.text for item in block.items if item.section == PREFERENCES]


@pytest.mark.parametrize("question", ["", "What is the weather like?", "Which language do I speak? Spanish?"])
@pytest.mark.parametrize("budget", [150, None])
async def test_preference_is_in_the_block_right_after_remember(
    memory: Memory, question: str, budget: int | None
) -> None:
    alice = memory.space("alice")
    await alice.remember(f"Hello. {SPANISH} I live in Oslo.")

    block = await alice.context(question, budget=budget)

    assert SPANISH in [item.text for item in block.items] or f"Hello. {SPANISH} I live in Oslo." in block.text
    assert "(user" in block.text
    assert (await memory.space("bob").context(question)).text == ""


async def test_newest_of_two_preferences_about_the_same_is_shown(memory: Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    await alice.remember(SPANISH)
    clock.time += DAY
    await alice.remember("I prefer short answers.")
    before = clock.time
    clock.time += DAY
    session = await alice.session("notes")
    await alice.remember(ENGLISH)
    await session.end()

    for question in ("", "Please answer in Spanish?", "How should you answer?"):
        block = await alice.context(question)
        assert "I prefer short answers." in block.text
        assert ENGLISH in block.text
        assert "Spanish" not in block.text
    assert wanted(await alice.context(as_of=before)) == [SPANISH, "I prefer short answers."]


async def test_learned_preference_takes_the_place_of_its_message(memory: Memory, database: Database) -> None:
    session = await tell(memory, "I prefer short answers.", "I prefer tea.")
    assert wanted(await memory.space("alice").context()) == ["I prefer short answers.", "I prefer tea."]
    fact = a_fact("User prefers short answers", 1, kind="preference")

    def learns(call: ModelCall) -> str:
        return quoting(answer(fact), call) if call.schema_name == "claims" else willing(call)

    await session.end()
    await worker(database, learns).run_once()
    assert wanted(await memory.space("alice").context()) == ["User prefers short answers"]

    await session.restart()
    later = await tell(memory, "Always use tabs for indentation.")
    assert wanted(await memory.space("alice").context()) == [
        "User prefers short answers", "Always use tabs for indentation.",
    ]  # fmt: skip
    await later.end()
    await worker(database, None).run_once()
    assert "Always use tabs for indentation." in wanted(await memory.space("alice").context()), "nothing was learned"


@pytest.mark.parametrize(
    "message",
    [
        Message(role="assistant", content=SPANISH),
        Message(role="tool", name="web", content=SPANISH, origin="tool:web"),
        Message(role="user", content=SPANISH, origin="document"),
        Message(role="user", content=SPANISH, origin="import"),
        Message(role="user", content=f'The page says "{SPANISH}"'),
    ],
)
async def test_only_words_of_the_user_state_a_preference(memory: Memory, message: Message) -> None:
    await tell(memory, message)

    assert wanted(await memory.space("alice").context()) == []
    assert wanted(await memory.space("alice").context("How should you answer?")) == []


async def test_deleted_preference_is_not_in_the_block(memory: Memory) -> None:
    alice = memory.space("alice")
    stored = await alice.remember([user(SPANISH), user("Never deploy on Fridays.")])

    await alice.forget(stored.refs[0])

    assert wanted(await alice.context()) == ["Never deploy on Fridays."]


async def test_preference_of_an_unlearned_session_is_not_in_the_block(memory: Memory) -> None:
    session = await memory.space("alice").session("private", ephemeral=True)
    await session.append([user(SPANISH)])

    assert wanted(await memory.space("alice").context()) == []


async def test_preference_is_found_again_after_an_import(memory: Memory, tmp_path: Path) -> None:
    """The index is rebuilt from the texts, so a preference is found as before."""
    await memory.space("alice").remember(SPANISH)
    await memory.space("alice").admin.export_archive(tmp_path / "alice.zip")

    await memory.admin.import_archive(tmp_path / "alice.zip", space="copy")

    assert wanted(await memory.space("copy").context()) == [SPANISH]
