"""The newest of several messages about one matter ranks first, and the earlier ones say so, without a model."""

import pytest

from bethink import Memory
from bethink.mcp.texts import recalled_line
from bethink.model.facts import FactStatus, SourceMessage
from bethink.model.recall import Match
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.recall_kit import DAY, ago, learnt, message, tell, user

OLD = "My choir rehearses on Tuesdays in the church hall."
NEW = "The choir rehearses on Thursdays, the church was double booked."
QUESTION = "Which day does my choir rehearse?"


async def matches_of(memory: Memory, clock: FakeClock, *lines: str, question: str = QUESTION) -> tuple[Match, ...]:
    """Say each line ten days after the one before, in a session of its own, and ask."""
    for index, line in enumerate(lines):
        await tell(memory, user(line, said_at=ago(clock, 100 - 10 * index)))
    return (await memory.space("alice").recall(question)).items


async def test_newest_value_ranks_first_and_the_earlier_one_names_it(memory: Memory, clock: FakeClock) -> None:
    newest, earlier = await matches_of(memory, clock, OLD, NEW)

    assert (newest.text, newest.status) == (NEW, None)
    assert (earlier.text, earlier.status, earlier.because_of, earlier.because_text) == (
        OLD,
        FactStatus.EARLIER,
        newest.ref,
        NEW,
    )
    assert earlier.probability < newest.probability
    assert f"earlier; later: {NEW.replace(',', '')}" in str(recalled_line(earlier))


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("I drive an old Corsa.", "I sold the Corsa, I drive a Skoda.", "Which car do I drive?"),
        ("My sister lives in Leeds.", "My sister moved, she lives in York.", "Where does my sister live?"),
        (
            "Mein Chor probt dienstags in der Kirche.",
            "Der Chor probt jetzt donnerstags in der Schule.",
            "Wann probt mein Chor?",
        ),
        ("Mi hermana trabaja en un banco.", "Mi hermana ahora trabaja en Lugo.", "¿Dónde trabaja mi hermana?"),
        ("我妹妹住在北京的海淀区。", "我妹妹现在住在上海的浦东区。", "我妹妹住在哪里？"),
        ("妹は東京の銀行で働いています。", "妹は銀行をやめて学校で働いています。", "妹はどこで働いていますか？"),
    ],
)
async def test_later_change_ranks_first(memory: Memory, clock: FakeClock, old: str, new: str, question: str) -> None:
    newest, earlier = await matches_of(memory, clock, old, new, question=question)

    assert (newest.text, earlier.text, earlier.status) == (new, old, FactStatus.EARLIER)


async def test_another_amount_changes_no_day_and_another_day_no_amount(memory: Memory, clock: FakeClock) -> None:
    run = "The ten kilometre run is on 25 April, 10 km along the river."
    lines = [run, "I ran 8 kilometres along the river as training for the run, and have 3 pairs of shoes."]

    days = await matches_of(memory, clock, *lines, question="When is my run along the river?")
    amounts = (await memory.space("alice").recall("How many kilometres is my run along the river?")).items

    assert {item.status for item in days} == {None}
    assert {item.text: item.status for item in amounts}[run] is FactStatus.EARLIER


async def test_newest_of_three_statements_ranks_first(memory: Memory, clock: FakeClock) -> None:
    last = "The choir moved again, it rehearses on Fridays in the church."

    items = await matches_of(memory, clock, OLD, NEW, last)

    assert items[0].text == last
    assert {item.text: item.because_text for item in items[1:]} == {OLD: last, NEW: last}


@pytest.mark.parametrize(
    "later",
    [
        "The church hall was cold at choir, we sang well though.",
        "Does the choir rehearse on Thursdays in the church hall now?",
        "The choir still rehearses on Tuesdays in the church.",
    ],
)
async def test_later_line_without_another_value_changes_nothing(memory: Memory, clock: FakeClock, later: str) -> None:
    items = await matches_of(memory, clock, OLD, later)

    assert [item.status for item in items] == [None] * len(items)
    assert items[0].text != "Does the choir rehearse on Thursdays in the church hall now?"


@pytest.mark.parametrize(
    "question",
    [
        "Which day did my choir rehearse?",
        "Which day was my choir rehearsal before?",
        "On which different days has the choir rehearsed so far?",
        "Which rehearsals does my choir have on which day?",
        "My choir rehearses on some day.",
    ],
)
async def test_question_about_the_past_or_several_answers_keeps_the_order(
    memory: Memory, clock: FakeClock, question: str
) -> None:
    items = await matches_of(memory, clock, OLD, NEW, question=question)

    assert [item.status for item in items] == [None, None]


async def test_message_of_another_speaker_replaces_nothing(memory: Memory, clock: FakeClock) -> None:
    await tell(
        memory, user(OLD, name="Ana", said_at=ago(clock, 20)), user("Hello.", name="Ben", said_at=ago(clock, 20))
    )
    await tell(memory, user(NEW, name="Ben", said_at=ago(clock, 10)))

    items = (await memory.space("alice").recall(QUESTION)).items

    assert {item.status for item in items} == {None}


async def test_change_after_as_of_does_not_count(memory: Memory, clock: FakeClock) -> None:
    await matches_of(memory, clock, OLD, NEW)

    items = (await memory.space("alice").recall(QUESTION, as_of=ago(clock, 95))).items

    assert [(item.text, item.status) for item in items] == [(OLD, None)]


async def test_message_with_a_current_fact_is_not_marked(memory: Memory, database: Database, clock: FakeClock) -> None:
    session = await tell(memory, user(OLD, said_at=ago(clock, 20)))
    await tell(memory, user(NEW, said_at=clock() - DAY))
    await learnt(database, "choir", "The choir rehearses on Tuesdays", SourceMessage(session.id, 1))

    items = (await memory.space("alice").recall(QUESTION)).items

    assert message(session, 1) not in {item.ref for item in items if item.status is FactStatus.EARLIER}
