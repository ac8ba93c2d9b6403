"""`ask` in several spaces: one model reads the matches of all, without what is confidential in them."""

from inspect import signature
from typing import Any

import pytest

from benchmarks.ask_cases import given
from bethink.api.group import SpaceGroup
from bethink.errors import InvalidRequestError
from bethink.model.answers import AnswerSentence, Refusal
from bethink.model.calls import ModelCall
from bethink.model.facts import SourceMessage
from bethink.model.operations.memory import AskRequest
from bethink.providers.scripted_model import Line
from bethink.store.db import Database
from bethink.testing import ScriptedModel
from tests.rooms.ask_kit import answering
from tests.rooms.recall_kit import learnt, message, tell
from tests.rooms.test_several_spaces import BOTH, FILTERS, fill
from tests.rooms.test_several_spaces import QUESTION as TEA

QUESTION = "How many hours did we paint in total?"


def sums(call: ModelCall) -> Line:
    """Add the hours of all lines."""
    lines = given(call)
    hours = [line.text.split(" hours")[0].split()[-1] for line in lines if " hours" in line.text]
    labels = "".join(f"[^{line.label}]" for line in lines if " hours" in line.text)
    return f"You painted {sum(map(int, hours))} hours in total. {labels}" if hours else "UNKNOWN"


async def test_several_spaces_answer_together(database: Database) -> None:
    heard: list[AnswerSentence] = []
    model = ScriptedModel(sums)
    memory = answering(database, model)
    mine = await tell(memory, "I painted the fence for 3 hours.")
    theirs = await tell(memory, "We painted the door for 4 hours.", space="team")
    await tell(memory, "We painted the roof for 9 hours.", space="other")

    answer = await memory.group("alice", "team").ask(QUESTION, on_sentence=heard.append)

    assert answer.text == "You painted 7 hours in total."
    assert answer.sentences[0].working == "3 hours + 4 hours = 7 hours"
    assert {(item.space, item.ref) for item in answer.cited} == {
        ("alice", message(mine, 1)),
        ("team", message(theirs, 1)),
    }
    assert tuple(heard) == answer.sentences
    [call] = model.calls
    assert "(memory of team, user, " in call.prompt


async def test_space_takes_other_spaces_and_ignores_its_own_name(database: Database) -> None:
    memory = answering(database, sums)
    await tell(memory, "I painted the fence for 3 hours.")
    await tell(memory, "We painted the door for 4 hours.", space="team")

    alone = await memory.space("alice").ask(QUESTION, spaces=["alice"])
    together = await memory.space("alice").ask(QUESTION, spaces=["team", "alice", "team"])

    assert alone.text == "You painted 3 hours in total."
    assert together.text == "You painted 7 hours in total."


async def test_several_spaces_search_again_together(database: Database) -> None:
    def read(call: ModelCall) -> Line:
        line = next((line for line in given(call) if "Bergen" in line.text), None)
        return "SEARCH: Runa moved" if line is None else f"{line.text} [^{line.label}]"

    memory = answering(database, read)
    await tell(memory, "My sister is called Runa.")
    town = await tell(memory, "Runa moved to Bergen in spring.", space="team")

    answer = await memory.group("alice", "team").ask("Which place is my sister in?")

    assert [item.ref for item in answer.cited] == [message(town, 1)]
    assert answer.searches[1:] == ("Runa moved",)


@pytest.mark.parametrize("flag", ["confidential", "health"])
async def test_confidential_memories_do_not_reach_the_model(database: Database, flag: str) -> None:
    model = ScriptedModel(lambda call: f"{given(call)[0].text} [^{given(call)[0].label}]")
    memory = answering(database, model)
    session = await tell(memory, "Lena moves to Basel in May")
    await learnt(database, "f1", "Lena moves to Basel", SourceMessage(session.id, 1), flags=(flag,))
    await tell(memory, "The zoo of Basel opens in May", space="team")

    alone = await memory.space("alice").ask("Who moves to Basel in May?")
    together = await memory.group("alice", "team").ask("Who moves to Basel in May?")

    assert "Lena" in alone.text
    assert together.text == "The zoo of Basel opens in May"
    assert "Lena moves" not in model.calls[-1].prompt


