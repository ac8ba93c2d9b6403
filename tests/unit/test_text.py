import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.errors import InvalidRequestError
from bethink.model.text import canonical_json, clean

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=[]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(ANY_TEXT)
def test_clean_text_has_no_nul_and_can_be_encoded(text: str) -> None:
    cleaned = clean(text)

    assert "\0" not in cleaned
    cleaned.encode()
    assert clean(cleaned) == cleaned


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert clean(text) == text


def test_surrogate_pair_becomes_its_character() -> None:
    assert clean("\ud83d\ude00 and \ud83d") == "😀 and \ufffd"


@given(JSON)
def test_json_is_canonical(value: object) -> None:
    written = canonical_json(value)

    assert canonical_json(json.loads(written)) == written
    assert "\\u0000" not in written


def test_every_string_in_json_is_rewritten_keys_included() -> None:
    assert canonical_json({"a": ["b", {"c": "d"}]}, str.upper) == '{"A":["B",{"C":"D"}]}'


@pytest.mark.parametrize("value", [{"x": float("nan")}, {1: "x"}, b"bytes", {"x": object()}])
def test_non_json_value_is_rejected_with_a_hint(value: object) -> None:
    with pytest.raises(InvalidRequestError, match="finite numbers"):
        canonical_json(value)


def test_nesting_has_an_end() -> None:
    deep: object = "x"
    for _ in range(33):
        deep = [deep]

    with pytest.raises(InvalidRequestError, match="nested too deeply"):
        canonical_json(deep)


def test_value_is_redacted_with_its_key_in_place() -> None:
    def hide(text: str) -> str:
        return text.replace("password=kestrel", "password=[hidden]")

    assert (
        canonical_json({"password": "kestrel", "bird": "kestrel"}, hide) == '{"bird":"kestrel","password":"[hidden]"}'
    )
    assert canonical_json({"a": "b c", "k": "v"}, str.upper) == '{"A":"B C","K":"V"}'
