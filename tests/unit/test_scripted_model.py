"""The scripted model."""

import itertools

import pytest

from bethink.errors import ConfigurationError, ModelError, ModelTimeoutError
from bethink.extend import Model
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.providers.scripted_model import ScriptedModel

CALL = ModelCall(system="1234", prompt="12345678")


async def test_script_is_returned_line_by_line() -> None:
    answer = ModelAnswer(text="two", model="other")
    model = ScriptedModel(["the first line", answer])

    assert await model.answer(CALL) == ModelAnswer(
        text="the first line", model="scripted", input_tokens=3, output_tokens=3
    )
    assert await model.answer(CALL) is answer


async def test_function_is_called_each_time_and_calls_are_recorded() -> None:
    model = ScriptedModel(lambda call: call.prompt.upper())
    other = ModelCall(system="", prompt="b")

    assert [(await model.answer(call)).text for call in (CALL, other)] == ["12345678", "B"]
    assert model.calls == [CALL, other]


async def test_scripted_error_is_raised_and_the_script_continues() -> None:
    model = ScriptedModel([ModelTimeoutError("too slow."), "there"])

    with pytest.raises(ModelTimeoutError):
        await model.answer(CALL)
    assert (await model.answer(CALL)).text == "there"
    assert len(model.calls) == 2


async def test_a_script_may_be_endless_or_one_line() -> None:
    endless, single = ScriptedModel(itertools.repeat("again")), ScriptedModel("once")

    assert {(await endless.answer(CALL)).text for _ in range(3)} == {"again"}
    assert (await single.answer(CALL)).text == "once"


async def test_the_end_of_a_script_is_a_mistake_and_no_failure_of_a_model() -> None:
    with pytest.raises(ConfigurationError) as caught:
        await ScriptedModel([]).answer(CALL)

    assert not isinstance(caught.value, ModelError)


def test_a_scripted_model_is_a_model() -> None:
    model: Model = ScriptedModel([], name="mine", window=100)

    assert (model.name, model.window) == ("mine", 100)
