"""Rules run only where a hint occurs: no hint may hide a match of its rule."""

import pytest

from benchmarks.redaction_strangers import HALVES, strangers
from bethink.providers import redaction_rules, redaction_tokens
from bethink.providers.redaction_hints import Hints, Index, Lowered
from bethink.providers.redaction_rules import find_secrets
from tests.unit.hostile import beginnings, rule_patterns

TEXTS = [
    *(sample.text for half in HALVES for family in strangers(half).values() for sample in family if sample.secret),
    *(text for pattern in rule_patterns() for text in beginnings(pattern)),
]


class EveryPlace:
    """An index that leaves no rule out."""

    def __init__(self, count: int) -> None:
        self.count = count

    def positions_in(self, _: Lowered) -> list[int]:
        return list(range(self.count))


def test_hint_matches_in_any_case_and_position() -> None:
    hints = Hints("key ", "@", "şifre")

    assert Lowered("the KEY is").has(hints)
    assert Lowered("kim@home").has(hints)
    assert Lowered("Şifre").has(hints)
    assert not Lowered("keys and şif re").has(hints)


def test_an_index_returns_the_rules_in_their_order() -> None:
    index = Index([Hints("one", "two"), Hints("three"), Hints("@"), Hints("two words")])

    assert index.positions_in(Lowered("Two words @ one")) == [0, 2, 3]


def test_hints_never_hide_matches_of_their_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    with_hints = [_places(text) for text in TEXTS]

    def has(*_: object) -> bool:
        return True

    monkeypatch.setattr(Lowered, "has", has)
    for module, rules in ((redaction_rules, "_IDIOMS"), (redaction_tokens, "_SHAPED")):
        monkeypatch.setattr(module, "_INDEX", EveryPlace(len(vars(module)[rules])))

    differ = [text for text, found in zip(TEXTS, with_hints, strict=True) if _places(text) != found]
    assert differ == []


def _places(text: str) -> list[tuple[int, int]]:
    return [(start, end) for start, end, _ in find_secrets(text)]
