"""Read the input of an extraction: the new records, the context before them, known facts, and recorded answers."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime, tzinfo
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.extend import Tokens
from bethink.memory.learning.extraction import request
from bethink.memory.learning.extraction.request import Scene
from bethink.memory.learning.steering import format_rules
from bethink.model.facts import Fact
from bethink.model.jobs import Lease
from bethink.model.kinds import FactKind
from bethink.model.moments import EPOCH
from bethink.model.records import Message, Record, Role
from bethink.model.rules import is_directive
from bethink.model.steering import LearningRules
from bethink.model.views import NOW
from bethink.store import facts, learning, learning_rules, ledger, messages, search, sessions
from bethink.store.db import Tx
from bethink.store.views import is_lasting

_NEW = 500
_HEAD = 50
_TAIL = 150
_CONTEXT_ENTRIES = 50
_KNOWN = 30
_PREFERENCES = 15
_PAST = 8
"""Number of facts that have ended and are listed with the known ones."""
_MAX_QUERY = 4_000
_PREFERENCE_KINDS = [str(kind) for kind in FactKind if is_directive(kind)]


@frozen
class ExtractionInput:
    """A snapshot of a session to learn from: the records after `start` up to `until`, and earlier ones for context.

    Later records are not lost: the watermark moves only to `until`. `recorded` are the answers of models to this very
    request that were stored but not applied: first the extraction, then the second reading.
    """

    exists: bool
    start: int = 0
    until: int = 0
    agent_id: str = ""
    updated_at: datetime = EPOCH
    run: str = ""
    prompt: str = ""
    records: Sequence[Record] = ()
    recorded: Sequence[str] = ()
    model: str = ""
    """The model that gave the recorded extraction."""
    by_number: Mapping[int, Record] = field(default_factory=dict[int, Record])
    shown_texts: Sequence[str] = ()
    known_facts: Sequence[Fact] = ()
    rules: LearningRules = field(default_factory=LearningRules)
    scene: Scene = field(default_factory=lambda: Scene(owner=None, conversation=""))

    def said_at(self, number: int) -> datetime:
        """Return the time at which a record was said."""
        record = self.by_number[number]
        return record.message.said_at or record.recorded_at


def begin(
    tx: Tx, lease: Lease, *, budget: int | None, tokens: Tokens, version: str, zone: tzinfo
) -> ExtractionInput:  # fmt: skip
    """Take the snapshot. If the new records exceed the budget, take the first ones; the session stays marked."""
    session = sessions.find(tx, space=lease.space, session_id=lease.key)
    if session is None:
        return ExtractionInput(exists=False)
    start = session.processed_until or 0
    if session.invalidated_at is None or not session.is_learned_from:
        # Nothing to learn, or a session that memory created itself, which counts as processed.
        until = start if session.invalidated_at is None else session.last_number
        return ExtractionInput(exists=True, start=start, until=max(start, until))
    new = messages.after(tx, space=lease.space, session_id=lease.key, number=start, limit=_NEW)
    until = new[-1].number if len(new) == _NEW else session.last_number
    has_model = budget is not None  # quoting needs only the messages
    run, model, last = "", "", 0
    if has_model:
        run, model, last = _find_recorded_run(tx, lease, start=start, until=until, version=version)
    if run:
        new, until = [record for record in new if record.number <= last], last
    earlier = _earlier(tx, lease, start)
    rules = learning_rules.of_agent(tx, space=lease.space, agent_id=session.agent_id)
    key = sessions.key_of(tx, space=session.space, conversation=session.conversation_id)
    scene = _scene(session.space, key or "", [*earlier, *new], zone, rules)
    share = None if budget is None else budget // 2 if earlier else budget
    if share is not None and not run:
        new, until = _first_within(new, until, share, tokens, scene)
    if not new:
        return ExtractionInput(exists=True, start=start, until=until, agent_id=session.agent_id)
    known_facts = _relevant_facts(tx, lease.space, new) if has_model else []
    return ExtractionInput(
        exists=True,
        start=start,
        until=until,
        agent_id=session.agent_id,
        updated_at=new[-1].recorded_at,
        run=run or f"{version}:{start}-{until}",
        prompt=_prompt(earlier, new, known_facts, scene, rules=rules, budget=budget, tokens=tokens),
        records=[*earlier, *new],
        recorded=learning.answers_of(tx, space=lease.space, kind=lease.kind, key=lease.key, run=run) if run else (),
        model=model,
        by_number={record.number: record for record in (*earlier, *new)},
        shown_texts=_shown_texts(tx, lease) if has_model else (),
        known_facts=known_facts,
        rules=rules,
        scene=scene,
    )


class UnstoredMessages(NamedTuple):
    """Messages that are not stored, and their target space and conversation."""

    space: str
    conversation: str
    messages: Sequence[Message]
    rules: LearningRules | None
    """Rules to try instead of the agent's."""
    agent: str


