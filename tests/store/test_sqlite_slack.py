"""No deleted data stays between the remaining rows."""

# pyright: reportUnknownMemberType=false
import random
import re
from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest

import bethink
from bethink.store.engines import sqlite_slack
from bethink.store.engines.sqlite_slack import Slack

LETTERS = "bcdfghjklmnpqrstvwz"


def filled(path: Path, *, wal: bool) -> tuple[apsw.Connection, dict[int, str]]:
    """Return a connection to a database whose pages were split many times, and the word of each row."""
    dice, connection = random.Random(1), apsw.Connection(str(path))
    connection.pragma("secure_delete", True)
    connection.pragma("journal_mode", "wal" if wal else "delete")
    connection.pragma("synchronous", 0)
    connection.execute("CREATE TABLE said (chat, number, content, PRIMARY KEY (chat, number)) WITHOUT ROWID")
    words = {number: "".join(dice.choices(LETTERS, k=16)) for number in range(20_000)}
    with connection:
        for number, word in words.items():
            values = (dice.randrange(200), number, f"{word} {'x' * dice.randrange(300)}")
            connection.execute("INSERT INTO said VALUES (?, ?, ?)", values)
    return connection, words


def left(path: Path, words: Iterable[str]) -> set[str]:
    """Return those of some words that any file of the database holds."""
    content = b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*")).decode("latin-1")
    runs = re.findall(f"[{LETTERS}]{{16,}}", content)
    return {run[at : at + 16] for run in runs for at in range(len(run) - 15)}.intersection(words)


def delete(connection: apsw.Connection, numbers: list[int]) -> None:
    with connection:
        connection.execute(f"DELETE FROM said WHERE number IN ({', '.join(map(str, numbers))})")


def emptied(connection: apsw.Connection) -> None:
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


@pytest.mark.parametrize("wal", [True, False])
def test_copies_left_by_page_splits_are_cleared(tmp_path: Path, wal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_slack, "_BATCH", 100)
    path = tmp_path / "m.db"
    connection, words = filled(path, wal=wal)
    gone = random.Random(2).sample(sorted(words), 4_000)
    delete(connection, gone)
    emptied(connection)
    assert left(path, [words[each] for each in gone]), "secure_delete alone would do"

    assert Slack(str(path), log=Path(f"{path}-wal") if wal else None).clear(connection, lambda: emptied(connection))

    emptied(connection)
    assert not left(path, [words[each] for each in gone])
    assert connection.pragma("integrity_check") == "ok"
    assert connection.execute("SELECT count(*) FROM said").get == 16_000
    kept = {words[each] for each in set(words) - set(gone)}
    assert left(path, kept) == kept


@pytest.mark.parametrize("by", ["the writer", "another connection"])
def test_slack_clears_only_written_pages_unless_others_wrote(tmp_path: Path, by: str) -> None:
    path = tmp_path / "m.db"
    writer, words = filled(path, wal=True)
    other = apsw.Connection(str(path))
    other.pragma("secure_delete", True)
    slack = Slack(str(path), log=Path(f"{path}-wal"))
    slack.watch(writer)
    writer.set_wal_hook(lambda _, __, frames: slack.note(frames) or apsw.SQLITE_OK)
    emptied(writer)
    assert slack.clear(writer, lambda: emptied(writer))
    dice, late = random.Random(3), dict[int, str]()
    for number in range(30_000, 32_000):
        late[number] = "".join(dice.choices(LETTERS, k=16))
        values = (dice.randrange(200), number, f"{late[number]} {'x' * dice.randrange(300)}")
        (writer if by == "the writer" else other).execute("INSERT INTO said VALUES (?, ?, ?)", values)
    delete(writer, sorted(late))
    emptied(writer)
    assert left(path, late.values()), "secure_delete alone would do"

    assert slack.clear(writer, lambda: emptied(writer))

    emptied(writer)
    assert not left(path, late.values())
    assert left(path, words.values()) == set(words.values())
    assert writer.pragma("integrity_check") == "ok"


def test_a_commit_of_others_between_emptying_and_locking_prevents_it(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    writer, _ = filled(path, wal=True)
    other = apsw.Connection(str(path))

    def overtaken() -> None:
        emptied(writer)
        other.execute("INSERT INTO said VALUES (1, 99999, 'late')")

    overtaken()
    assert not Slack(str(path), log=Path(f"{path}-wal")).clear(writer, overtaken)


@pytest.mark.parametrize("wal", [True, False])
async def test_deleted_conversations_leave_no_bytes_in_the_file(tmp_path: Path, wal: bool) -> None:
    path, dice = tmp_path / "m.db", random.Random(4)
    async with bethink.connect(path, learn=False, embedder="none", sqlite_wal=wal, sqlite_synchronous="OFF") as memory:
        space = memory.space("alice")
        chats = [await space.session(f"chat {number}") for number in range(150)]
        words: dict[int, list[str]] = {number: [] for number in range(len(chats))}
        for _ in range(2_000):
            number, word = dice.randrange(len(chats)), "".join(dice.choices(LETTERS, k=16))
            await chats[number].append([bethink.Message(role="user", content=f"{word} {'x' * dice.randrange(300)}")])
            words[number].append(word)
        gone = dice.sample(sorted(words), 100)
        for number in gone:
            await space.forget(conversation=f"chat {number}")

        assert not left(path, [word for number in gone for word in words[number]])
        assert not await memory.admin.erasures.list()
