"""Leaves out of session summaries what a person asked to forget."""

from collections.abc import Sequence
from dataclasses import replace

from bethink.base.frozen import frozen
from bethink.memory.learning.extraction.notes import Notes, notes_from_statements
from bethink.memory.phrases.mentions import mentions_of, repetitions_of
from bethink.model.forgetting import ForgetScope
from bethink.store import forget_requests, learning, marks
from bethink.store.db import Tx
from bethink.store.forget_requests import RequestToForget

_BULLET = "- "


@frozen
class SessionHiding:
    """Hidden words of one session, and the requests to forget that hide them."""

    texts: Sequence[str]
    requests: Sequence[RequestToForget]

    def are_in(self, line: str) -> bool:
        """Return whether a line states hidden words, or names what a request names."""
        return any(text in line or repetitions_of(line, text) for text in self.texts) or any(
            request.target and mentions_of(line, request.target, is_name=request.scope is ForgetScope.PERSON)
            for request in self.requests
        )


def visible_notes(tx: Tx, notes: Notes, *, space: str, session_id: str) -> Notes:
    """Return the notes of a session without the lines that state hidden words."""
    hidden = _hidden_words(tx, space=space, session_id=session_id)
    return notes if hidden is None else _without(notes, hidden)


def hide_in_summary(tx: Tx, *, space: str, session_id: str) -> bool:
    """Remove the lines of a stored session summary that state hidden words. Return whether there were any."""
    memory = learning.find_memory(tx, space=space, session_id=session_id)
    hidden = None if memory is None else _hidden_words(tx, space=space, session_id=session_id)
    if memory is None or hidden is None:
        return False
    before = Notes(raw_memory=memory.raw_memory, summary=memory.summary, slug=memory.slug)
    notes = _without(before, hidden)
    if notes == before:
        return False
    if not notes.has_content:
        return learning.drop_memory(tx, space=space, session_id=session_id)
    changed = replace(memory, raw_memory=notes.raw_memory, summary=notes.summary, slug=notes.slug)
    learning.put_memory(tx, changed, token=0)
    return True


def _hidden_words(tx: Tx, *, space: str, session_id: str) -> SessionHiding | None:
    hidden = marks.hidden_words(tx, space=space, session_id=session_id)
    if not hidden:
        return None
    causes = dict.fromkeys(cause for cause, _ in hidden)
    requests = (forget_requests.find(tx, space=space, request_id=cause) for cause in causes)
    texts = dict.fromkeys(text.strip().rstrip(".!?\u3002\uff01\uff1f") for _, text in hidden)
    return SessionHiding(
        texts=[text for text in texts if text], requests=[request for request in requests if request is not None]
    )  # fmt: skip


def _without(notes: Notes, hidden: SessionHiding) -> Notes:
    lines = notes.raw_memory.splitlines()
    visible = [line for line in lines if not hidden.are_in(line)]
    if len(visible) == len(lines) and not hidden.are_in(notes.summary):
        return notes
    statements = [line.removeprefix(_BULLET) for line in visible]
    return notes_from_statements(statements, title="", slug="", before="")
