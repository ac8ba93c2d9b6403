"""Ask a model about one session: a usable answer is kept before it is used, and every call is charged."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from anyio import CancelScope

from bethink.errors import BadAnswer, Invalid, ModelError
from bethink.extend import Model, Redactor
from bethink.memory.learning.extraction import claims, second
from bethink.memory.learning.extraction.accounts import Account, Answered
from bethink.memory.learning.extraction.answer import fields_of, loads
from bethink.memory.learning.extraction.gate import Gate
from bethink.memory.learning.extraction.request import short_id
from bethink.memory.learning.model_use import one_line, redacted
from bethink.memory.learning.prompts import SystemPrompt, shipped
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.facts import Fact
from bethink.model.jobs import Usage
from bethink.model.prices import Prices
from bethink.model.text import canonical_json

_SECOND_PROMPT = "second-1"
_ANSWER_TOKENS = 8_192
_SECOND_TOKENS = 4_096
_NAMED = 10


@dataclass(slots=True, kw_only=True)
class Asker:
    """Asks about one session. What its calls cost is charged to an account even if their answers cannot be used."""

    redactor: Redactor
    prices: Prices
    account: Account
    prompt: SystemPrompt
    """What asks for claims."""
    own_kinds: Sequence[str] = ()
    """Kinds of facts that the space has besides those that everyone has."""
    _taken: Usage = field(default_factory=Usage, init=False)
    _asked: str = field(default="unnamed", init=False)
    """The model that answered last."""

    async def ask_claims(
        self, model: Model, text: str, gate: Callable[[claims.Answer], Gate], known: Sequence[Fact]
    ) -> tuple[str, str]:
        """Ask for the claims of a session and record them; return them, and the name of the model.

        Claims with quotes that are not in their messages are asked for once more, naming these quotes.
        """
        call = ModelCall(
            system=self.prompt.text,
            prompt=redacted(self.redactor, text),
            schema=claims.schema(*self.own_kinds),
            schema_name="claims",
            max_tokens=min(_ANSWER_TOKENS, model.window // 4),
        )

        async def ask() -> tuple[str, str]:
            content, name = await self._usable(model, call, self._parse)
            content = await self._quoted_again(model, call, content, gate)
            return canonical_json(_with_ids(loads(content), known)), name

        content, name = await self._charged(ask())
        await self._keep(Answered(content=content, model=name, prompt=self.prompt.name, position=0))
        return content, name

    async def ask_verdicts(self, model: Model, text: str, count: int, *, closer: bool = False) -> str:
        """Ask for the second reading of some claims, or for a closer one of those that code doubts; record it."""
        call = ModelCall(
            system=shipped(_SECOND_PROMPT).text,
            prompt=redacted(self.redactor, text),
            schema=second.SCHEMA,
            schema_name="verdicts",
            max_tokens=min(_SECOND_TOKENS, model.window // 4),
        )
        content, name = await self._charged(self._usable(model, call, lambda text: second.parse(text, count)))
        await self._keep(Answered(content=content, model=name, prompt=_SECOND_PROMPT, position=2 if closer else 1))
        return content

    async def _usable(
        self, model: Model, call: ModelCall, parse: Callable[[str], object]
    ) -> tuple[str, str]:  # fmt: skip
        """Ask, twice if the first answer is unusable. Returns the answer as it is stored, and the model's name."""
        answer = await self._answer(model, call)
        try:
            content = self._content(answer, parse)
        except BadAnswer as problem:
            # The broken answer is not included: a model that sees it tends to repeat it.
            complaint = f"Your last answer could not be used: {problem} Answer again, with the JSON object only."
            answer = await self._answer(model, replace(call, prompt=f"{call.prompt}\n\n{complaint}"))
            content = self._content(answer, parse)
        return content, one_line(self.redactor, answer.model) or "unnamed"

    async def _quoted_again(
        self, model: Model, call: ModelCall, content: str, gate: Callable[[claims.Answer], Gate]
    ) -> str:
        """Ask once more for the claims whose quotes are not in their messages, and put them in place of these."""
        tree = loads(content)
        found = gate(self._parse(content))
        kept: list[object] = []
        missing: list[claims.DraftQuote] = []
        for entry in tree["claims"]:
            draft = claims.draft(entry, self.own_kinds)
            gone = [] if draft is None else found.missing(draft)
            missing += gone
            if not gone:
                kept.append(entry)
        if not missing:
            return content
        named = "\n".join(f"[{quote.message}] {quote.text}" for quote in missing[:_NAMED])
        complaint = (
            f"These quotes are not in their messages:\n{named}\nAnswer again with those claims only, their quotes "
            "copied character for character, and leave out what you cannot quote."
        )
        try:
            answer = await self._answer(model, replace(call, prompt=f"{call.prompt}\n\n{complaint}"))
            again = loads(self._content(answer, self._parse))["claims"]
        except ModelError:
            return content  # the rest is paid for; the gate refuses these, and says why
        more = [entry for entry in again if entry not in kept]  # a model may repeat all of them
        return json.dumps({**tree, "claims": [*kept, *more]}, ensure_ascii=False)

    def _parse(self, text: str) -> claims.Answer:
        return claims.parse(text, self.own_kinds)

    async def _answer(self, model: Model, call: ModelCall) -> ModelAnswer:
        answer = await model.answer(call)
        self._taken += self.prices.usage(call, answer)
        self._asked = one_line(self.redactor, answer.model) or "unnamed"
        return answer

    def _content(self, answer: ModelAnswer, parse: Callable[[str], object]) -> str:
        """Return a usable answer as it is stored: redacted, as canonical JSON. Raises `BadAnswer`."""
        if answer.stop is Stop.REFUSED:
            raise BadAnswer("the model refused to answer.")
        if answer.stop is Stop.LENGTH:
            raise BadAnswer("the answer was cut off; it must be shorter.")
        try:
            content = canonical_json(loads(answer.text), partial(redacted, self.redactor))
        except Invalid:
            raise BadAnswer("the answer is nested too deeply.") from None
        parse(content)
        return content

    async def _keep(self, answer: Answered) -> None:
        taken, self._taken = self._taken, Usage()
        await self.account.take(taken, self._asked, answer)

    async def _charged(self, asking: Awaitable[tuple[str, str]]) -> tuple[str, str]:
        """Wait for answers; if they cannot be used, charge for the calls all the same."""
        try:
            return await asking
        except BaseException:
            taken, self._taken = self._taken, Usage()
            if taken.calls:
                with CancelScope(shield=True):
                    await self.account.take(taken, self._asked)
            raise


def _with_ids(tree: dict[str, Any], known: Sequence[Fact]) -> dict[str, Any]:
    """Replace the short ids of known facts by their own: a recorded answer must mean the same facts later."""
    ids = {short_id(place): fact.id for place, fact in enumerate(known)}
    for entry in tree["claims"]:
        named = fields_of(entry).get("known")
        if isinstance(named, list):
            texts = [name for name in cast("list[object]", named) if isinstance(name, str)]
            entry["known"] = [ids[name] for name in texts if name in ids]
    return tree
