"""Mistakes in Python code get an error that says what to write instead."""

from collections import Counter

import pytest

import bethink
from bethink.errors import BethinkError, ConfigurationError, InvalidRequestError
from bethink.host.codec import adapter
from bethink.model.jobs import LearnReport, Outcome
from bethink.testing import ScriptedModel


def test_with_instead_of_async_with_is_explained() -> None:
    with pytest.raises(TypeError, match="async with"), bethink.connect(":memory:"):  # pyright: ignore[reportGeneralTypeIssues]
        pass


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://memory.example.com"])
def test_settings_of_a_server_are_rejected_in_its_client(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"Only the server can have these settings: `daily_budget`, `model`\."):
        bethink.connect(url, api_key="k", model="openai:x", daily_budget=1)
    with pytest.raises(ConfigurationError, match="`model`"):
        bethink.connect(url, api_key="k", model=ScriptedModel(lambda _: ""))
    bethink.connect(url, api_key="k", timeout=3)


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"model": "opnai:gpt-5"}, "Did you mean openai:gpt-5?"),
        ({"model": "gpt-5"}, "PROVIDER is one of anthropic, openai, pydantic-ai"),
        ({"modle": "openai:gpt-5"}, "Did you mean model?"),
    ],
)
def test_misspelled_setting_gets_a_suggestion(settings: dict[str, object], hint: str) -> None:
    with pytest.raises(ConfigurationError) as rejected:
        bethink.connect(":memory:", **settings)  # pyright: ignore[reportArgumentType]

    assert hint in rejected.value.hint


def test_message_of_an_error_leaves_out_the_hint() -> None:
    error = BethinkError("It failed.", hint="Try again.")

    assert (error.message, error.hint, str(error)) == ("It failed.", "Try again.", "It failed. Try again.")


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (3, "`messages` must be text or a list of messages, not int."),
        ([{"role": "user", "contnt": "tea"}], "A message has no field 'contnt'."),
    ],
)
async def test_value_that_is_not_a_message_is_explained(messages: object, said: str) -> None:
    memory = bethink.connect(":memory:", enabled=False)

    with pytest.raises(InvalidRequestError) as rejected:
        await memory.space("alice").remember(messages)  # pyright: ignore[reportArgumentType]

    assert rejected.value.message == said


def test_learn_report_sums_itself_up() -> None:
    report = LearnReport()
    assert str(report) == "Nothing new was learned."
    report.count(Outcome.SUCCEEDED, settled=Counter(added=3, embedded=5), for_review={}, refused={})

    assert str(report) == "Learned 3 facts, indexed 5 texts."
    assert {type(name) for name in (*report.outcomes, *report.settled)} == {str}
    sent = adapter(LearnReport)
    assert repr(sent.validate_json(sent.dump_json(report))) == repr(report)


@pytest.mark.parametrize(("model", "variable"), [("openai:x", "OPENAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY")])
async def test_learning_without_an_api_key_names_what_to_set(
    model: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (variable, "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    async with bethink.connect(":memory:", model=model, learn_in_background=False) as memory:
        with pytest.raises(ConfigurationError, match=rf"Set {variable}, or `model_base_url`"):
            await memory.learn()
