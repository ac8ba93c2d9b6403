"""Recall with hostile questions and long texts, and words that were vacuumed, deleted or cut."""

# pyright: reportUnknownMemberType=false
# apsw spells its values with a Buffer type that Python 3.11 does not have.

import random

import apsw
import pytest

from bethink import Fact, Memory, Message
from bethink.model.documents import DocumentDraft
from bethink.model.records import conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.model.views import NOW
from bethink.store.candidates import candidates
from bethink.store.db import Database, Tx
from bethink.store.engines.sqlite import SqliteDatabase
from bethink.types import Facts
from tests.conftest import KEY, FakeClock, database_at, memory_on
from tests.rooms.learn_kit import a_fact
from tests.rooms.recall_kit import message, tell, texts, written
from tests.rooms.test_consolidate import Life

INDEXES = ("messages", "facts", "documents", "session_summaries")

WEIRD = [
    "", " ", "\n\t", "\0", "a\0b", "\ud800", "x\udfffy", "?!", "…", "😀", "👩‍👩‍👧‍👦 🇳🇴", "\u202e", "\ufeff",
    "what is the who of it", "to be or not to be", "I me my we", "the",
    'a" OR b:*', '"', '""', '" "', '"unclosed', 'content:"*"', "name : *", "NEAR(a b, 5)", "a AND NOT b", "^a + b*",
    "foo & !bar", "!bar", "a <-> b", "a:*", "':*", "a | b:AB", "''", "\\", "\\'", "'\\''", "$1 ?1 :space %s %(x)s",
    "'; DROP TABLE messages; --", "%", "_", "{}[]()", "-- comment", "/* x */", "NULL", "\\x00", "a\\", "' || ''",
    "x" * 100_000, "q " * 50_000, "\"'" * 50_000, "9" * 100_000, "in May 1987 " * 9_000, "last " * 20_000,
    "2023-05-0" * 11_000, "the day before " * 6_500, "\\" * 100_000, "💥" * 25_000, "a.b" * 33_000, "q'" * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("question", WEIRD, ids=[f"{place}" for place in range(len(WEIRD))])
async def test_hostile_question_neither_raises_nor_matches(memory: Memory, question: str) -> None:
    await tell(memory, "Herons nest in spring.", "Nothing else was said here.")
    await memory.space("alice").facts.save(Fact(id="f", text="Herons are patient"))
    await written(memory, "birds", "Herons eat fish.")

    for explain in (False, True):
        found = await memory.space("alice").recall(question, explain=explain)
        assert texts(found) == []
        assert found.candidates == ()
        assert found.question == question
    assert await memory.space("alice").context(question=question) == await memory.space("alice").context()


@pytest.mark.parametrize(
    "question",
    ["heron!", 'heron" OR x:*', "heron & !heron", "!heron", "heron:*", "(heron", "'heron\\", "h\0 heron", "heron\ud800",
     "NEAR(heron)", "heron <-> zebra", "content:heron", "-heron", "^heron", "HERON"],
)  # fmt: skip
async def test_a_word_among_signs_is_a_word(memory: Memory, question: str) -> None:
    session = await tell(memory, "A heron stands there.")
    await tell(memory, "A zebu lies there.")

    found = await memory.space("alice").recall(question)

    assert [item.ref for item in found.items] == [message(session, 1)]


@pytest.mark.parametrize("word", ["Straße", "naïve", "ΣΟΦΟΣ", "C3PO", "foo.bar", "o'brien", "x86_64", "3.14", "ﬁsh"])
async def test_a_word_of_any_alphabet_finds_itself(memory: Memory, word: str) -> None:
    session = await tell(memory, f"There was a {word} once.")
    await tell(memory, "There was nothing else.")

    assert [item.ref for item in (await memory.space("alice").recall(f"Which {word}?")).items] == [message(session, 1)]


async def test_recall_accepts_text_that_cannot_be_stored(memory: Memory) -> None:
    session = await tell(memory, Message(role="user", content="A gull \0 and a \ud800 tern", name="An\0a"))

    for question in ("gull", "tern\ud800", "\0gull\0", "An\ufffda's gull?"):
        assert [item.ref for item in (await memory.space("alice").recall(question)).items] == [message(session, 1)]


async def test_two_megabyte_message_is_found_by_its_beginning(memory: Memory) -> None:
    draw = random.Random(1)
    noise = " ".join(f"{draw.getrandbits(60):x}" for _ in range(125_000))
    session = await tell(memory, f"The xylophone fell. {noise} saxophone")
    await tell(memory, "Something short.")
    assert len(noise) > 1_900_000

    found = await memory.space("alice").recall("Which xylophone fell?", budget=500)

    assert [item.ref for item in found.items] == [message(session, 1)]
    assert found.items[0].text.startswith("The xylophone fell.")
    assert found.tokens <= 500
    [record] = await session.messages()
    assert record.message.content.endswith("saxophone")
    assert not await memory.space("alice").recall("saxophone"), "what is beyond the index is kept, and not found"


async def everything(memory: Memory, database: Database) -> None:
    """Fill every index with the word marmot, and leave holes in the tables."""
    life = Life(database, memory)
    facts = memory.space("alice").facts
    for number in range(6):
        await life.tell(f"My marmot is number {number}.", a_fact(f"User has marmot number {number}", 1))
        await facts.save(Fact(id=f"f{number}", text=f"A marmot weighs {number} pounds"))
        await written(memory, f"page-{number}", f"Marmot page {number}.")
    await facts.save(Fact(id="f5", text="A marmot weighs nine pounds"))
    document = await written(memory, "other", "A marmot. Gone.")
    await memory.space("alice").documents.update(
        document.id, DocumentDraft(slug="other", title="Other", body="A marmot, again."), if_version=1
    )
    for number in range(3):
        await memory.space("alice").forget(f"fact:f{number}:0")
        await memory.space("alice").forget(conversation=conversation_key(channel="c", chat=str(number + 1)))


async def shown(memory: Memory) -> dict[Ref, str]:
    found = await memory.space("alice").recall("marmot", limit=100, explain=True)
    return {each.ref: each.text for each in found.candidates}


def integrity(target: str) -> None:
    connection = apsw.Connection(target)
    connection.execute("INSERT INTO terms_fts (terms_fts, rank) VALUES ('integrity-check', 1)")
    rows = list(connection.execute("SELECT doc FROM terms ORDER BY doc"))
    assert rows == list(connection.execute("SELECT rowid FROM terms_fts ORDER BY rowid"))
    connection.close()


async def test_a_vacuum_of_the_file_leaves_every_search_right(clock: FakeClock, tmp_path: object) -> None:
    target = f"{tmp_path}/memory.db"
    database = database_at(target, clock)
    await database.open()
    memory = memory_on(database)
    await everything(memory, database)
    before, facts = await shown(memory), await memory.space("alice").facts.search("marmot", limit=50)
    documents = await memory.space("alice").documents.search("marmot", limit=50)
    await database.close()

    connection = apsw.Connection(target)
    connection.execute("VACUUM")
    for table in INDEXES:  # which this SQLite leaves in place, and another is free to number anew
        connection.execute(f"UPDATE {table} SET rowid = -rowid")
    connection.close()
    await database.open()

    assert await shown(memory) == before
    assert all("marmot" in text.lower() for text in before.values())
    assert {ref.kind for ref in before} == set(RefKind)
    assert await memory.space("alice").facts.search("marmot", limit=50) == facts
    assert await memory.space("alice").documents.search("marmot", limit=50) == documents
    await memory.space("alice").forget("fact:f3:0")
    assert Ref(RefKind.FACT, "f3", 1) not in await shown(memory)
    await database.close()
    integrity(target)


async def words_left(database: Database) -> int:
    """How many texts are still indexed under the word marmot."""

    def body(tx: Tx) -> int:
        found = candidates(tx, space="alice", stems={"marmot": 1.0}, view=NOW, kinds=list(RefKind))
        return 0 if found is None else len(found.docs)

    return await database.transact(body, space="alice", read_only=True)


async def test_forget_removes_words_from_every_index(memory: Memory, database: Database, target: str) -> None:
    life = Life(database, memory)
    told = [await life.tell(f"My marmot is number {n}.", a_fact(f"User has marmot number {n}", 1)) for n in (1, 2)]
    await life.consolidate()
    assert await words_left(database) >= 2 * 3

    for number in (1, 2):
        await memory.space("alice").forget(conversation=conversation_key(channel="c", chat=str(number)))

    assert await words_left(database) == 0
    assert await shown(memory) == {}
    assert [await session.messages() for session in told] == [[], []]
    if isinstance(database, SqliteDatabase):
        await database.close()
        connection = apsw.Connection(target)
        held = "SELECT count(*) FROM terms WHERE kind IN ('message', 'fact', 'session_summary')"
        assert list(connection.execute(held)) == [(0,)]
        connection.close()
        integrity(target)
        await database.open()


async def test_message_after_a_deletion_is_found_under_its_own_number(memory: Memory) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append([Message(role="user", content="A marmot.")])
    await memory.space("alice").forget(conversation=KEY)
    await session.append([Message(role="user", content="Another marmot.")])

    assert await shown(memory) == {message(session, 2): "Another marmot."}


async def test_a_search_of_facts_and_one_of_everything_agree(memory: Memory) -> None:
    facts: Facts = memory.space("alice").facts
    for number in range(5):
        await facts.save(Fact(id=f"f{number}", text=f"A marmot weighs {number} pounds"))
    await memory.space("alice").forget("fact:f2:0")

    assert {fact.id for fact in await facts.search("marmot", limit=50)} == {ref.id for ref in await shown(memory)}
