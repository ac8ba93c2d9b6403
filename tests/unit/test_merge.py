"""The merge of several spaces is a pure function of a request and the answers."""

from datetime import UTC, datetime

import pytest

from bethink.memory.recall.context_lines import write_block
from bethink.memory.recall.merge import merge_for, no_match_note
from bethink.model.facts import Fact, SourceMessage
from bethink.model.kinds import FactKind, OwnKind
from bethink.model.operations.memory import CONTEXT, RECALL, ContextRequest, RecallRequest
from bethink.model.recall import Candidate, Certainty, ContextBlock, Excerpt, Fate, Match, RecallResult
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
USER = Origin("user")


def item(text: str, score: float = 0.5, *, number: int = 1, **more: object) -> Match:
    fields: dict[str, object] = {"tokens": 5, "certainty": Certainty.FAIR, "probability": score, **more}
    ref = Ref(RefKind.MESSAGE, f"ses_{text[:8]}", number)
    return Match(ref=ref, text=text, origin=USER, said_at=NOON, score=score, label="abc234", **fields)  # pyright: ignore[reportArgumentType]


def answer(*items: Match, missing: str | None = None) -> RecallResult:
    candidates = tuple(
        Candidate(
            ref=each.ref, text=each.text, signals={}, score=each.score, ranks={}, fate=Fate.SHOWN,
            confidential=each.confidential,
        )
        for each in items
    )  # fmt: skip
    return RecallResult(question="tea?", items=items, note=missing, candidates=candidates)


def merged(request: RecallRequest, **answers: RecallResult) -> RecallResult:
    merge = merge_for(RECALL, request, tuple(answers))
    for space, recall in answers.items():
        assert merge.next_request() == request
        merge.add(space, recall)
    return merge.result()


def merged_blocks(budget: int | None, **blocks: ContextBlock) -> tuple[ContextBlock, list[int | None]]:
    merge = merge_for(CONTEXT, ContextRequest(budget=budget), tuple(blocks))
    budgets: list[int | None] = []
    for space, block in blocks.items():
        budgets.append(merge.next_request().budget)
        merge.add(space, block)
    return merge.result(), budgets


def block(*items: Match, space: str = "a") -> ContextBlock:
    return ContextBlock(
        text=write_block(items, space=space, citations=True),
        tokens=40 + sum(each.tokens for each in items),
        items=items,
    )


ASK = RecallRequest(question="tea?", limit=3)


def test_equal_scores_keep_the_order_of_the_spaces() -> None:
    recall = merged(ASK, b=answer(item("one"), item("two", 0.4)), a=answer(item("three"), item("four", 0.45)))

    assert [(each.space, each.text) for each in recall.items] == [("b", "one"), ("a", "three"), ("a", "four")]
    assert [each.fate for each in recall.candidates] == [Fate.SHOWN, Fate.SHOWN, Fate.SHOWN, Fate.BEYOND_LIMIT]
    assert (recall.tokens, recall.certainty) == (15, Certainty.FAIR)


def test_one_space_is_merged_to_its_own_answer() -> None:
    items = (item("one", 0.9), item("two", 0.9), item("one", 0.4, number=2))
    recall = merged(RecallRequest(question="tea?", budget=15), a=answer(*items, missing="no vectors yet"))

    assert [each.ref for each in recall.items] == [each.ref for each in items]
    assert recall.note == "no vectors yet"


def test_budget_skips_a_long_item_for_a_short_one() -> None:
    request = RecallRequest(question="tea?", budget=9)
    recall = merged(request, a=answer(item("one", 0.9)), b=answer(item("two", 0.8), item("three", 0.7, tokens=4)))

    assert [each.text for each in recall.items] == ["one", "three"]
    assert [each.fate for each in recall.candidates] == [Fate.SHOWN, Fate.OVER_BUDGET, Fate.SHOWN]


def test_same_words_in_two_spaces_are_shown_once() -> None:
    first = item("The tea is green.", 0.9)
    recall = merged(ASK, a=answer(first), b=answer(item("the tea is green", 0.8, number=2)))

    assert [each.space for each in recall.items] == ["a"]
    assert [(each.fate, each.because_of) for each in recall.candidates] == [
        (Fate.SHOWN, None),
        (Fate.DUPLICATE, first.ref),
    ]


def test_superseded_words_do_not_hide_current_ones() -> None:
    old = item("The tea is green.", 0.9, replaced_by=Ref(RefKind.FACT, "f1", 1))
    recall = merged(ASK, a=answer(old), b=answer(item("The tea is green.", 0.8)))

    assert [each.space for each in recall.items] == ["a", "b"]


def test_confidential_items_and_quotes_are_not_passed_on() -> None:
    quotes = [
        Excerpt(source=SourceMessage("ses_1", number), text=text, origin=USER, said_at=NOON, confidential=number == 1)
        for number, text in ((1, "secret"), (2, "open"))
    ]
    open_item = item("open fact", 0.4, excerpts=tuple(quotes))
    recall = merged(ASK, a=answer(item("secret", 0.9, confidential=True), open_item), b=answer())

    assert [each.text for each in recall.items] == ["open fact"]
    assert [quote.text for quote in recall.items[0].excerpts] == ["open"]
    assert [each.text for each in recall.candidates] == ["open fact"]


def test_only_confidential_items_look_like_no_match() -> None:
    secret = answer(item("secret", confidential=True))

    assert merged(ASK, a=secret, b=answer(missing="No match by words.")).note == no_match_note(ASK)
    assert merged(ASK, a=secret, b=answer(item("one"))).note is None


@pytest.mark.parametrize(
    ("first", "second", "missing"),
    [
        (answer(missing="Why."), answer(missing="Why."), "Why."),
        (answer(missing="Why."), answer(missing="How."), "a: Why. b: How."),
        (answer(missing="Why."), answer(item("one")), None),
        (answer(item("two"), missing="No vectors."), answer(item("one")), "a: No vectors."),
    ],
)
def test_notes_name_their_space_if_they_differ(first: RecallResult, second: RecallResult, missing: str | None) -> None:
    assert merged(ASK, a=first, b=second).note == missing


def test_unused_budget_passes_to_the_next_space() -> None:
    line = item("one", section="Known", tokens=20)
    _, budgets = merged_blocks(300, a=block(line), b=ContextBlock(), c=block(line))

    assert budgets == [100, 120, 240]


def test_merged_block_is_rebuilt_from_public_items() -> None:
    fact = Fact(id="f1", text="x", kind=OwnKind("recipe"), origin=USER, scope="at home", flags=("health",))
    kept = [
        item("Brief", section="Wishes", fact=Fact(id="f2", text="x", kind=FactKind.INSTRUCTION, speaker="Bo")),
        item("Tea", section="Known", fact=fact, number=2),
        item("Old", section="Known", replaced_by=Ref(RefKind.FACT, "f3", 1), speaker="Ann", number=3),
    ]
    secret = item("Hush", section="Secrets", confidential=True, tokens=7)
    alone = block(*kept)

    merged_block, _ = merged_blocks(None, a=block(*kept[:1], secret, *kept[1:]), b=ContextBlock())

    assert merged_block.text == alone.text
    assert merged_block.tokens == alone.tokens
    assert {each.space for each in merged_block.items} == {"a"}


def test_preference_is_not_merged_into_a_tool_line() -> None:
    wish = item("Answer in French", section="Wishes")
    line = item("Answer in French", section="Relevant to the question")

    assert len(merged_blocks(None, a=block(line), b=block(wish, space="b"))[0].items) == 2
    assert len(merged_blocks(None, a=block(wish), b=block(wish, space="b"))[0].items) == 1
