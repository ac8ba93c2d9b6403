"""The status of a fact in words, in lists, context lines, MCP lines and on the command line."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bethink.cli.recall import recall_lines
from bethink.mcp.texts import recalled_line
from bethink.memory.recall.context_lines import line_of, write_block
from bethink.model.facts import Fact, FactStatus
from bethink.model.moments import from_micros
from bethink.model.pages import FactEntry
from bethink.model.recall import Lineage, Match, RecallResult
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.status_words import status_mark, status_words

HOME, OSLO = Ref(RefKind.FACT, "home", 1), Ref(RefKind.FACT, "oslo", 1)
MARCH, MAY = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 5, 1, 9, tzinfo=UTC)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
FACT = Fact(id="home", text="I live in Bergen")
MATCH = Match(
    ref=HOME,
    text="I live in Bergen",
    origin=Origin("user"),
    said_at=from_micros(0),
    score=1.0,
    tokens=1,
    label="abc234",
)


def entry(status: FactStatus, fact: Fact = FACT, **fields: object) -> FactEntry:
    return replace(FactEntry(fact=fact, status=status), **fields)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (entry(FactStatus.CURRENT), "current"),
        (entry(FactStatus.UPCOMING, replace(FACT, valid_from=MAY)), "from 2026-05-01"),
        (entry(FactStatus.UPCOMING), "upcoming"),
        (entry(FactStatus.ENDED, replace(FACT, valid_to=NOON)), "until 2026-03-02"),
        (entry(FactStatus.ENDED, replace(FACT, valid_to=MARCH)), "until 2026-03-01"),
        (entry(FactStatus.ENDED, replace(FACT, expires_at=MARCH, valid_to=MAY)), "expired on 2026-03-02"),
        (entry(FactStatus.ENDED), "ended"),
        (
            entry(FactStatus.REPLACED, replace(FACT, valid_to=MARCH), replaced_by=OSLO, replaced_by_text="Oslo\n now"),
            "replaced on 2026-03-02 by: Oslo now",
        ),
        (entry(FactStatus.REPLACED, replace(FACT, replaced_at=MARCH)), "replaced on 2026-03-02"),
        (entry(FactStatus.CORRECTED, replaced_by=OSLO, replaced_by_text="It is 22 km"), "corrected to: It is 22 km"),
        (entry(FactStatus.CORRECTED, replaced_by=OSLO), "corrected to fact:oslo:1"),
        (
            entry(FactStatus.DOUBTFUL, doubted_by=OSLO, doubted_by_text="I live in Oslo", replaced_by_text="x"),
            "in doubt because of: I live in Oslo",
        ),
        (entry(FactStatus.PENDING), "pending review"),
        (replace(MATCH, status=FactStatus.DOUBTFUL, because_of=OSLO), "in doubt because of fact:oslo:1"),
        (replace(MATCH, replaced_by=OSLO), "replaced by fact:oslo:1"),
        (replace(MATCH, status=FactStatus.REPLACED, because_text="x" * 200), f"replaced by: {'x' * 99}…"),
        (Lineage(ref=HOME, text="x", fact=FACT), "current"),
        (replace(MATCH, status=FactStatus.EARLIER, because_of=OSLO, because_text="Oslo"), "earlier; later: Oslo"),
        (replace(MATCH, status=FactStatus.EARLIER), "earlier"),
        (MATCH, ""),
    ],
)
def test_status_words_name_the_date_or_the_cause(item: FactEntry | Match | Lineage, words: str) -> None:
    assert status_words(item) == words
    assert status_mark(item) == ("" if words == "current" else words)


def test_every_line_marks_a_doubtful_match_and_names_the_cause() -> None:
    doubtful = replace(MATCH, status=FactStatus.DOUBTFUL, because_of=OSLO, because_text="I moved, to Oslo (Norway)")

    context_line = line_of(doubtful, space="alice", citations=True)
    mcp_line = str(recalled_line(doubtful))
    cli_lines = [line.text.strip() for line in recall_lines(RecallResult(question="x", items=(doubtful,)))]

    expected = "in doubt because of: I moved to Oslo Norway"  # brackets and commas have a meaning in a line
    assert f"({expected}, user, 1970-01-01)" in context_line
    assert f"({expected}, user, 1970-01-01)" in mcp_line
    assert "in doubt because of: I moved, to Oslo (Norway)" in cli_lines
    assert recalled_line(doubtful).entry.status == "doubtful"


def test_current_match_has_no_mark() -> None:
    current = replace(MATCH, status=FactStatus.CURRENT)

    assert line_of(current, space="alice", citations=False) == "- I live in Bergen (user, 1970-01-01)"
    assert str(recalled_line(current)) == "I live in Bergen (user, 1970-01-01)"
    assert recalled_line(current).entry.status is None


def test_end_of_a_fact_is_written_once() -> None:
    ended = replace(MATCH, status=FactStatus.ENDED, fact=replace(FACT, valid_to=NOON))

    assert line_of(ended, space="alice", citations=False).count("until 2026-03-02") == 1
    assert str(recalled_line(ended)).count("until 2026-03-02") == 1


@pytest.mark.parametrize(("pending", "line"), [(1, "1 item needs review."), (3, "3 items need review.")])
def test_block_ends_with_the_number_of_pending_items(pending: int, line: str) -> None:
    block = write_block([MATCH], space="alice", citations=True, pending=pending)

    assert block.splitlines()[-2] == line  # before the end of the frame
    assert "review" not in write_block([MATCH], space="alice", citations=True)
    assert write_block([], space="alice", citations=True, pending=pending) == ""
