"""Read the texts that a context block is built from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from bethink.base.frozen import frozen
from bethink.memory.recall.last_session import last_session
from bethink.memory.recall.stated import StatedPreferences, stated_preferences
from bethink.memory.recall.status import StatusMark, marks_of_facts, with_causes
from bethink.memory.recall.truth import current_sessions
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import SourceMessage
from bethink.model.filters import Filter
from bethink.model.kinds import FactKind
from bethink.model.moments import EPOCH
from bethink.model.refs import Ref, RefKind
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
    last: Sequence[Text] = ()
    """How the last session began, and how it ended, if it is not among the sessions."""
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


def context_sources(
    tx: Tx,
    *,
    space: str,
    view: TimeView,
    only: Filter | None = None,
    kinds: Collection[RefKind] = tuple(RefKind),
    session_id: str | None = None,
    has_question: bool = False,
) -> ContextSources:
    """Read the texts of some kinds for a block, as they were in a view.

    A session that asks no question is told about the last one before it.
    """
    has_facts, has_messages = RefKind.FACT in kinds, RefKind.MESSAGE in kinds
    sessions, superseded = list[Text](), dict[Ref, Ref]()
    if RefKind.SESSION_SUMMARY in kinds:
        summaries = search.leading_sessions(tx, space=space, view=view, limit=TUNING.context_sessions, only=only)
        sessions, superseded = current_sessions(tx, space, summaries, view=view)
    notes, documents, last, stated = list[Text](), list[Text](), list[Text](), StatedPreferences()
    if has_messages:
        notes = search.leading_notes(
            tx, space=space, conversation=NOTES, view=view, limit=TUNING.context_notes, only=only
        )  # fmt: skip
        stated = stated_preferences(tx, space=space, view=view, only=only)
        if session_id is not None and not has_question:
            listed = {text.ref.id for text in sessions}
            last = last_session(tx, space=space, view=view, only=only, requesting=session_id, listed=listed)
    facts, pinned = list[Text](), list[Text]()
    if has_facts:
        facts = search.leading_facts(
            tx, space=space, view=view, directive=list(_DIRECTIVE), soon=COMING, limit=TUNING.context_facts, only=only
        )  # fmt: skip
        pinned = search.pinned_facts(tx, space=space, view=view, limit=TUNING.context_facts, only=only)
    if RefKind.DOCUMENT in kinds:
        documents = search.leading_documents(tx, space=space, view=view, limit=TUNING.context_documents, only=only)
    return ContextSources(
        facts=facts,
        documents=documents,
        sessions=sessions,
        notes=notes,
        last=last,
        pinned=pinned,
        stated=stated,
        marks=with_causes(tx, space, view, marks_of_facts([*facts, *pinned])),
        pending=reviews.count_pending(tx, space=space) if view.is_now else 0,
        superseded=superseded,
        confidential=confidential_sources(
            tx, space=space, sources=[text.ref for text in (*sessions, *notes, *last, *stated.current)]
        ),
        space=space,
        now=view.at(tx.now),
    )
