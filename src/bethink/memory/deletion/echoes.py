"""Repeats: sessions that were shown deleted texts, and the messages there that repeat them."""

from collections.abc import Iterable, Sequence

from bethink.memory.deletion.plan import Step
from bethink.model.erasures import CONVERSATION, SESSION, SPACE
from bethink.model.refs import RefKind
from bethink.model.words import is_repeated, key_stems, stem, words_of
from bethink.store import facts, messages, sessions
from bethink.store.db import Tx

_MAX_SESSIONS = 200


def exposed_sessions(tx: Tx, *, space: str) -> tuple[str, ...]:
    """Return the remaining sessions that were shown an item that this transaction deleted."""
    parts = [name.rpartition(":") for name in tx.deleted_ids.get(RefKind.MESSAGE, ())]
    deleted_sessions = {part[0] for part in parts}
    rows = tx.all(
        "sessions_shown_any",
        space=space, ids=[part[0] for part in parts], numbers=[int(part[2]) for part in parts],
        facts=list(tx.deleted_ids.get(RefKind.FACT, ())), documents=list(tx.deleted_ids.get(RefKind.DOCUMENT, ())),
        summaries=list(tx.deleted_ids.get(RefKind.SESSION_SUMMARY, ())),
        limit=_MAX_SESSIONS + len(deleted_sessions) + 1,
    )  # fmt: skip
    session_ids = [row["session_id"] for row in rows]
    return tuple(name for name in session_ids if name and name not in deleted_sessions)[:_MAX_SESSIONS]


def find_repeats(tx: Tx, steps: Sequence[Step], *, space: str) -> list[Step]:
    """Return the messages of other sessions that were shown the items of these steps and repeat them."""
    repeats: list[Step] = []
    texts: list[str] = []
    exposed: dict[str, None] = {}
    own = {(step.id, number) for step in steps for number in step.numbers if step.kind == RefKind.MESSAGE}
    for step in steps:
        if step.kind == SPACE:
            return []
        step_texts, refs = _texts(tx, step, space=space)
        texts += step_texts
        for kind, ids in refs.items():
            rows = tx.all("sessions_shown", space=space, kind=kind, ids=ids, limit=_MAX_SESSIONS) if ids else []
            exposed |= dict.fromkeys(row["session_id"] for row in rows if row["session_id"])
    meanings = [words for words in map(key_stems, texts) if words]
    for session_id in exposed:
        records = messages.after(tx, space=space, session_id=session_id, number=0, retracted=True)
        numbers = [
            record.number
            for record in records
            if (session_id, record.number) not in own and _repeats(record.message.content, meanings)
        ]
        if numbers:
            repeats.append(Step(RefKind.MESSAGE, session_id, tuple(numbers)))
    return repeats


def _texts(tx: Tx, step: Step, *, space: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the texts of a step, and the ids under which they or derived data may have been shown."""
    if step.kind == RefKind.FACT:
        return [item.text for item in facts.versions(tx, space=space, fact_id=step.id)], {RefKind.FACT: [step.id]}
    session_ids = sessions.ids_of(tx, space=space, conversation=step.id) if step.kind == CONVERSATION else [step.id]
    if step.kind not in (RefKind.MESSAGE, SESSION, CONVERSATION):
        return [], {step.kind: [step.id]}
    texts: list[str] = []
    for session_id in session_ids:
        records = messages.after(tx, space=space, session_id=session_id, number=0, retracted=True)
        texts += [item.message.content for item in records if not step.numbers or item.number in step.numbers]
    fact_ids = [row["fact_id"] for row in tx.all("facts_from_sessions", space=space, sessions=session_ids)]
    return texts, {RefKind.MESSAGE: session_ids, RefKind.SESSION_SUMMARY: session_ids, RefKind.FACT: fact_ids}


def _repeats(text: str, meanings: Iterable[frozenset[str]]) -> bool:
    stems = {stem(word) for word in words_of(text)}
    return any(is_repeated(words, stems) for words in meanings)
