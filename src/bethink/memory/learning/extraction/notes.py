"""Session summaries: built from accepted claims, or without a model from the user's messages."""

from collections.abc import Sequence

from bethink.base.frozen import frozen
from bethink.memory.learning.extraction.answer import slugify
from bethink.model.framing import remove_frames
from bethink.model.plural import plural
from bethink.model.records import Record, Role
from bethink.model.words import key_words, stem, words_of

QUOTING = "extractive-1"
"""The prompt name recorded for sessions that were quoted without a model."""
_LINE = 200
_LINES = 40
_MAX_RAW = 30_000
_MAX_SUMMARY = 600
_POINTS = 6


@frozen
class Notes:
    """Notes on a whole session; empty texts if there are none."""

    raw_memory: str = ""
    summary: str = ""
    slug: str = ""

    @property
    def has_content(self) -> bool:
        """True if there is anything to remember."""
        return bool(self.raw_memory and self.summary)


def notes_from_statements(statements: Sequence[str], *, title: str, slug: str, before: str) -> Notes:
    """Build the notes of a session from accepted statements, after the earlier notes in `before`."""
    lines = dict.fromkeys([*before.splitlines(), *(f"- {statement}" for statement in statements)])
    retained = list(lines)
    while retained and sum(map(len, retained)) + len(retained) > _MAX_RAW:
        retained.pop(0)
    texts = [line.removeprefix("- ") for line in retained]
    if not texts:
        return Notes()
    title = title if _is_supported_title(title, texts) else ""
    return Notes(
        raw_memory="\n".join(retained),
        summary=_summary(title, texts),
        slug=slugify(title) or slug or slugify(texts[0][:40]),
    )


def _is_supported_title(title: str, texts: Sequence[str]) -> bool:
    """Return whether the statements have all words of a title, which gets no second reading."""
    stems = {stem(word) for text in texts for word in words_of(text)}
    return all(stem(word) in stems for word in key_words(title))


def notes_from_quotes(records: Sequence[Record]) -> Notes:
    """Build the notes of a session by quoting the user. A long session keeps both ends."""
    texts = [
        " ".join(remove_frames(record.message.content).split())
        for record in records
        if record.message.role is Role.USER and record.message.origin == "user"
    ]
    texts = [text if len(text) <= _LINE else f"{text[: _LINE - 1]}…" for text in texts if text]
    if not texts:
        return Notes()
    selected = texts if len(texts) <= _LINES else [*texts[: _LINES // 2], "…", *texts[-_LINES // 2 :]]
    last = f" Last: {texts[-1]}" if len(texts) > 1 else ""
    return Notes(
        raw_memory="\n".join(f"- {text}" for text in selected),
        summary=f"The user wrote {plural(len(texts), 'message')}. First: {texts[0]}{last}",
        slug=slugify(" ".join(texts[0].split()[:5])),
    )


def _summary(title: str, statements: Sequence[str]) -> str:
    """Return the title and the first and newest statements, one per line, as many as fit."""
    half = _POINTS // 2
    selected = list(statements) if len(statements) <= _POINTS else [*statements[:half], *statements[-half:]]
    while len(selected) > 1 and sum(map(len, selected)) > _MAX_SUMMARY:
        selected.pop(len(selected) // 2)
    if not title and len(statements) == 1:
        return selected[0]
    return "\n".join([*([title] if title else []), *(f"- {statement}" for statement in selected)])
