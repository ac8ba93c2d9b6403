"""Read the texts that a context block is built from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from bethink.base.frozen import frozen
from bethink.memory.recall.stated import StatedPreferences, stated_preferences
from bethink.memory.recall.status import StatusMark, marks_of_facts, with_causes
from bethink.memory.recall.truth import current_sessions
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import SourceMessage
from bethink.model.filters import Filter
from bethink.model.kinds import FactKind
from bethink.model.moments import EPOCH
from bethink.model.refs import Ref
from bethink.model.rules import NOTES, is_directive
from bethink.model.views import TimeView
from bethink.store import reviews, search
from bethink.store.db import Tx
from bethink.store.learned_statements import confidential_sources
from bethink.store.search import Text

COMING = timedelta(days=TUNING.coming_days)
"""An event that begins within this time is listed as coming up."""
_DIRECTIVE = [kind for kind in FactKind if is_directive(kind)]


@frozen
class ContextSources:
    """The texts that a block is built from, the most important first in each list."""

    facts: Sequence[Text]
    documents: Sequence[Text]
    sessions: Sequence[Text]
    notes: Sequence[Text] = ()
    pinned: Sequence[Text] = ()
    stated: StatedPreferences = StatedPreferences()
    """The preferences in messages that no model has learned from."""
    superseded: Mapping[Ref, Ref] = field(default_factory=dict[Ref, Ref])
    """The facts that superseded parts of session summaries."""
    marks: Mapping[Ref, StatusMark] = field(default_factory=dict[Ref, StatusMark])
    """The statuses of texts that are not simply current, each with its cause."""
    pending: int = 0
    """The number of items that need review."""
    confidential: Collection[SourceMessage] = ()
    """The notes, and sessions as number 0, that state something confidential."""
    space: str = ""
    now: datetime = EPOCH


def context_sources(tx: Tx, *, space: str, view: TimeView, only: Filter | None = None) -> ContextSources:
    """Read the texts for a block, as they were in a view."""
    summaries = search.leading_sessions(tx, space=space, view=view, limit=TUNING.context_sessions, only=only)
    sessions, superseded = current_sessions(tx, space, summaries, view=view)
    notes = search.leading_notes(
        tx, space=space, conversation=NOTES, view=view, limit=TUNING.context_notes, only=only
    )  # fmt: skip
    facts = search.leading_facts(
        tx, space=space, view=view, directive=list(_DIRECTIVE), soon=COMING, limit=TUNING.context_facts, only=only
    )  # fmt: skip
    pinned = search.pinned_facts(tx, space=space, view=view, limit=TUNING.context_facts, only=only)
    stated = stated_preferences(tx, space=space, view=view, only=only)
    return ContextSources(
        facts=facts,
        documents=search.leading_documents(tx, space=space, view=view, limit=TUNING.context_documents, only=only),
        sessions=sessions,
        notes=notes,
        pinned=pinned,
        stated=stated,
        marks=with_causes(tx, space, view, marks_of_facts([*facts, *pinned])),
        pending=reviews.count_pending(tx, space=space) if view.is_now else 0,
        superseded=superseded,
        confidential=confidential_sources(
            tx, space=space, sources=[text.ref for text in (*sessions, *notes, *stated.current)]
        ),
        space=space,
        now=view.at(tx.now),
    )
