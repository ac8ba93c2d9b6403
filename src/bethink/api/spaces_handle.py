"""Asks several spaces the same, each under its own right, and merges the answers: one ranking within one budget."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from bethink.api.handles import Handle
from bethink.errors import BethinkError
from bethink.host.backend import Backend
from bethink.model.operations.base import RequestT, ResultT, Verb
from bethink.model.operations.memory import CONTEXT, ContextRequest, RecallRequest
from bethink.model.recall import Block, Candidate, Fate, Recall, Recalled, Ref, RefKind, most_certain
from bethink.model.rules import confidential

Answers = Sequence[tuple[str, Recall]]
"""What each space answered, in the order in which the spaces were named."""
_BLANK = re.compile(r"\n{3,}")


class SpacesHandle(Handle):
    """A handle on several spaces. No transaction spans two of them: each is read by itself, in the order given."""

    def __init__(self, backend: Backend, names: tuple[str, ...]) -> None:
        super().__init__(backend)
        self._names = names

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the spaces."""
        return self._names

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._names))})"

    async def _run(self, verb: Verb[RequestT, ResultT], request: RequestT) -> ResultT:
        if verb.name == CONTEXT.name:
            return cast("ResultT", await self._context(cast("ContextRequest", request)))
        found = [(name, cast("Recall", await self._ask(verb, name, request))) for name in self._names]
        return cast("ResultT", merged(cast("RecallRequest", request), found))

    async def _ask(self, verb: Verb[RequestT, ResultT], name: str, request: RequestT) -> ResultT:
        try:
            return await self._backend.run(verb, name, request)
        except BethinkError as error:
            error.args = (f"space {name!r}: {error.args[0]}",)
            raise

    async def _context(self, request: ContextRequest) -> Block:
        """Give each space an equal share of the budget; what one leaves goes to those after it."""
        from bethink.memory.recall.tuning import TUNING  # noqa: PLC0415 - most programs ask one space

        left = TUNING.context_budget if request.budget is None else request.budget
        blocks: list[Block] = []
        for place, name in enumerate(self._names):
            share = max(1, left // (len(self._names) - place))
            block = await self._ask(CONTEXT, name, replace(request, budget=share))
            left -= block.tokens
            block = _told_to_all(block)
            blocks.append(replace(block, items=tuple(replace(item, space=name) for item in block.items)))
        text = "\n\n".join(block.text for block in blocks if block)
        return Block(
            text=text,
            tokens=sum(block.tokens for block in blocks),
            items=tuple(item for block in blocks for item in block.items),
            digest=hashlib.blake2b(text.encode(), digest_size=16).hexdigest() if text else "",
        )


def merged(request: RecallRequest, answers: Answers) -> Recall:
    """Return one answer: the best of all, the space named first where scores are equal."""
    answers = [(name, _told(found)) for name, found in answers]
    ranked = sorted(
        (replace(item, space=name) for name, found in answers for item in found.items), key=lambda item: -item.score
    )
    shown: list[Recalled] = []
    dropped: dict[tuple[str, str], Fate] = {}
    spent = 0
    for item in ranked:
        fate = _fate(request, item, len(shown), spent)
        if fate is None:
            shown.append(item)
            spent += item.tokens
        else:
            dropped[item.space, str(item.ref)] = fate
    return Recall(
        question=request.question,
        items=tuple(shown),
        certainty=most_certain(shown),
        tokens=spent,
        budget=request.budget,
        as_of=request.as_of,
        missing=_missing(answers),
        candidates=_candidates(answers, dropped),
    )


def _told(found: Recall) -> Recall:
    """Return an answer without what was said in confidence, and without the messages that say it.

    What several spaces answer together may be read by more people than each of them.
    """
    secret = [item for item in found.items if item.fact is not None and confidential(item.fact)]
    if not secret:
        return found
    sources = {(source.session_id, source.number) for item in secret for source in item.sources}
    refs = {item.ref for item in secret} | {ref for item in secret for ref in item.also}

    def told(ref: Ref) -> bool:
        return ref not in refs and not (ref.kind is RefKind.MESSAGE and (ref.id, ref.number) in sources)

    return replace(
        found,
        items=tuple(item for item in found.items if told(item.ref)),
        candidates=tuple(each for each in found.candidates if told(each.ref)),
    )


def _told_to_all(block: Block) -> Block:
    """Return a block without the lines that were said in confidence, and without sections that are empty then."""
    secret = [item for item in block.items if item.fact is not None and confidential(item.fact)]
    if not secret:
        return block
    ends = tuple(f"[^{item.label}]" for item in secret)
    lines = [line for line in block.text.splitlines() if not (line.startswith("- ") and line.endswith(ends))]
    kept = [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if not line.startswith("## ") or after.startswith("- ")
    ]
    items = tuple(item for item in block.items if item not in secret)
    if not items:
        return Block()
    text = _BLANK.sub("\n\n", "\n".join(kept)).replace("\n\n</", "\n</")
    return replace(block, text=text, tokens=block.tokens - sum(item.tokens for item in secret), items=items)


def _fate(request: RecallRequest, item: Recalled, count: int, spent: int) -> Fate | None:
    if count >= request.limit:
        return Fate.BEYOND_LIMIT
    return Fate.OVER_BUDGET if request.budget is not None and spent + item.tokens > request.budget else None


def _missing(answers: Answers) -> str | None:
    """Say what is missing, once if it is the same everywhere. If something was found, empty spaces are left out."""
    found_any = any(found.items for _, found in answers)
    told = {name: found.missing for name, found in answers if found.missing and (found.items or not found_any)}
    if len(told) == len(answers) and len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{name}: {why}" for name, why in told.items()) or None


def _candidates(answers: Answers, dropped: dict[tuple[str, str], Fate]) -> tuple[Candidate, ...]:
    every = (
        replace(each, space=name, fate=dropped.get((name, str(each.ref)), each.fate))
        for name, found in answers
        for each in found.candidates
    )
    return tuple(sorted(every, key=lambda each: -each.score))
