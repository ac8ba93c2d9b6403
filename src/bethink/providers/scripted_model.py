"""A model with scripted answers, for tests and replays."""

from collections.abc import Callable, Iterable

from anyio.lowlevel import checkpoint

from bethink.errors import ConfigurationError
from bethink.model.calls import ModelAnswer, ModelCall

_PIECE = 7
Line = str | ModelAnswer | Exception


class ScriptedModel:
    """Answers from a script, or with the result of a function, and records every call in `calls`.

    An exception in the script is raised. A single string is a script with one answer.
    """

    def __init__(
        self, answer: Callable[[ModelCall], Line] | Iterable[Line], *, name: str = "scripted", window: int = 32_000
    ) -> None:
        self.calls: list[ModelCall] = []
        self.name = name
        self.window = window
        self._line = answer if callable(answer) else _reader(answer)

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the next answer. At the end, raise `ConfigurationError`, which is not treated as a model failure."""
        await checkpoint()
        self.calls.append(call)
        line = self._line(call)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, ModelAnswer):
            return line
        return ModelAnswer(
            text=line,
            model=self.name,
            input_tokens=(len(call.system) + len(call.prompt)) // 4,
            output_tokens=len(line) // 4,
        )

    async def stream(self, call: ModelCall, on_text: Callable[[str], None]) -> ModelAnswer:
        """Return the next answer after sending it in pieces of a few characters."""
        answer = await self.answer(call)
        for start in range(0, len(answer.text), _PIECE):
            on_text(answer.text[start : start + _PIECE])
            await checkpoint()
        return answer


def _reader(script: Iterable[Line]) -> Callable[[ModelCall], Line]:
    lines = iter([script] if isinstance(script, str) else script)

    def next_line(_: ModelCall) -> Line:
        for line in lines:
            return line
        raise ConfigurationError(
            "The script has no more answers.", hint="Pass more answers to `ScriptedModel`, or a function."
        )

    return next_line
