import re

import pytest

from bethink.errors import ModelUnavailableError
from bethink.features.agent_databases.line_extraction import LineExtractor, NopExtractor
from bethink.providers.redaction import SecretRedactor
from bethink.providers.scripted_model import ScriptedModel
from tests.conftest import Quiet


async def facts(text: str) -> list[str]:
    found = await LineExtractor(ScriptedModel([text]), redactor=Quiet()).extract("ses_1", "hi", "hello")
    return [fact.text for fact in found]


@pytest.mark.spec("S4.28")
async def test_each_exchange_is_put_to_the_model_with_the_prompt() -> None:
    model = ScriptedModel(["NONE"])

    await LineExtractor(model, redactor=Quiet()).extract("ses_1", "I like tea.", "Noted.")

    [call] = model.calls
    assert "extract important facts about the user" in call.system
    assert "one fact per line" in call.system
    assert '"NONE"' in call.system
    assert call.prompt == "User: I like tea.\n\nAssistant: Noted."


@pytest.mark.spec("S4.29", "S4.30", "S4.31")
async def test_every_line_is_a_fact_without_its_bullet_and_none_means_no_facts() -> None:
    assert await facts("- User likes tea\n* User is Alice\n12. User lives in Bergen\n\n  plain  \nNONE\n-- kept") == [
        "User likes tea",
        "User is Alice",
        "User lives in Bergen",
        "plain",
        "-- kept",
    ]
    assert await facts("NONE") == []
    assert await facts("") == []


@pytest.mark.spec("S4.32", "S4.33", "S4.27")
async def test_fact_id_has_time_index_and_sequence() -> None:
    extractor = LineExtractor(ScriptedModel(lambda _: "one\ntwo"), redactor=Quiet())

    found = [*await extractor.extract("ses_1", "a", "b"), *await extractor.extract("ses_1", "a", "b")]

    assert len({fact.id for fact in found}) == 4
    for place, fact in enumerate(found):
        stamp, index, sequence = re.fullmatch(r"(\d{19})-(\d+)-(\d+)", fact.id).groups()  # pyright: ignore[reportOptionalMemberAccess]
        assert int(index) == place % 2
        assert int(sequence) > 0
        assert int(stamp) > 1.7e18
        assert fact.source == "ses_1"


@pytest.mark.spec("S4.34")
async def test_nop_extractor_learns_nothing() -> None:
    assert await NopExtractor().extract("ses_1", "I like tea.", "Noted.") == []


async def test_model_errors_reach_the_caller_and_secrets_are_redacted() -> None:
    with pytest.raises(ModelUnavailableError):
        await LineExtractor(ScriptedModel([ModelUnavailableError("no")]), redactor=Quiet()).extract("s", "a", "b")
    secret = "ghp_" + "a1B2" * 9
    model = ScriptedModel([f"User's key is {secret}"])

    [fact] = await LineExtractor(model, redactor=SecretRedactor(b"k")).extract("s", f"key {secret}", "b")

    assert secret not in model.calls[0].prompt + fact.text
