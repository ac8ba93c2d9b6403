"""The answers in a context block: what recall finds, by rank, in full, dated, and never above the budget."""

from datetime import datetime, timedelta

import pytest

from bethink import ContextBlock, Fact, Memory, Message
from bethink.memory.recall.context_lines import ANSWERS, RELEVANT, WEAK
from bethink.model.kinds import FactKind
from bethink.model.records import Origin
from bethink.model.refs import RefKind
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.learn_kit import worker
from tests.rooms.recall_kit import DAY, assistant, tell, user

ASKED = "Which heron did Ana see at the lake?"


async def many_herons(memory: Memory, clock: FakeClock, *, count: int = 120, words: int = 12) -> None:
    """Store many messages that share words with the question, in sessions of five."""
    for start in range(0, count, 5):
        clock.time += DAY
        await tell(
            memory,
            *(
                user(f"Heron number {number} stood at the lake, {' '.join(f'w{number}x{n}' for n in range(words))}.")
                for number in range(start, start + 5)
            ),
        )


def refs(block: ContextBlock) -> set[str]:
    return {str(item.ref) for item in block.items}


async def test_larger_budget_shows_more_and_all_of_the_smaller(memory: Memory, clock: FakeClock) -> None:
    await many_herons(memory, clock)

    blocks = {
        budget: await memory.space("alice").context(ASKED, budget=budget) for budget in (1_000, 2_000, 4_000, 8_000)
    }

    sizes = [len(block.items) for block in blocks.values()]
    assert sizes == sorted(set(sizes)), "every budget has a block of its own"
    for budget, block in blocks.items():
        assert block.tokens <= budget
        assert sum(item.tokens for item in block.items) <= budget
    for smaller, larger in ((1_000, 2_000), (2_000, 4_000), (4_000, 8_000)):
        assert refs(blocks[smaller]) <= refs(blocks[larger])
        assert blocks[smaller].tokens > 0.9 * smaller


@pytest.mark.parametrize("known", [0, 5, 60])
async def test_block_has_what_recall_finds_in_the_same_budget(memory: Memory, clock: FakeClock, known: int) -> None:
    await many_herons(memory, clock, count=60)
    for number in range(known):
        fact = Fact(id=f"f{number}", text=f"The user owns boat {number}", kind=FactKind.DETAIL, origin=Origin("user"))
        await memory.space("alice").facts.save(fact)

    found = await memory.space("alice").recall(ASKED, budget=1_000, limit=100)
    block = await memory.space("alice").context(ASKED, budget=2_000, citations=False)

    shown = refs(block)
    assert len(found) > 20
    assert sum(str(item.ref) in shown for item in found) >= 0.95 * len(found)


async def test_facts_leave_the_rest_of_the_budget_to_answers(memory: Memory, clock: FakeClock) -> None:
    await many_herons(memory, clock)
    await memory.space("alice").facts.save(Fact(id="f", text="The user owns a boat", origin=Origin("user")))

    block = await memory.space("alice").context(ASKED, budget=1_000)

    answers = sum(item.tokens for item in block.items if item.section in ANSWERS)
    assert answers > 700, "a single fact does not keep 40 % of the budget"
    assert "The user owns a boat" in block.text


async def test_preferences_keep_their_share_next_to_many_answers(memory: Memory, clock: FakeClock) -> None:
    await many_herons(memory, clock)
    for number in range(40):
        text = f"User prefers wish {number} to be granted in a friendly way"
        fact = Fact(id=f"f{number}", text=text, kind=FactKind.PREFERENCE, origin=Origin("user"))
        await memory.space("alice").facts.save(fact)

    block = await memory.space("alice").context(ASKED, budget=1_000)

    spent = {True: 0, False: 0}
    for item in block.items:
        spent[item.section in ANSWERS] += item.tokens
    assert spent[False] > 400
    assert spent[True] > 100


async def test_weak_matches_are_labeled_and_come_last(memory: Memory, clock: FakeClock) -> None:
    await many_herons(memory, clock, count=20)
    await tell(memory, "Ana saw a purple heron at the lake.")
    await memory.space("alice").facts.save(Fact(id="f", text="The user owns a boat", origin=Origin("user")))

    block = await memory.space("alice").context(ASKED)

    sections = list(dict.fromkeys(item.section for item in block.items))
    assert sections == [RELEVANT, "What is known", WEAK]
    assert "Ana saw a purple heron" in block.text.partition(f"## {WEAK}")[0]
    assert all((item.certainty == "weak") == (item.section == WEAK) for item in block.items if item.section in ANSWERS)


