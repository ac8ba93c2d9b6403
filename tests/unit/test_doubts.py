import pytest

from bethink.memory.learning.extraction.claims import DraftClaim, DraftQuote
from bethink.memory.learning.extraction.doubts import doubt
from bethink.model.kinds import FactKind


def doubted(said: str, statement: str, *, quote: str = "", after: str = "", stance: str = "said") -> str:
    claim = DraftClaim(
        statement=statement, kind=FactKind.DETAIL, quotes=(DraftQuote(1, quote or said),), about="owner", stance=stance
    )
    return doubt(claim, {1: said, 2: after}, {1: after}, own=True)


@pytest.mark.parametrize(
    ("said", "quote", "statement"),
    [
        ("I don't eat mushrooms.", "eat mushrooms", "Greta eats mushrooms."),
        ("I eat mushrooms.", "", "Greta does not eat mushrooms."),
        ("Wenn ich reich wäre, würde ich segeln.", "würde ich segeln", "Anna segelt."),
        ("Should we move to Oslo?", "move to Oslo", "Greta moves to Oslo."),
        ("Früher war ich bei der Feuerwehr.", "war ich bei der Feuerwehr", "Torben ist bei der Feuerwehr."),
        ("我以前住在学校旁边。", "住在学校旁边", "贺兰住在学校旁边。"),
        ("My flatmate hates coriander.", "hates coriander", "Amara hates coriander."),
        ("I had to translate “I own two goats”.", "I own two goats", "Wanda owns two goats."),
        ("Great, another power cut, I love it.", "I love it", "Sibyl loves power cuts."),
    ],
)
def test_a_sign_around_a_quote_that_the_statement_lacks_is_a_doubt(said: str, quote: str, statement: str) -> None:
    assert doubted(said, statement, quote=quote)


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("I live in Bergen.", "Mira lives in Bergen."),
        ("Ich esse keine Pilze.", "Greta isst keine Pilze."),
        ("We use uv here, not pip.", "Mira uses uv."),
        ("Vivo en Valencia.", "Lucía vive en Valencia."),
        ("我住在成都。", "小伟住在成都。"),
    ],
)
def test_plain_statement_is_not_doubted(said: str, statement: str) -> None:
    assert not doubted(said, statement)


def test_statement_corrected_in_the_next_message_is_doubted() -> None:
    assert doubted("The number is 77120.", "The number is 77120.", after="Sorry, typo: 77210.") == "sorry"
    assert not doubted("The number is 77120.", "The number is 77120.", after="It came today.")


def test_planned_claim_may_be_hypothetical() -> None:
    assert not doubted("If it rains, I stay.", "Mira stays in the rain.", stance="planned")


def test_quote_with_far_more_than_needed_is_doubted() -> None:
    assert doubted("One. Two. Three. I live in Bergen.", "Mira lives in Bergen.")
