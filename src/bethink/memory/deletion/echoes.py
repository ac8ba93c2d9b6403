"""Echoes: sessions that were shown what is forgotten, and the lines there that repeat it."""

from collections.abc import Iterable, Sequence

from bethink.memory.deletion.plan import Step
from bethink.model.erasures import CONVERSATION, SESSION, SPACE
from bethink.model.recall import RefKind
from bethink.model.words import key_words, stem, words_of
from bethink.store import facts, messages, sessions
from bethink.store.db import Tx

_MOST_SESSIONS = 200
_SHARE = 0.6
"""A line repeats a text if it has this part of the words that carry its meaning, and at least two of them."""


def shown_to(tx: Tx, *, space: str) -> tuple[str, ...]:
    """Return the sessions that were shown something of what this transaction forgot, and are still there."""
    found: dict[str, None] = {}
    for kind in RefKind:
        names = list(tx.gone.get(kind, ()))
        if kind is RefKind.MESSAGE:
            parts = [name.rpartition(":") for name in names]
            rows = tx.all(
                "sessions_shown_messages",
                space=space, ids=[part[0] for part in parts], numbers=[int(part[2]) for part in parts],
                limit=_MOST_SESSIONS,
            ) if parts else []  # fmt: skip
        else:
            given = {"space": space, "kind": kind, "ids": names, "limit": _MOST_SESSIONS}
            rows = tx.all("sessions_shown", **given) if names else []
        found |= dict.fromkeys(row["session_id"] for row in rows)
    gone = {name.rpartition(":")[0] for name in tx.gone.get(RefKind.MESSAGE, ())}
    return tuple(each for each in found if each and each not in gone)[:_MOST_SESSIONS]


def echoing(tx: Tx, steps: Sequence[Step], *, space: str) -> list[Step]:
    """Return the lines of other sessions that repeat what is about to be forgotten, after they were shown it."""
    found: list[Step] = []
    texts: list[str] = []
    shown: dict[str, None] = {}
    own = {(step.id, number) for step in steps for number in step.numbers if step.kind == RefKind.MESSAGE}
    for step in steps:
        if step.kind == SPACE:
            return []
        said, refs = _texts(tx, step, space=space)
        texts += said
        for kind, ids in refs.items():
            rows = tx.all("sessions_shown", space=space, kind=kind, ids=ids, limit=_MOST_SESSIONS) if ids else []
            shown |= dict.fromkeys(row["session_id"] for row in rows if row["session_id"])
    wanted = [words for words in (_meaning(text) for text in texts) if words]
    for session_id in shown:
        records = messages.after(tx, space=space, session_id=session_id, number=0, retracted=True)
        numbers = [
            each.number
            for each in records
            if (session_id, each.number) not in own and _repeats(each.message.content, wanted)
        ]
        if numbers:
            found.append(Step(RefKind.MESSAGE, session_id, tuple(numbers)))
    return found


def _texts(tx: Tx, step: Step, *, space: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the texts of what goes, and the ids under which it or what was made of it may have been shown."""
    if step.kind == RefKind.FACT:
        return [each.content for each in facts.versions(tx, space=space, fact_id=step.id)], {RefKind.FACT: [step.id]}
    within = sessions.ids_of(tx, space=space, conversation=step.id) if step.kind == CONVERSATION else [step.id]
    if step.kind not in (RefKind.MESSAGE, SESSION, CONVERSATION):
        return [], {step.kind: [step.id]}
    said: list[str] = []
    for session_id in within:
        records = messages.after(tx, space=space, session_id=session_id, number=0, retracted=True)
        said += [each.message.content for each in records if not step.numbers or each.number in step.numbers]
    learnt = [row["fact_id"] for row in tx.all("facts_from_sessions", space=space, sessions=within)]
    return said, {RefKind.MESSAGE: within, RefKind.SESSION_MEMORY: within, RefKind.FACT: learnt}


def _meaning(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in key_words(text))


def _repeats(text: str, wanted: Iterable[frozenset[str]]) -> bool:
    said = {stem(word) for word in words_of(text)}
    return any(len(words & said) >= max(min(2, len(words)), _SHARE * len(words)) for words in wanted)
