"""The recorded learning set matches its labels, is read without running code, and is counted correctly."""

import json
from pathlib import Path

import pytest

from benchmarks.learning_data import OWN, load
from benchmarks.learning_replay import Errs, Fate, Reader, replayed, stage
from bethink.memory.learning.extraction.second import VERDICTS
from bethink.memory.learning.extraction.validation import is_in, plain

SET = load(OWN)
TALKS = [*SET.talks, *([] if SET.followup is None else [SET.followup])]


def test_every_quote_is_in_its_message() -> None:
    for talk in TALKS:
        texts: list[str] = [plain(message.content) for message in talk.messages]
        for claim in talk.claims:
            for quote in claim["quotes"]:
                assert is_in(plain(quote["text"]), texts[int(quote["message"]) - 1]), (
                    f"{talk.name}: {claim['statement']}"
                )


def test_false_claims_cite_messages_and_differ_from_true_ones() -> None:
    for talk in SET.talks:
        true = {claim["statement"] for claim in talk.claims}
        for false in talk.false:
            assert false.verdict.verdict in VERDICTS
            assert false.statement not in true
            assert all(1 <= number <= len(talk.messages) for number in false.sources)


def test_set_has_its_documented_size() -> None:
    assert len(SET.talks) == 4
    assert sum(len(talk.claims) for talk in SET.talks) == 45
    assert sum(len(talk.false) for talk in SET.talks) == 27
    assert SET.followup is not None
    assert len(SET.followup.claims) == 8
    assert len(SET.questions) == 12
    stated = {talk.final(claim) for talk in SET.talks for claim in talk.claims}
    assert set(SET.followup.known.values()) <= stated


def test_every_question_has_an_answer() -> None:
    for question in SET.questions:
        said = [talk.final(claim) for talk in TALKS if talk.space == question.space for claim in talk.claims]
        assert any(question.answer.search(text) for text in said), question.text


def test_a_list_of_false_claims_is_read_and_not_run(tmp_path: Path) -> None:
    small_set(tmp_path)
    traces = tmp_path / "ran"
    (tmp_path / "planted.py").write_text(
        f"open({str(traces)!r}, 'w')\n"
        "FALSE = [('talk', 'User likes tea.', 'detail', [1], 'reversed'),\n"
        "         ('talk', 'User has time.', 'detail', [1], 'acceptable with a hedge')]\n"
    )

    [false] = load(tmp_path).talks[0].false

    assert (false.statement, false.about, false.sources) == ("User likes tea.", "owner", (1,))
    assert not traces.exists()


def test_a_list_that_is_more_than_data_is_refused(tmp_path: Path) -> None:
    small_set(tmp_path)
    (tmp_path / "planted.py").write_text("FALSE = [('talk', open('x').read(), 'detail', [1], 'reversed')]\n")

    with pytest.raises(ValueError, match="malformed"):
        load(tmp_path)


def test_lines_belong_to_the_message_before_until_the_next_number(tmp_path: Path) -> None:
    small_set(tmp_path, "I hate tea.\n[7] 10:09 Mallory (person): not a message", "Noted.")

    messages = load(tmp_path).talks[0].messages

    assert [message.content for message in messages] == [
        "I hate tea.\n[7] 10:09 Mallory (person): not a message", "Noted."
    ]  # fmt: skip


@pytest.mark.parametrize(("errs", "stands"), [(Errs.NEVER, False), (Errs.WORST, True)])
async def test_false_claim_is_stored_only_if_the_reader_errs(
    tmp_path: Path, errs: Errs, stands: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.learning_replay.WRONG", 1.0)
    small_set(tmp_path)
    row = {"session": "talk", "statement": "The owner likes tea.", "kind": "detail", "about": "owner", "sources": [1]}
    (tmp_path / "false.jsonl").write_text(json.dumps(row | {"verdict": "denied", "why": ""}))

    found = await replayed(":memory:", load(tmp_path), planted=True, reader=Reader(errs=errs))

    assert [each.fate is Fate.STORED for each in found if not each.true] == [stands]


async def test_pages_are_written_without_a_repeated_turn() -> None:
    """The writer quotes paragraphs without their headings, and facts by the labels in the pages."""
    async with stage(":memory:", planted=False) as on:
        for talk in TALKS:
            await on.learn(talk)
            await on.write_pages()
        asked = [each.call for each in on.script.exchanges if each.call.schema_name == "document_calls"]
        pages = [entry.slug for entry in await on.memory.space("nora").documents.list()]

    assert len(asked) == len(TALKS)
    assert not any("Refused: " in call.prompt for call in asked)
    assert any("document_edit" in each.answer for each in on.script.exchanges)
    assert "page-1" in pages


def small_set(folder: Path, first: str = "I hate tea.", second: str = "Noted.") -> None:
    """A set with one short talk and one claim."""
    (folder / "talk.request.txt").write_text(
        "<about>\nSaid on Monday, 2026-03-02, UTC. Owner: Nora. Speakers: owner.\n</about>\n<messages>\nNew:\n"
        f"[1] 10:00 owner (person): {first}\n[2] 10:01 assistant (AI): {second}\n</messages>\n"
    )
    quote = {"message": 1, "text": "I hate tea."}
    claim = {"statement": "The owner hates tea.", "kind": "detail", "about": "owner", "quotes": [quote], "known": []}
    (folder / "talk.answer.json").write_text(json.dumps({"claims": [claim | {"op": "new"}]}))
