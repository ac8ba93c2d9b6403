"""The preferences that users state in messages, before a model has learned from them, or without one."""

from collections.abc import Sequence
from typing import NamedTuple

from bethink.base.language import preferences_in
from bethink.memory.phrases.preferences import replaces
from bethink.memory.recall.tuning import TUNING
from bethink.model.filters import Filter
from bethink.model.views import TimeView
from bethink.store import preferences
from bethink.store.db import Tx
from bethink.store.search import Text


class StatedPreferences(NamedTuple):
    """What users said about how to act from then on, the newest first, and what a later one of these replaced.

    Each message is cut to the sentences that say so.
    """

    current: Sequence[Text] = ()
    replaced: Sequence[Text] = ()


def stated_preferences(tx: Tx, *, space: str, view: TimeView, only: Filter | None = None) -> StatedPreferences:
    """Return the preferences in messages that no model has learned from. A corrected message states none."""
    messages = preferences.find_stated(tx, space=space, view=view, limit=TUNING.context_preferences, only=only)
    current: list[Text] = []
    replaced: list[Text] = []
    newer: list[str] = []
    for message in messages:
        sentences = [] if message.corrections else preferences_in(message.text)
        former = [sentence for sentence in sentences if any(replaces(later, sentence) for later in newer)]
        for texts, chosen in ((replaced, former), (current, [item for item in sentences if item not in former])):
            if chosen:
                texts.append(message._replace(text=" ".join(chosen)))
        newer += sentences
    return StatedPreferences(current, replaced)
