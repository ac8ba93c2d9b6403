import sys

import pytest

from bethink.errors import ConfigurationError
from bethink.providers.exact_tokens import ExactTokens


@pytest.mark.spec("S3.57")
@pytest.mark.parametrize(("encoding", "text", "tokens"), [("o200k_base", "hello world", 2), ("cl100k_base", "", 0)])
def test_tokens_can_be_counted_exactly_in_a_models_own_vocabulary(encoding: str, text: str, tokens: int) -> None:
    assert ExactTokens(encoding).count(text) == tokens


def test_text_that_looks_like_a_special_token_is_counted_like_any_other() -> None:
    assert ExactTokens().count("<|endoftext|>") > 1


def test_unknown_vocabulary_or_missing_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="Unknown vocabulary"):
        ExactTokens("klingon")
    monkeypatch.setitem(sys.modules, "toktok", None)
    with pytest.raises(ConfigurationError, match=r"bethink\[tokens\]"):
        ExactTokens()
