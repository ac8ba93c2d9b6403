"""The memory writer: a model is asked turn by turn. Every answer is recorded before it takes effect, for retries."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from typing import NamedTuple, cast

import anyio

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import InvalidRequestError, ModelResponseError, ModelTimeoutError
from bethink.extend import Model, Tokens
from bethink.memory.learning.documents.sandbox import SCHEMA, SandboxedTree
from bethink.memory.learning.extraction.answer import loads
from bethink.memory.learning.extraction.transcript import shorten
from bethink.memory.learning.model_use import prompt_budget
from bethink.memory.learning.prompts import prompt
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.text import JsonObject, canonical_json

PROMPT = "write-1"
PAGES_PROMPT = "write-3"
_ANSWER_TOKENS = 8_192
_log = logger("learn")


@frozen
class Limits:
    """Limits on the work of a writer: turns, calls per turn, and seconds in total."""

    turns: int = 12
    calls: int = 40
    seconds: float = 900.0


Keep = Callable[[int, ModelCall, ModelAnswer, str], Awaitable[None]]
"""Stores the answer of a turn before it takes effect. The last argument is the redacted text to store."""


@frozen
class Writer:
    """Lets a model work on a sandboxed tree, and nothing else, until the model is done."""

    model: Model
    tokens: Tokens
    redact: Callable[[str], str]
    limits: Limits = Limits()
    prompt: str = PROMPT
    schema: JsonObject = field(default_factory=lambda: SCHEMA)

    async def work(
        self, sandbox: SandboxedTree, assignment: str, *, recorded: Sequence[str], keep: Keep, again: str = ""
    ) -> None:  # fmt: skip
        """Let the model work. Answers in `recorded` are replayed first instead of being asked for again.

        A model that was done gets another turn for calls that were refused: it sees only these, with `again` as its
        assignment, if that is given. Raises `ModelResponseError`, `ModelTimeoutError` and other `ModelError`.
        """
        history = [self.redact(assignment)]
        try:
            with anyio.fail_after(self.limits.seconds):
                has_extra_turn = False
                for turn in range(self.limits.turns):
                    content = recorded[turn] if turn < len(recorded) else await self._ask(turn, history, keep)
                    turn_results = self._act(sandbox, content)
                    # One more turn for a model that said it was done before it could see what was refused.
                    if turn_results.done and (has_extra_turn or not turn_results.refused):
                        return
                    has_extra_turn = has_extra_turn or turn_results.done
                    if turn_results.done and again:
                        history = [self.redact(again), *turn_results.only_refused()]
                    else:
                        history += [f"You called:\n{content}", f"It came to:\n{_listed(turn_results.results)}"]
        except TimeoutError:
            raise ModelTimeoutError(
                f"The memory writer did not finish within {self.limits.seconds:.0f} seconds."
            ) from None
        # Keep the pages written so far: a retry would only replay the same answers.
        _log.warning("the memory writer did not finish within %s turns", self.limits.turns)

    @property
    def budget(self) -> int:
        """Token budget for the assignment and the results of calls."""
        return prompt_budget(self.model, self.tokens, prompt(self.prompt))

    async def _ask(self, turn: int, history: list[str], keep: Keep) -> str:
        call = ModelCall(
            system=prompt(self.prompt),
            prompt=shorten("\n\n".join(history), budget=self.budget, tokens=self.tokens),
            schema=self.schema,
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
            raise ModelResponseError("The memory writer refused to answer, or its answer was cut off.")
        try:
            content = canonical_json(loads(answer.text), self.redact)
        except InvalidRequestError:
            raise ModelResponseError("The answer of the memory writer is nested too deeply.") from None
        _calls(content)
        return content

    def _act(self, sandbox: SandboxedTree, content: str) -> "_Results":
        calls, done = _calls(content)
        results: list[str] = []
        refused: list[int] = []
        for position, call in enumerate(calls[: self.limits.calls]):
            failed = sandbox.failed
            results.append(sandbox.do(call))
            refused += [position] if sandbox.failed > failed else []
        if len(calls) > self.limits.calls:
            results.append(f"Only the first {self.limits.calls} calls were carried out.")
        return _Results(calls, results, refused, done)


class _Results(NamedTuple):
    """The calls of a turn with their results, the positions of the refused ones, and whether the model is done."""

    calls: Sequence[object]
    results: Sequence[str]
    refused: Sequence[int]
    done: bool

    def only_refused(self) -> list[str]:
        """Return the refused calls and why."""
        calls = canonical_json([self.calls[position] for position in self.refused])
        return [
            f"You called:\n{calls}",
            f"It came to:\n{_listed([self.results[position] for position in self.refused])}",
        ]


def _listed(results: Sequence[str]) -> str:
    return "\n---\n".join(results)


def _calls(content: str) -> tuple[list[object], bool]:
    tree = loads(content)
    calls, done = tree.get("calls"), tree.get("done")
    if set(tree) != {"calls", "done"} or not isinstance(calls, list) or not isinstance(done, bool):
        raise ModelResponseError("The answer of the memory writer needs exactly the keys `calls` and `done`.")
    return cast("list[object]", calls), done