def begin_unstored(
    tx: Tx, unstored: UnstoredMessages, *, start: int, budget: int, tokens: Tokens, zone: tzinfo
) -> ExtractionInput:  # fmt: skip
    """Take a snapshot of messages that are not stored: those after `start`, as many as fit into the budget."""
    space = unstored.space
    rules = unstored.rules or learning_rules.find(tx, space=space, agent=unstored.agent)
    records = [
        Record(session_id="", number=number, recorded_at=tx.now, message=message)
        for number, message in enumerate(unstored.messages, 1)
    ]
    earlier = records[:start][-_TAIL:]
    scene = _scene(space, unstored.conversation, records, zone, rules)
    remaining = records[start : start + _NEW]
    new, until = _first_within(remaining, remaining[-1].number, budget // 2 if earlier else budget, tokens, scene)
    known_facts = _relevant_facts(tx, space, new)
    return ExtractionInput(
        exists=True,
        start=start,
        until=until,
        updated_at=new[-1].recorded_at,
        prompt=_prompt(earlier, new, known_facts, scene, rules=rules, budget=budget, tokens=tokens),
        records=[*earlier, *new],
        by_number={record.number: record for record in (*earlier, *new)},
        known_facts=known_facts,
        rules=rules,
        scene=scene,
    )


def _shown_texts(tx: Tx, lease: Lease) -> list[str]:
    """Return the texts that memory showed to the session and that still exist."""
    entries = ledger.list_entries(tx, space=lease.space, session_id=lease.key, limit=_CONTEXT_ENTRIES)
    refs = {ref for entry in entries for ref in entry.refs}
    return [text.text for text in search.texts(tx, space=lease.space, refs=refs, view=NOW).values()]


def _find_recorded_run(tx: Tx, lease: Lease, *, start: int, until: int, version: str) -> tuple[str, str, int]:
    """Return the run of answers about these records that were recorded but not applied, its model and last record."""
    newest = learning.answers(tx, space=lease.space, kind=lease.kind, key=lease.key, limit=3)
    # The model is that of the extraction, not of the second reading, which is recorded after it.
    for answer in [candidate for candidate in newest if candidate.position == 0][:1]:
        made_by, _, span = answer.run.partition(":")
        first, _, last = span.partition("-")
        if made_by == version and int(first) == start and start < int(last) <= until:
            return answer.run, answer.model, int(last)
    return "", "", 0


def _scene(
    space: str, conversation: str, records: Sequence[Record], zone: tzinfo, rules: LearningRules
) -> Scene:  # fmt: skip
    names = dict.fromkeys(
        record.message.name for record in records if record.message.role is Role.USER and record.message.name
    )
    # A space is often named after its owner; otherwise, the only named person is the owner.
    own = next((name for name in names if name and name.casefold() == space.casefold()), None)
    owner = rules.owner or own or (next(iter(names)) if len(names) == 1 else None)
    with suppress(ConfigurationError):  # the zone may be known only on another machine
        zone = zone if rules.time_zone is None else request.zone_of(rules.time_zone)
    return Scene(owner=owner, conversation=conversation, zone=zone)


def _relevant_facts(tx: Tx, space: str, new: Sequence[Record]) -> list[Fact]:
    """Return the facts that bear on these records: preferences, and facts that share words with them.

    They may have been said before or after these records, and may have ended.
    """
    text = "\n".join(record.message.content[:500] for record in new if record.message.role is not Role.TOOL)
    preferences = facts.preferences(tx, space=space, kinds=_PREFERENCE_KINDS, limit=_PREFERENCES)
    matches = _matching_facts(tx, space, text[:_MAX_QUERY].replace('"', " "))
    current = [fact for fact in matches if is_lasting(fact.status)]
    # A late import may precede or repeat what has ended since.
    past = [fact for fact in matches if not is_lasting(fact.status)][:_PAST]
    by_id = {fact.id: fact for fact in (*current[: _KNOWN - len(preferences) - len(past)], *preferences, *past)}
    # A message in another language shares no words with the fact it changes, which is mostly an attribute.
    for fact in facts.attributes(tx, space=space, limit=_KNOWN):
        if len(by_id) < _KNOWN:
            by_id.setdefault(fact.id, fact)
    return sorted(by_id.values(), key=lambda fact: fact.id)  # in a stable order, for prompt caches


def _matching_facts(tx: Tx, space: str, question: str) -> list[Fact]:
    """Return facts that share words with a text, best match first: current ones, and ones that have ended."""
    return facts.search(tx, space=space, question=question, limit=_KNOWN + _PAST, past=True)


def _earlier(tx: Tx, lease: Lease, start: int) -> list[Record]:
    if start <= _HEAD + _TAIL:
        return _between(tx, lease, 0, start, limit=start) if start else []
    tail = start - _TAIL
    return [*_between(tx, lease, 0, tail, limit=_HEAD), *_between(tx, lease, tail, start, limit=_TAIL)]


def _between(tx: Tx, lease: Lease, after: int, until: int, *, limit: int) -> list[Record]:
    """Return the first records of a part of a session."""
    records = messages.after(tx, space=lease.space, session_id=lease.key, number=after, limit=limit)
    # Deleted and retracted records are not counted, so the limit may reach beyond the part.
    return [record for record in records if record.number <= until]


def _first_within(
    new: list[Record], until: int, budget: int, tokens: Tokens, scene: Scene
) -> tuple[list[Record], int]:  # fmt: skip
    selected: list[Record] = []
    for record in new:
        budget -= tokens.count(request.line(record, scene)) + 2
        if selected and budget < 0:
            return selected, selected[-1].number
        selected.append(record)
    return selected, until


def _prompt(
    earlier: Sequence[Record],
    new: Sequence[Record],
    known_facts: Sequence[Fact],
    scene: Scene,
    *,
    rules: LearningRules,
    budget: int | None,
    tokens: Tokens,
) -> str:
    if budget is None:  # without a model nothing is sent; only an empty text matters
        return "\n".join(text for record in new if (text := request.line(record, scene)))
    instructions = request.instructions(format_rules(rules))
    head = "\n".join(
        filter(
            None, (request.about([*earlier, *new], scene), instructions, request.known_facts(known_facts, scene.zone))
        )
    )
    conversation = request.messages(earlier, new, scene, budget=max(100, budget - tokens.count(head)), tokens=tokens)
    return f"{head}\n{conversation}" if conversation else ""