async def test_each_space_logs_access_and_counts_its_use(database: Database) -> None:
    memory = answering(database, sums)
    await tell(memory, "I painted the fence for 3 hours.")
    theirs = await tell(memory, "We painted the door for 4 hours.", space="team")

    await memory.group("alice", "team").ask(QUESTION)

    use = (await memory.space("team").explain(message(theirs, 1))).usage
    assert use is not None
    logged = (await memory.admin.access.list(space="team")).items
    assert {(entry.operation, entry.refs) for entry in logged} >= {("space.recall", (f"message:{theirs.id}:1",))}


async def test_answers_of_past_times_and_refusals_span_all_spaces(database: Database) -> None:
    model = ScriptedModel(sums)
    memory = answering(database, model)
    await tell(memory, "We painted the door for 4 hours.", space="team")

    past = await memory.group("alice", "team").ask(QUESTION, as_of="2000-01-01")
    nothing = await memory.group("alice", "nowhere").ask(QUESTION)

    assert (past.refusal, past.sources) == (Refusal.NOTHING_FOUND, ())
    assert (nothing.refusal, nothing.model) == (Refusal.NOTHING_FOUND, None)


@pytest.mark.parametrize("names", [[""], ["a\nb"], ["x" * 201], [f"space {number}" for number in range(20)]])
def test_names_of_spaces_are_checked(names: list[Any]) -> None:
    with pytest.raises(InvalidRequestError):
        AskRequest(question=QUESTION, spaces=tuple(names))


def cite_all(call: ModelCall) -> Line:
    return "\n".join(f"{line.text}. [^{line.label}]" for line in given(call))


FIELDS = [
    *((row.field, row.value) for row in FILTERS),
    ("question", "river hill house"),
    ("budget", 20),
    ("limit", 3),
    ("kinds", ["message"]),
]
TESTED_ALONE = {"min_certainty"}
WITHOUT_EFFECT = {"exclude", "timeout", "on_sentence"}
"""Parameters that do not change which memories are found, or name one of a single space."""


async def test_certainty_is_that_of_each_space(database: Database) -> None:
    memory = answering(database, cite_all)
    await fill(memory)

    usual = (await memory.group(*BOTH).ask(TEA)).cited
    certain = (await memory.group(*BOTH).ask(TEA, min_certainty="high")).cited

    assert {item.ref for item in certain} < {item.ref for item in usual}
    assert certain


@pytest.mark.parametrize(("field", "value"), FIELDS)
async def test_field_of_ask_works_the_same_for_one_and_many_spaces(
    database: Database, field: str, value: object
) -> None:
    memory = answering(database, cite_all)
    await fill(memory)
    changed: dict[str, Any] = {"question": TEA, field: value}

    usual = [item.text for item in (await memory.space("whole").ask(TEA)).cited]
    alone = [item.text for item in (await memory.space("whole").ask(**changed)).cited]
    together = [item.text for item in (await memory.group(*BOTH).ask(**changed)).cited]

    assert alone != usual
    assert together == alone


def test_every_field_of_ask_has_a_row() -> None:
    assert (
        set(signature(SpaceGroup.ask).parameters) - {"self"}
        == {field for field, _ in FIELDS} | TESTED_ALONE | WITHOUT_EFFECT
    )


async def test_excluded_memory_of_any_space_is_ignored(database: Database) -> None:
    memory = answering(database, sums)
    await tell(memory, "I painted the fence for 3 hours.")
    theirs = await tell(memory, "We painted the door for 4 hours.", space="team")

    answer = await memory.group("alice", "team").ask(QUESTION, exclude=[message(theirs, 1)])

    assert answer.text == "You painted 3 hours in total."
