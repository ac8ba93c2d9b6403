"""The memory writer: asked turn by turn, every answer kept before it is acted on, so that a run can be repeated."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import cast

import anyio

from bethink.errors import BadAnswer, Invalid, ModelTimeout
from bethink.extend import Model, Tokens
from bethink.learning.documents.sandbox import SCHEMA, SandboxedTree
from bethink.learning.extraction.answer import loads
from bethink.learning.extraction.transcript import shortened
from bethink.learning.prompts import prompt
from bethink.logs import logger
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.text import canonical_json

PROMPT = "write-1"
_ANSWER_TOKENS = 8_192
_WINDOW = 0.7
_log = logger("learn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a writer may work: turns, calls in one turn, and seconds."""

    turns: int = 12
    calls: int = 40
    seconds: float = 900.0


Keep = Callable[[int, ModelCall, ModelAnswer, str], Awaitable[None]]
"""Stores an answer under its number before it is acted on; the last argument is how it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Works on a bench until it says that it is done. What it may touch is the bench, and nothing else."""

    model: Model
    tokens: Tokens
    cut: Callable[[str], str]
    limits: Limits = Limits()

    async def work(self, bench: SandboxedTree, assignment: str, *, recorded: Sequence[str], keep: Keep) -> None:
        """Let the model work. Answers in `recorded` are acted on first and not asked for again."""
        told = [self.cut(assignment)]
        try:
            with anyio.fail_after(self.limits.seconds):
                for turn in range(self.limits.turns):
                    content = recorded[turn] if turn < len(recorded) else await self._ask(turn, told, keep)
                    if self._act(bench, content, told):
                        return
        except TimeoutError:
            raise ModelTimeout(f"the writer was not done after {self.limits.seconds:.0f} seconds.") from None
        # What it has written by now stands: asking again would only bring the same answers back.
        _log.warning("a writer was not done after %s turns", self.limits.turns)

    @property
    def room(self) -> int:
        """How many tokens an assignment and what comes of it may take."""
        return max(500, int(self.model.window * _WINDOW) - self.tokens.count(prompt(PROMPT)))

    async def _ask(self, turn: int, told: list[str], keep: Keep) -> str:
        call = ModelCall(
            system=prompt(PROMPT),
            prompt=shortened("\n\n".join(told), budget=self.room, tokens=self.tokens),
            schema=SCHEMA,
            schema_name="document_calls",
            max_tokens=min(_ANSWER_TOKENS, self.model.window // 4),
        )
        answer = await self.model.answer(call)
        content = ""
        try:
            content = self._content(answer)
        finally:
            with anyio.CancelScope(shield=True):
                await keep(turn, call, answer, content)
        return content

    def _content(self, answer: ModelAnswer) -> str:
        if answer.stop is not Stop.END:
            raise BadAnswer("the writer's answer was cut off or refused.")
        try:
            content = canonical_json(loads(answer.text), self.cut)
        except Invalid:
            raise BadAnswer("the writer's answer is nested too deeply.") from None
        _calls(content)
        return content

    def _act(self, bench: SandboxedTree, content: str, told: list[str]) -> bool:
        calls, done = _calls(content)
        results = [bench.do(call) for call in calls[: self.limits.calls]]
        if len(calls) > self.limits.calls:
            results.append(f"Only the first {self.limits.calls} calls were carried out.")
        told += [f"You called:\n{content}", "It came to:\n" + "\n---\n".join(results)]
        return done


def _calls(content: str) -> tuple[list[object], bool]:
    tree = loads(content)
    calls, done = tree.get("calls"), tree.get("done")
    if set(tree) != {"calls", "done"} or not isinstance(calls, list) or not isinstance(done, bool):
        raise BadAnswer("the writer's answer is not calls and done.")
    return cast("list[object]", calls), done
