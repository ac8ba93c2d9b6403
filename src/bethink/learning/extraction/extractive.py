"""Remember a session without a model, by quoting the user."""

from collections.abc import Sequence

from bethink.learning.extraction.answer import Extraction, slugged
from bethink.model.framing import unframed
from bethink.model.records import Record, Role

PROMPT = "extractive-1"
_LINE = 200
_LINES = 40


def extractive(records: Sequence[Record]) -> Extraction:
    """Return a session memory that quotes the user, without facts. Of a long session it keeps both ends."""
    said = [
        " ".join(unframed(record.message.content).split())
        for record in records
        if record.message.role is Role.USER and record.message.origin == "user"
    ]
    said = [text if len(text) <= _LINE else f"{text[: _LINE - 1]}…" for text in said if text]
    if not said:
        return Extraction(raw_memory="", summary="", slug="")
    kept = said if len(said) <= _LINES else [*said[: _LINES // 2], "…", *said[-_LINES // 2 :]]
    last = f" Last: {said[-1]}" if len(said) > 1 else ""
    return Extraction(
        raw_memory="\n".join(f"- {text}" for text in kept),
        summary=f"The user wrote {len(said)} message{'s' if len(said) > 1 else ''}. First: {said[0]}{last}",
        slug=slugged(" ".join(said[0].split()[:5])),
    )
