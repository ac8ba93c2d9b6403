"""Ask a model about one session: every usable answer is recorded before it is used, and every call is charged."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from anyio import CancelScope

from bethink.errors import InvalidRequestError, ModelError, ModelResponseError
from bethink.extend import Model, Redactor
from bethink.memory.learning.extraction import claims, second
from bethink.memory.learning.extraction.accounts import Account, UsableAnswer
from bethink.memory.learning.extraction.answer import loads
from bethink.memory.learning.extraction.claim_ids import merge_answers, with_fact_ids
from bethink.memory.learning.extraction.validation import ClaimValidator
from bethink.memory.learning.model_use import one_line, redact_text
from bethink.memory.learning.prompts import SystemPrompt, builtin_prompt
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.facts import Fact
from bethink.model.jobs import Usage
from bethink.model.prices import Prices
from bethink.model.text import canonical_json

SECOND_PROMPT = "second-3"
_ANSWER_TOKENS = 8_192
_SECOND_TOKENS = 4_096
_MAX_LISTED = 10


@dataclass(slots=True, kw_only=True)
class Asker:
    """Asks about one session. Calls are charged to an account even if their answers are unusable."""

    redactor: Redactor
    prices: Prices
    account: Account
    prompt: SystemPrompt
    """The system prompt that asks for claims."""
    own_kinds: Sequence[str] = ()
    """Kinds of facts that the space defines in addition to the built-in ones."""
    _usage: Usage = field(default_factory=Usage, init=False)
    _last_model: str = field(default="unnamed", init=False)
    """The model that answered last."""

    async def ask_claims(
        self,
        model: Model,
        text: str,
        make_validator: Callable[[claims.ExtractionAnswer], ClaimValidator],
        known_facts: Sequence[Fact],
    ) -> tuple[str, str]:
        """Ask for the claims of a session and record them; return the claims and the name of the model.

        If quotes are not in their messages, the claims are requested once more, with a list of these quotes.
        """
        call = ModelCall(
            system=self.prompt.text,
            prompt=redact_text(self.redactor, text),
            schema=claims.schema(*self.own_kinds),
            schema_name="claims",
            max_tokens=min(_ANSWER_TOKENS, model.window // 4),
        )

        async def ask() -> tuple[str, str]:
            content, name = await self._ask_usable(model, call, self._parse)
            content = await self._request_missing_quotes(model, call, content, make_validator)
            return canonical_json(with_fact_ids(loads(content), known_facts)), name

        content, name = await self._charge_on_failure(ask())
        await self._record(UsableAnswer(content=content, model=name, prompt=self.prompt.name, position=0))
        return content, name

    async def ask_verdicts(self, model: Model, text: str, count: int, *, closer: bool = False) -> str:
        """Ask for the second reading of some claims, or for a closer one of doubted claims; record it."""
        call = ModelCall(
            system=builtin_prompt(SECOND_PROMPT).text,
            prompt=redact_text(self.redactor, text),
            schema=second.SCHEMA,
            schema_name="verdicts",
            max_tokens=min(_SECOND_TOKENS, model.window // 4),
        )
        content, name = await self._charge_on_failure(
            self._ask_usable(model, call, lambda text: second.parse(text, count))
        )
        await self._record(UsableAnswer(content=content, model=name, prompt=SECOND_PROMPT, position=2 if closer else 1))
        return content

    async def _ask_usable(
        self, model: Model, call: ModelCall, parse: Callable[[str], object]
    ) -> tuple[str, str]:  # fmt: skip
        """Ask, twice if the first answer is unusable. Return the answer as it is stored, and the model's name."""
        answer = await self._answer(model, call)
        try:
            content = self._content(answer, parse)
        except ModelResponseError as problem:
            # The broken answer is not included: a model that sees it tends to repeat it.
            complaint = f"Your last answer could not be used: {problem} Answer again, with the JSON object only."
            answer = await self._answer(model, replace(call, prompt=f"{call.prompt}\n\n{complaint}"))
            content = self._content(answer, parse)
        return content, one_line(self.redactor, answer.model) or "unnamed"

    async def _request_missing_quotes(
        self,
        model: Model,
        call: ModelCall,
        content: str,
        make_validator: Callable[[claims.ExtractionAnswer], ClaimValidator],
    ) -> str:
        """Ask once more for the claims whose quotes are not in their messages, and replace them."""
        tree = loads(content)
        validator = make_validator(self._parse(content))
        valid: dict[int, object] = {}
        missing: list[claims.DraftQuote] = []
        for position, entry in enumerate(tree["claims"]):
            draft = claims.draft(entry, self.own_kinds)
            unquoted = [] if draft is None else validator.missing(draft)
            missing += unquoted
            if not unquoted:
                valid[position] = entry
        if not missing:
            return content
        listed = "\n".join(f"[{quote.message}] {quote.text}" for quote in missing[:_MAX_LISTED])
        complaint = (
            f"These quotes are not in their messages:\n{listed}\nAnswer again with those claims only, their quotes "
            "copied character for character, and leave out what you cannot quote. `c1` is the first of them."
        )
        try:
            answer = await self._answer(model, replace(call, prompt=f"{call.prompt}\n\n{complaint}"))
            again = loads(self._content(answer, self._parse))["claims"]
        except ModelError:
            return content  # the other claims are paid for; the validator rejects these with a reason
        return json.dumps({**tree, "claims": merge_answers(tree["claims"], valid, again)}, ensure_ascii=False)

    def _parse(self, text: str) -> claims.ExtractionAnswer:
        return claims.parse(text, self.own_kinds)

    async def _answer(self, model: Model, call: ModelCall) -> ModelAnswer:
        answer = await model.answer(call)
        self._usage += self.prices.usage(call, answer)
        self._last_model = one_line(self.redactor, answer.model) or "unnamed"
        return answer

    def _content(self, answer: ModelAnswer, parse: Callable[[str], object]) -> str:
        """Return a usable answer as it is stored: redacted, as canonical JSON. Raises `ModelResponseError`."""
        if answer.stop is Stop.REFUSED:
            raise ModelResponseError("The model refused to answer.")
        if answer.stop is Stop.LENGTH:
            raise ModelResponseError("The answer was cut off. Send a shorter one.")
        try:
            content = canonical_json(loads(answer.text), partial(redact_text, self.redactor))
        except InvalidRequestError:
            raise ModelResponseError("The answer is nested too deeply.") from None
        parse(content)
        return content

    async def _record(self, answer: UsableAnswer) -> None:
        usage, self._usage = self._usage, Usage()
        await self.account.charge(usage, self._last_model, answer)

    async def _charge_on_failure(self, asking: Awaitable[tuple[str, str]]) -> tuple[str, str]:
        """Await answers, and charge for the calls even if the answers are unusable."""
        try:
            return await asking
        except BaseException:
            usage, self._usage = self._usage, Usage()
            if usage.calls:
                with CancelScope(shield=True):
                    await self.account.charge(usage, self._last_model)
            raise
