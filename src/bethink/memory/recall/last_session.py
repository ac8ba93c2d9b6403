"""The last session of a space in two lines: what the user began with, and how the assistant ended."""

import re
from collections.abc import Collection

from bethink.model.filters import Filter
from bethink.model.records import Role
from bethink.model.views import TimeView
from bethink.store.db import Tx
from bethink.store.last_session import ends_of_last_session
from bethink.store.search import Text

_SHORT = 200
"""Maximum characters of each line."""
_SENTENCE = re.compile(r"[^\n]{20,}?[.!?\u3002\uff01\uff1f](?=\s|$)|[^\n]{20,}")


def last_session(
    tx: Tx, *, space: str, view: TimeView, only: Filter | None, requesting: str, listed: Collection[str]
) -> list[Text]:  # fmt: skip
    """Return how the last session began and ended; nothing if its summary is `listed`.

    An open session counts as well, but not the `requesting` one. Sessions of sub-agents do not: nobody spoke to them.
    """
    ends = ends_of_last_session(tx, space=space, view=view, only=only, requesting=requesting)
    return [] if any(text.ref.id in listed for text in ends) else [_shorten(text) for text in ends]


def _shorten(text: Text) -> Text:
    """Return the text cut to its first sentences, or for an answer its last ones: these say what is left to do."""
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCE.findall(text.text)] or [text.text.strip()]
    is_answer = text.role == Role.ASSISTANT
    chosen = ""
    for sentence in reversed(sentences) if is_answer else sentences:
        longer = " ".join(filter(None, (sentence, chosen) if is_answer else (chosen, sentence)))
        if chosen and len(longer) > _SHORT:
            break
        chosen = longer
    return text._replace(text=chosen if len(chosen) <= _SHORT else f"{chosen[: _SHORT - 1].rstrip()}…")
