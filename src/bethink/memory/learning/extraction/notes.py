"""The memory of a session: made of the claims that stand, and without a model of what the user wrote."""

from collections.abc import Sequence

from bethink.base.frozen import frozen
from bethink.memory.learning.extraction.answer import slugged
from bethink.model.framing import unframed
from bethink.model.plural import plural
from bethink.model.records import Record, Role
from bethink.model.words import key_words, stem, words_of

QUOTING = "extractive-1"
"""The name of the prompt that is none: sessions are quoted."""
_LINE = 200
_LINES = 40
_MAX_RAW = 30_000
_MAX_SUMMARY = 600
_POINTS = 6


@frozen
class Notes:
    """What is remembered of a whole session; empty texts for nothing."""

    raw_memory: str = ""
    summary: str = ""
    slug: str = ""

    @property
    def remembers(self) -> bool:
        """Whether there is anything to remember."""
        return bool(self.raw_memory and self.summary)


def noted(statements: Sequence[str], *, title: str, slug: str, before: str) -> Notes:
    """Make the memory of a session of what was claimed and stands, after what was noted `before`."""
    lines = dict.fromkeys([*before.splitlines(), *(f"- {statement}" for statement in statements)])
    kept = list(lines)
    while kept and sum(map(len, kept)) + len(kept) > _MAX_RAW:
        kept.pop(0)
    said = [line.removeprefix("- ") for line in kept]
    if not said:
        return Notes()
    title = title if _is_of(title, said) else ""
    return Notes(
        raw_memory="\n".join(kept), summary=_summary(title, said), slug=slugged(title) or slug or slugged(said[0][:40])
    )


def _is_of(title: str, said: Sequence[str]) -> bool:
    """Return whether a title says nothing but what stands: it gets no second reading."""
    told = {stem(word) for text in said for word in words_of(text)}
    return all(stem(word) in told for word in key_words(title))


def quoted(records: Sequence[Record]) -> Notes:
    """Make the memory of a session by quoting the user. Of a long session it keeps both ends."""
    said = [
        " ".join(unframed(record.message.content).split())
        for record in records
        if record.message.role is Role.USER and record.message.origin == "user"
    ]
    said = [text if len(text) <= _LINE else f"{text[: _LINE - 1]}…" for text in said if text]
    if not said:
        return Notes()
    kept = said if len(said) <= _LINES else [*said[: _LINES // 2], "…", *said[-_LINES // 2 :]]
    last = f" Last: {said[-1]}" if len(said) > 1 else ""
    return Notes(
        raw_memory="\n".join(f"- {text}" for text in kept),
        summary=f"The user wrote {plural(len(said), 'message')}. First: {said[0]}{last}",
        slug=slugged(" ".join(said[0].split()[:5])),
    )


def _summary(title: str, said: Sequence[str]) -> str:
    """Return the title and the first and the newest statements, one a line, as many as fit."""
    half = _POINTS // 2
    some = list(said) if len(said) <= _POINTS else [*said[:half], *said[-half:]]
    while len(some) > 1 and sum(map(len, some)) > _MAX_SUMMARY:
        some.pop(len(some) // 2)
    if not title and len(said) == 1:
        return some[0]
    return "\n".join([*([title] if title else []), *(f"- {statement}" for statement in some)])
