"""Matches that answer a line bring it along, as far as the caller may see it."""

from bethink import Memory
from bethink.model.facts import SourceMessage
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Database
from tests.rooms.recall_kit import assistant, learnt, tell, user

ASKED = "Which paint is best for my shed?"
ANSWERED = "I would take two coats of Cuprinol for sheds."


async def test_reply_brings_the_question_and_ranks_first(memory: Memory) -> None:
    session = await tell(memory, ASKED, assistant(ANSWERED))

    [first, *_] = (await memory.space("alice").recall("What did you recommend for my shed?")).items

    assert first.text == ANSWERED
    assert first.reply_to is not None
    assert first.reply_to.text == ASKED
    assert first.reply_to.source == SourceMessage(session.id, 1)
    assert first.reply_to.origin == "user"


async def test_statement_after_a_statement_has_no_line_before_it(memory: Memory) -> None:
    await tell(memory, "I painted the shed.", assistant("Two coats of Cuprinol last for years."))

    for item in (await memory.space("alice").recall("shed Cuprinol")).items:
        assert item.reply_to is None


async def test_line_before_a_match_is_in_its_tokens_and_cut(memory: Memory) -> None:
    await tell(memory, f"{'The shed is old, ' * 8}which paint is best for my shed?", assistant(ANSWERED))
    await tell(memory, assistant(ANSWERED.replace("Cuprinol", "Ronseal")))

    items = (await memory.space("alice").recall("coats for sheds")).items
    tokens = {item.text: item.tokens for item in items}
    [reply] = [item.reply_to for item in items if item.text == ANSWERED]

    assert reply is not None
    assert len(reply.text) < 200
    assert tokens[ANSWERED] > 2 * tokens[ANSWERED.replace("Cuprinol", "Ronseal")]


async def test_deleted_question_is_not_brought_along(memory: Memory) -> None:
    session = await tell(memory, ASKED, assistant(ANSWERED))
    await memory.space("alice").forget(Ref(RefKind.MESSAGE, session.id, 1))

    items = (await memory.space("alice").recall("two coats of Cuprinol")).items

    assert [(item.text, item.reply_to) for item in items] == [(ANSWERED, None)]


async def test_question_outside_the_filter_is_not_brought_along(memory: Memory) -> None:
    await tell(memory, ASKED, assistant(ANSWERED, tags=["paint"]))

    [item] = (await memory.space("alice").recall("coats for the shed", tags=["paint"])).items

    assert item.reply_to is None


async def test_group_leaves_out_a_confidential_question(memory: Memory, database: Database) -> None:
    session = await tell(memory, "Which doctor should I ask about my diabetes?", assistant("Ask Dr. Ferro in Graz."))
    await learnt(database, "f", "Alice has diabetes", SourceMessage(session.id, 1), flags=("health",))

    [alone] = [item for item in (await memory.space("alice").recall("Dr. Ferro in Graz")).items if "Ferro" in item.text]
    group = await memory.group("alice", "bob").recall("Dr. Ferro in Graz")

    assert alone.reply_to is not None
    assert alone.reply_to.confidential
    assert [item.reply_to for item in group.items if "Ferro" in item.text] == [None]


async def test_context_log_has_the_line_that_a_match_answers(memory: Memory) -> None:
    asked = await tell(memory, ASKED, assistant(ANSWERED))
    session = await tell(memory, user("hello"))

    await memory.space("alice").recall("coats of Cuprinol", session_id=session.id, limit=1)

    [entry] = await memory.space("alice").admin.context_log.list(session_id=session.id)
    assert Ref(RefKind.MESSAGE, asked.id, 1) in entry.refs
