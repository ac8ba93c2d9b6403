"""Several spaces answer like one space with all their data, for every request.

A new field of `recall` or `context` needs a row in the table below. `test_every_field_has_a_row` fails without one.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from inspect import signature
from typing import Any

import pytest

from bethink import Fact, Memory, Message
from bethink.api.group import SpaceGroup
from bethink.api.space import Space
from bethink.memory.recall.context_lines import ANSWERS
from bethink.model.facts import SourceMessage
from bethink.model.kinds import FactKind
from bethink.model.operations.memory import ContextRequest, RecallRequest
from bethink.model.recall import Certainty, ContextBlock, RecallResult
from bethink.model.records import Origin
from bethink.model.refs import RefKind
from bethink.store.db import Database
from tests.rooms.recall_kit import learnt, tell

QUESTION = "Is the green tea in the tin on the shelf?"
FIRST_DAY = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUSE = "There was more tea for Tom at the end of the long day in the old house by the river behind the hill"
TOP = "The green tea is in the tin on the top shelf"
BOTH = ("a", "b")
Answer = RecallResult | ContextBlock


def texts_in_order(answer: Answer) -> object:
    return [item.text for item in answer.items]


def lines_by_section(answer: Answer) -> object:
    """Return the lines of a block; it lists one space after the other, so their order says nothing.

    Whether an answer is weak depends on its rivals, and each space knows only its own.
    """
    return sorted(("answers" if item.section in ANSWERS else item.section, item.text) for item in answer.items)


def has_weak_matches(answer: Answer) -> object:
    """Return the best result, and whether there are weak ones: each space compares only its own candidates."""
    return answer.items[0].text, any(item.certainty is Certainty.WEAK for item in answer.items)


def candidate_texts(answer: Answer) -> object:
    assert isinstance(answer, RecallResult)
    return sorted(candidate.text for candidate in answer.candidates)


def is_cut_to_110_tokens(answer: Answer) -> object:
    return 0 < answer.tokens <= 110


def cites_its_lines(answer: Answer) -> object:
    """Return whether the text has the label of each line, and the lines, which are the same in both forms."""
    assert isinstance(answer, ContextBlock)
    return [f"[^{item.label}]" in answer.text for item in answer.items], lines_by_section(answer)


@dataclass(frozen=True)
class Row:
    """A field, and a value that changes the answer to `QUESTION`."""

    field: str
    value: Any
    view: Callable[[Answer], object] = texts_in_order


FILTERS = [
    Row("origin", ["assistant"]),
    Row("tags", ["kitchen"]),
    Row("agent", "scout"),
    Row("conversation", "desk"),
    Row("speaker", "Ann"),
    Row("since", FIRST_DAY + timedelta(days=3)),
    Row("until", FIRST_DAY),
    Row("where", {"rank": {"gte": 2}}),
    Row("as_of", FIRST_DAY),
    Row("known_at", FIRST_DAY - timedelta(days=3_650)),
]
RECALL_ROWS = [
    *FILTERS,
    Row("question", "river hill house"),
    Row("budget", 20),
    Row("limit", 3),
    Row("kinds", [RefKind.MESSAGE]),
    Row("min_certainty", Certainty.FAIR, view=has_weak_matches),
    Row("explain", value=True, view=candidate_texts),
]
CONTEXT_ROWS = [
    *(Row(row.field, row.value, lines_by_section) for row in FILTERS),
    Row("question", "river hill house", lines_by_section),
    Row("budget", 110, is_cut_to_110_tokens),
    Row("kinds", [RefKind.MESSAGE], lines_by_section),
    Row("citations", value=False, view=cites_its_lines),
]


async def fill(memory: Memory) -> None:
    """Store the same memories in one space, and spread over two, with the ranks and the days in opposite orders."""
    day = timedelta(days=1)
    messages = [
        Message(role="user", content="The green tea is in the tin on the shelf", name="Ann", said_at=FIRST_DAY),
        Message(role="user", content="The green tea is in the tin", name="Ann", said_at=FIRST_DAY + day),
        Message(role="assistant", content="The green tea came today", tags=("kitchen",), said_at=FIRST_DAY + 2 * day),
        Message(role="user", content=HOUSE, tags=("kitchen",), metadata={"rank": 2}, said_at=FIRST_DAY + 3 * day),
    ]
    for number, message in enumerate(messages):
        late = number >= 2
        for space in ("whole", BOTH[number % 2]):
            await memory.space(space).remember(
                [message], conversation="desk" if late else "door", agent="scout" if late else "assistant"
            )
    fact = Fact(id="f1", text=TOP, kind=FactKind.DETAIL, origin=Origin("user"))
    for space in ("whole", BOTH[0]):
        await memory.space(space).facts.save(fact)


async def answers(handle: Space | SpaceGroup, method: str, row: Row) -> tuple[object, object]:
    """Return what shows of the answers without the field and with it."""
    ask = getattr(handle, method)
    usual = await ask(question=QUESTION)
    changed = await ask(**{"question": QUESTION, row.field: row.value})
    return row.view(usual), row.view(changed)


@pytest.mark.parametrize(
    ("method", "row"),
    [
        *(pytest.param("recall", row, id=f"recall-{row.field}") for row in RECALL_ROWS),
        *(pytest.param("context", row, id=f"context-{row.field}") for row in CONTEXT_ROWS),
    ],
)
async def test_filter_field_works_the_same_for_one_and_many_spaces(memory: Memory, method: str, row: Row) -> None:
    await fill(memory)

    alone = await answers(memory.space("whole"), method, row)
    together = await answers(memory.group(*BOTH), method, row)

    assert alone[0] != alone[1]
    assert together == alone


@pytest.mark.parametrize(
    ("method", "request_type", "rows"),
    [("recall", RecallRequest, RECALL_ROWS), ("context", ContextRequest, CONTEXT_ROWS)],
)
def test_every_field_has_a_row(method: str, request_type: type[RecallRequest], rows: list[Row]) -> None:
    declared = {field.name for field in fields(request_type)}
    shared = set(signature(getattr(SpaceGroup, method)).parameters) - {"self"}

    assert declared - shared == {"session_id"}  # a session belongs to one space
    assert sorted(row.field for row in rows) == sorted(shared)


async def test_every_operation_of_several_spaces_is_in_the_table() -> None:
    operations = {name for name, member in vars(SpaceGroup).items() if callable(member) and not name.startswith("_")}

    assert operations == {"recall", "ask", "context"}


def all_texts(recall: RecallResult) -> list[str]:
    """Return every text that an answer contains: results, the quotes behind them, and candidates."""
    quotes = [quote.text for item in recall.items for quote in item.excerpts]
    return [*(item.text for item in recall.items), *quotes, *(candidate.text for candidate in recall.candidates)]


async def tell_in_confidence(database: Database, memory: Memory) -> None:
    """Store a message that states a confidential fact and another one, and the memory of its session."""
    session = await tell(memory, "Lena moves to Basel in May, tell nobody. Her cat is Momo.", "Basel has a zoo")
    source = SourceMessage(session.id, 1)
    await learnt(database, "f1", "Lena moves to Basel in May", source, flags=("confidential",))
    await learnt(database, "f2", "The cat of Lena is Momo", source)


@pytest.mark.parametrize("options", [{"kinds": [RefKind.MESSAGE]}, {"limit": 1}, {"budget": 8}, {}])
async def test_confidential_message_stays_in_its_space(
    database: Database, memory: Memory, options: dict[str, Any]
) -> None:
    await tell_in_confidence(database, memory)
    await memory.space("team").remember("The zoo of Basel opens in May")

    for question in ("Who moves to Basel in May?", "What is the cat of Lena called?"):
        alone = await memory.space("alice").recall(question, explain=True, **options)
        recall = await memory.group("alice", "team").recall(question, explain=True, **options)

        assert [text for text in all_texts(alone) if "moves" in text]
        assert not [text for text in all_texts(recall) if "moves" in text]


async def test_confidential_message_is_in_no_block_of_several(database: Database, memory: Memory) -> None:
    await tell_in_confidence(database, memory)
    question = "Who moves to Basel in May, tell nobody, and what is her cat?"

    alone = await memory.space("alice").context(question)
    block = await memory.group("alice", "team").context(question)

    assert "tell nobody" in alone.text
    assert "moves" not in block.text
    assert "Momo" in block.text


async def test_confidentiality_set_later_covers_earlier_times(database: Database, memory: Memory) -> None:
    session = await tell(memory, "Lena moves to Basel in May")
    then = datetime.now(UTC) + timedelta(days=1)
    await learnt(database, "f1", "Lena moves to Basel", SourceMessage(session.id, 1), flags=("confidential",))

    item = (await memory.space("alice").recall("Basel", kinds=[RefKind.MESSAGE], as_of=then)).items[0]

    assert item.confidential


@pytest.mark.parametrize("flag", ["health", "money", "child", "third_party"])
async def test_flagged_fact_and_its_message_are_used_in_their_space_alone(
    database: Database, memory: Memory, flag: str
) -> None:
    session = await tell(memory, "I am deaf, so write to me")
    await learnt(database, "f1", "The owner is deaf", SourceMessage(session.id, 1), flags=(flag,))
    await memory.space("team").remember("The deaf theater opens in May")

    alone = await memory.space("alice").recall("Who is deaf?", limit=5)
    block = await memory.space("alice").context("Who is deaf?")
    recall = await memory.group("alice", "team").recall("Who is deaf?", limit=5)
    shared = await memory.group("alice", "team").context("Who is deaf?")

    assert "The owner is deaf" in block.text
    assert "in confidence" not in block.text
    assert any("deaf" in item.text for item in alone.items)
    assert {item.space for item in recall.items} == {"team"}
    assert "theater" in shared.text
    assert "I am deaf" not in shared.text
    assert "owner is deaf" not in shared.text