async def test_long_line_is_shown_in_full(memory: Memory) -> None:
    line = "The heron stood at the lake, " + " ".join(f"and then it did thing {number}," for number in range(40))
    await tell(memory, f"{line} and left.")

    block = await memory.space("alice").context("What did the heron at the lake do?")

    assert len(line) > 800
    assert f"- {line} and left. (user)" in block.text


async def test_long_text_is_cut_to_the_rows_of_its_table(memory: Memory) -> None:
    rows = [f"| Channel {number} | ${number},000 |" for number in range(200)]
    rows.insert(150, "| Influencer marketing | $2,750 |")
    text = "\n".join(["Here is the plan for the launch.", "| Item | Budget |", "|---|---|", *rows, "Good luck!"])
    await tell(memory, user("Please plan the launch."), assistant(text))

    block = await memory.space("alice").context("How much was allocated for influencer marketing?", budget=500)

    assert "| Influencer marketing | $2,750 |" in block.text
    assert "| Item | Budget |" in block.text
    assert "Channel 10 |" not in block.text


async def test_relative_time_is_followed_by_its_date(memory: Memory, clock: FakeClock) -> None:
    clock.time = datetime.fromisoformat("2026-05-08T12:00:00+00:00")
    await tell(memory, "I saw a heron yesterday, and next Friday I return to the lake.")

    block = await memory.space("alice").context("When did I see a heron?")

    assert "2026-05-08:\n- I saw a heron yesterday" in block.text
    assert "(user, yesterday: 2026-05-07, next friday: 2026-05-15)" in block.text


async def test_lines_of_a_day_share_one_date(memory: Memory, clock: FakeClock) -> None:
    await tell(memory, user("A heron at the lake.", name="Ana"), user("I also saw a heron at the lake.", name="Ben"))
    day = clock.time.date()
    clock.time += timedelta(days=3)
    await tell(memory, assistant("A heron stood at the lake again."))

    block = await memory.space("alice").context("Who saw a heron at the lake?")

    assert block.text.count(f"{day}:") == 1
    assert "(Ana)" in block.text
    assert "(Ben)" in block.text
    assert "(assistant)" in block.text


@pytest.mark.parametrize("name", ["assistant", "the tool", "User"])
async def test_name_like_an_origin_does_not_replace_the_origin(memory: Memory, name: str) -> None:
    await tell(memory, Message(role="user", name=name, content="A heron at the lake."))

    block = await memory.space("alice").context(ASKED)

    assert f"({name}, user)" in block.text


async def test_opening_of_a_session_is_listed_only_without_a_question(memory: Memory, database: Database) -> None:
    session = await tell(memory, "The heron at the lake is grey.", assistant("Indeed."))
    await session.end()
    await worker(database, None).run_once()

    without = await memory.space("alice").context()
    block = await memory.space("alice").context("Which color has the heron at the lake?")

    assert {item.ref.kind for item in without.items} == {RefKind.SESSION_SUMMARY}
    assert {item.ref.kind for item in block.items} == {RefKind.MESSAGE}


@pytest.mark.parametrize(
    "asked",
    [
        "When does the ferry to Bergen leave?",
        "when does the ferry to bergen leave",
        "Hey, when does the ferry leave to Bergen?",
        "The ferry to Bergen?",
    ],
)
@pytest.mark.parametrize("in_session", [True, False])
@pytest.mark.parametrize("is_stored_first", [True, False])
async def test_current_question_is_never_an_answer(
    memory: Memory, asked: str, in_session: bool, is_stored_first: bool
) -> None:
    question = "When does the ferry to Bergen leave?"
    await tell(memory, "The ferry to Bergen leaves at nine.")
    session = await memory.space("alice").session("chat")
    if is_stored_first:
        await session.append([user(asked)])

    block = await (session.context(question) if in_session else memory.space("alice").context(question))
    if not is_stored_first:
        await session.append([user(asked)])
        block = await (session.context(question) if in_session else memory.space("alice").context(question))

    assert [item.text for item in block.items] == ["The ferry to Bergen leaves at nine."]


async def test_request_that_was_just_stored_is_not_an_answer(memory: Memory) -> None:
    request = "Plan my trip to Bergen with the ferry. " + "Keep in mind what I told you before. " * 150
    await tell(memory, "The ferry to Bergen leaves at nine.")
    session = await tell(memory, request)

    for question in (request, request[:3_900]):
        block = await session.context(question)
        assert [item.text for item in block.items] == ["The ferry to Bergen leaves at nine."]


async def test_print_shows_the_text_of_a_block(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    await tell(memory, "The ferry to Bergen leaves at nine.")

    block = await memory.space("alice").context("When does the ferry leave?")
    print(block)  # noqa: T201 - what a user does

    assert capsys.readouterr().out == f"{block.text}\n"
    assert "leaves at nine" in block.text
