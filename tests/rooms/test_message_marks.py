"""Words that a person corrected or asked to forget are marked, in their time, and deleted with their message."""

from datetime import UTC, datetime, timedelta

import pytest

import bethink
from bethink.model.facts import SourceMessage
from bethink.model.records import Role
from bethink.model.views import NOW, TimeView
from bethink.store import marks
from bethink.store.db import Database
from bethink.store.marks import Mark, MarkKind, visible_text
from tests.rooms.review_kit import learn

_DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


async def _marks(database: Database, session: str, number: int, view: TimeView = NOW) -> list[Mark]:
    ref = SourceMessage(session, number)
    found = await database.transact(lambda tx: marks.of_messages(tx, "alice", [ref], view), space="alice")
    return list(found.get(ref, ()))


async def _talk(memory: bethink.Memory, *messages: bethink.Message) -> str:
    session = await memory.space("alice").session("a talk")
    await session.append(messages)
    await session.end()
    return session.id


def _said(text: str, role: str = "user", *, minutes: int = 0) -> bethink.Message:
    call = "call_1" if role == "tool" else None
    at = _DAY + timedelta(minutes=minutes)
    return bethink.Message(role=Role(role), content=text, said_at=at, tool_call_id=call)


async def test_correction_marks_the_wrong_words_and_their_repetition(
    memory: bethink.Memory, database: Database
) -> None:
    talk = await _talk(
        memory,
        _said("We need 40 chairs for the workshop. The hall is booked."),
        _said("Noted: 40 chairs for the workshop.", "assistant", minutes=1),
        _said("Wait, no: we need 14 chairs, I mistyped.", minutes=2),
    )
    await learn(database)
    [wrong] = await _marks(database, talk, 1)
    [repeated] = await _marks(database, talk, 2)

    assert "We need 40 chairs for the workshop. The hall is booked."[wrong.start : wrong.stop] == (
        "We need 40 chairs for the workshop."
    )
    assert wrong.kind is repeated.kind is MarkKind.CORRECTED
    assert wrong.cause == marks.cause_of(talk, 3)
    assert await _marks(database, talk, 3) == []


async def test_correction_counts_from_when_it_was_said(memory: bethink.Memory, database: Database) -> None:
    talk = await _talk(memory, _said("I ran 24 km."), _said("Sorry, 22 km, not 24.", minutes=60))
    await learn(database)

    assert await _marks(database, talk, 1, TimeView(as_of=_DAY + timedelta(minutes=30))) == []
    assert len(await _marks(database, talk, 1, TimeView(as_of=_DAY + timedelta(minutes=90)))) == 1
    assert await _marks(database, talk, 1, TimeView(known_at=datetime(2020, 1, 1, tzinfo=UTC))) == []


@pytest.mark.parametrize("role", ["assistant", "tool"])
async def test_only_a_person_corrects(memory: bethink.Memory, database: Database, role: str) -> None:
    talk = await _talk(memory, _said("I ran 24 km."), _said("Correction: 22 km, not 24.", role, minutes=1))
    await learn(database)
    assert await _marks(database, talk, 1) == []


@pytest.mark.parametrize("deleted", ["message", "session", "space"])
async def test_marks_are_deleted_with_their_message(memory: bethink.Memory, database: Database, deleted: str) -> None:
    talk = await _talk(memory, _said("I ran 24 km."), _said("Sorry, 22 km, not 24.", minutes=1))
    await learn(database)
    space = memory.space("alice")
    if deleted == "message":
        await space.forget(f"message:{talk}:1")
    elif deleted == "session":
        await space.forget(session_id=talk)
    else:
        await space.forget(everything=True)
    assert await database.transact(
        lambda tx: marks.of_cause(tx, space="alice", cause=marks.cause_of(talk, 2)), space="alice"
    ) == []  # fmt: skip


@pytest.mark.parametrize("is_retracted", [True, False])
async def test_marks_end_with_the_message_that_corrects(
    memory: bethink.Memory, database: Database, is_retracted: bool
) -> None:
    talk = await _talk(memory, _said("I ran 24 km."), _said("Sorry, 22 km, not 24.", minutes=1))
    await learn(database)
    if is_retracted:
        await (await memory.space("alice").sessions.get(talk)).retract(2)
    else:
        await memory.space("alice").forget(f"message:{talk}:2")
    assert await _marks(database, talk, 1) == []


async def test_deleting_a_person_deletes_marks_with_the_messages(memory: bethink.Memory, database: Database) -> None:
    talk = await _talk(memory, _said("Kari Moe ran 24 km."), _said("Sorry, Kari Moe ran 22 km, not 24.", minutes=1))
    await learn(database)
    assert len(await _marks(database, talk, 1)) == 1
    await memory.admin.people.forget("Kari Moe")
    assert await _marks(database, talk, 1) == []


def test_visible_text_leaves_out_hidden_words() -> None:
    text = "My ex is called Valentin and my cat is called Mirabelle."
    assert visible_text(text, [_hidden(0, 24)]) == "and my cat is called Mirabelle."
    assert visible_text(text, [_hidden(0, 24), _hidden(20, len(text))]) == ""
    assert visible_text(text, [_hidden(0, len(text) - 1)]) == ""
    assert visible_text(text, []) == text


def test_corrected_words_stay_visible() -> None:
    mark = Mark(message=SourceMessage("s", 1), kind=MarkKind.CORRECTED, start=0, stop=5, cause="s:2", said_at=_DAY)
    assert visible_text("I ran 24 km.", [mark]) == "I ran 24 km."


def _hidden(start: int, stop: int) -> Mark:
    message = SourceMessage("s", 1)
    return Mark(message=message, kind=MarkKind.HIDDEN, start=start, stop=stop, cause="fgt_1", said_at=_DAY)
