"""Diffs of two versions: computed in bounded time, outside the event loop."""

import time
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink import Memory
from bethink.model import documents
from bethink.model.documents import Document, DocumentDraft, diff_of
from bethink.model.moments import from_micros
from bethink.model.records import Origin
from tests.pace import growth

_ANY = Document(
    id="d",
    version=1,
    slug="d",
    title="D",
    description="",
    body="",
    parent=None,
    links=(),
    mentions=(),
    valid_from=from_micros(1),
    valid_to=None,
    created_at=from_micros(1),
    author=documents.Author(),
    origin=Origin("user"),
)
_LINES = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def hostile(lines: int, between: str) -> str:
    """Lines of which every other one is shared: each makes a match of its own."""
    return "\n".join(f"{chr(65 + number % 55)}\n{between}" for number in range(lines // 2))


def version(number: int, body: str) -> Document:
    return replace(_ANY, version=number, body=body)


def test_diff_time_is_bounded_for_hostile_versions() -> None:
    def compare(lines: int) -> str:
        return diff_of(version(1, hostile(lines, "#")), version(2, hostile(lines, "%")))

    assert growth(compare, 500) < 20
    assert growth(compare, 8_000) < 8
    assert compare(1_000).count("@@") == compare(8_000).count("@@") == 2


def test_diff_of_a_long_text_shows_only_the_change() -> None:
    lines = [f"line {number}" for number in range(5_000)]
    after = [*lines[:2_500], "new", *lines[2_501:]]

    told = diff_of(version(1, "\n".join(lines)), version(2, "\n".join(after)))

    context = [f" line {number}" for number in (2_497, 2_498, 2_499, 2_501, 2_502, 2_503)]
    assert told.splitlines() == [
        *("--- d@1", "+++ d@2", "@@ -2501,7 +2501,7 @@"),
        *(*context[:3], "-line 2500", "+new", *context[3:]),
    ]
    assert not diff_of(version(1, "\n".join(lines)), version(2, "\n".join(lines)))


@given(old=_LINES, new=_LINES)
def test_diff_applies_cleanly_with_and_without_effort_limit(old: list[str], new: list[str]) -> None:
    before, after = version(1, "\n".join(old)), version(2, "\n".join(new))
    many = diff_of(before, after)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_MAX_EFFORT", 0)
        one = diff_of(before, after)

    assert bool(one) == bool(many) == (old != new)
    for told in (one, many):
        assert applied(lines_of(old), told) == lines_of(new)


async def test_versions_are_compared_on_another_thread(memory: Memory) -> None:
    docs = memory.space("alice").documents
    made = await docs.create(DocumentDraft(slug="d", title="D", body=hostile(800, "#")))
    assert made is not None
    other = await docs.update(made.id, DocumentDraft(slug="d", title="D", body=hostile(800, "%")), if_version=1)
    assert other is not None
    begun = time.thread_time()
    here = diff_of(made, other)
    alone = time.thread_time() - begun

    begun = time.thread_time()
    told = await docs.diff(made.id, 1, 2)
    meanwhile = time.thread_time() - begun

    assert told == here
    assert meanwhile < alone / 2


def lines_of(body: list[str]) -> list[str]:
    return ["slug: d", "title: D", "", *"\n".join(body).splitlines()]


def applied(old: list[str], diff: str) -> list[str]:
    """Do to a text what a unified diff says, hunk by hunk."""
    made: list[str] = []
    left = iter(old)
    done = 0
    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (1 if count != "0" else 0)
            made += islice(left, begin - done)
            done = begin
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert next(left) == line[1:]
            made += [line[1:]] if line.startswith(" ") else []
            done += 1
    return [*made, *left]
