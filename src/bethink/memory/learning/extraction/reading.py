"""Read the input of an extraction: the new records, the context before them, what is known, and recorded answers."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime, tzinfo
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.errors import Misconfigured
from bethink.extend import Tokens
from bethink.memory.learning.extraction import request
from bethink.memory.learning.extraction.request import Scene
from bethink.memory.learning.steering import written
from bethink.model.facts import Fact
from bethink.model.jobs import Claim
from bethink.model.kinds import FactKind
from bethink.model.moments import EPOCH
from bethink.model.records import Message, Record, Role
from bethink.model.rules import ends, tells
from bethink.model.steering import LearningRules
from bethink.store import facts, learning, learning_rules, ledger, messages, search, sessions
from bethink.store.db import Tx

_NEW = 500
_HEAD = 50
_TAIL = 150
_SHOWINGS = 50
_KNOWN = 30
_WISHES = 15
_LOOKED_UP = 4_000
_WISH_KINDS = [str(kind) for kind in FactKind if tells(kind)]


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
    whole: Sequence[Record] = ()
    recorded: Sequence[str] = ()
    model: str = ""
    """The model that gave the recorded extraction."""
    numbered: Mapping[int, Record] = field(default_factory=dict[int, Record])
    shown: Sequence[str] = ()
    known: Sequence[Fact] = ()
    rules: LearningRules = field(default_factory=LearningRules)
    scene: Scene = field(default_factory=lambda: Scene(owner=None, conversation=""))

    def said_at(self, number: int) -> datetime:
        """Return when a record was said."""
        record = self.numbered[number]
        return record.message.said_at or record.recorded_at


def begin(
    tx: Tx, claim: Claim, *, budget: int | None, tokens: Tokens, version: str, zone: tzinfo
) -> ExtractionInput:  # fmt: skip
    """Take the snapshot. If the new records exceed the budget, take the first ones; the session stays marked."""
    session = sessions.find(tx, space=claim.space, session_id=claim.key)
    if session is None:
        return ExtractionInput(exists=False)
    start = session.processed_until or 0
    if session.invalidated_at is None or not session.learns:
        # Nothing to learn, or a session that memory created itself: it counts as processed.
        until = start if session.invalidated_at is None else session.last_number
        return ExtractionInput(exists=True, start=start, until=max(start, until))
    new = messages.after(tx, space=claim.space, session_id=claim.key, number=start, limit=_NEW)
    until = new[-1].number if len(new) == _NEW else session.last_number
    run, model, last = _recorded(tx, claim, start=start, until=until, version=version)
    if run:
        new, until = [record for record in new if record.number <= last], last
    earlier = _earlier(tx, claim, start)
    rules = learning_rules.of_agent(tx, space=claim.space, agent_id=session.agent_id)
    key = sessions.key_of(tx, space=session.space, conversation=session.conversation_id)
    scene = _scene(session.space, key or "", [*earlier, *new], zone, rules)
    share = None if budget is None else budget // 2 if earlier else budget
    if share is not None and not run:
        new, until = _first(new, until, share, tokens, scene)
    if not new:
        return ExtractionInput(exists=True, start=start, until=until, agent_id=session.agent_id)
    known = _known(tx, claim.space, new)
    return ExtractionInput(
        exists=True,
        start=start,
        until=until,
        agent_id=session.agent_id,
        updated_at=new[-1].recorded_at,
        run=run or f"{version}:{start}-{until}",
        prompt=_prompt(earlier, new, known, scene, rules=rules, budget=budget, tokens=tokens),
        whole=[*earlier, *new],
        recorded=learning.answers_of(tx, space=claim.space, kind=claim.kind, key=claim.key, run=run) if run else (),
        model=model,
        numbered={record.number: record for record in (*earlier, *new)},
        shown=_shown(tx, claim),
        known=known,
        rules=rules,
        scene=scene,
    )


class Unstored(NamedTuple):
    """Messages that are in no log, and where they would belong."""

    space: str
    conversation: str
    messages: Sequence[Message]
    rules: LearningRules | None
    """Rules to try, in place of those of the agent."""
    agent: str


def unstored(
    tx: Tx, given: Unstored, *, start: int, budget: int, tokens: Tokens, zone: tzinfo
) -> ExtractionInput:  # fmt: skip
    """Take a snapshot of messages that are in no log, those after `start` as far as they fit into the budget."""
    space = given.space
    rules = given.rules or learning_rules.find(tx, space=space, agent=given.agent)
    records = [
        Record(session_id="", number=place, recorded_at=tx.now, message=message)
        for place, message in enumerate(given.messages, 1)
    ]
    earlier = records[:start][-_TAIL:]
    scene = _scene(space, given.conversation, records, zone, rules)
    rest = records[start : start + _NEW]
    new, until = _first(rest, rest[-1].number, budget // 2 if earlier else budget, tokens, scene)
    known = _known(tx, space, new)
    return ExtractionInput(
        exists=True,
        start=start,
        until=until,
        updated_at=new[-1].recorded_at,
        prompt=_prompt(earlier, new, known, scene, rules=rules, budget=budget, tokens=tokens),
        whole=[*earlier, *new],
        numbered={record.number: record for record in (*earlier, *new)},
        known=known,
        rules=rules,
        scene=scene,
    )


def _shown(tx: Tx, claim: Claim) -> list[str]:
    """Return the texts that memory showed to the session, as far as they still exist."""
    showings = ledger.showings(tx, space=claim.space, session_id=claim.key, limit=_SHOWINGS)
    refs = {ref for showing in showings for ref in showing.refs}
    return [text.text for text in search.texts(tx, space=claim.space, refs=refs, as_of=None).values()]


def _recorded(tx: Tx, claim: Claim, *, start: int, until: int, version: str) -> tuple[str, str, int]:
    """Return the run of answers about these records that were recorded but not applied, its model and last record."""
    newest = learning.answers(tx, space=claim.space, kind=claim.kind, key=claim.key, limit=3)
    # The model is that of the extraction, and not that of the second reading, which is recorded after it.
    for answer in [each for each in newest if each.position == 0][:1]:
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
    # A space is often named after its owner; else the only person with a name is the one.
    own = next((name for name in names if name and name.casefold() == space.casefold()), None)
    owner = rules.owner or own or (next(iter(names)) if len(names) == 1 else None)
    with suppress(Misconfigured):  # another machine may have known the zone
        zone = zone if rules.time_zone is None else request.zone_of(rules.time_zone)
    return Scene(owner=owner, conversation=conversation, zone=zone)


def _known(tx: Tx, space: str, new: Sequence[Record]) -> list[Fact]:
    """Return what memory holds that bears on these records: what people want, and what shares words with them."""
    said = "\n".join(record.message.content[:500] for record in new if record.message.role is not Role.TOOL)
    wishes = facts.wishes(tx, space=space, kinds=_WISH_KINDS, limit=_WISHES)
    likely = facts.search(tx, space=space, question=said[:_LOOKED_UP].replace('"', " "), limit=_KNOWN)
    current = [fact for fact in likely if (end := ends(fact)) is None or end > tx.now]
    found = {fact.id: fact for fact in (*current[: _KNOWN - len(wishes)], *wishes)}
    # What is said in another language shares no word with what it changes, and that is mostly an attribute.
    for fact in facts.attributes(tx, space=space, limit=_KNOWN):
        if len(found) < _KNOWN:
            found.setdefault(fact.id, fact)
    return sorted(found.values(), key=lambda fact: fact.id)  # in a stable order, for caches of prompts


def _earlier(tx: Tx, claim: Claim, start: int) -> list[Record]:
    if start <= _HEAD + _TAIL:
        return _between(tx, claim, 0, start, limit=start) if start else []
    tail = start - _TAIL
    return [*_between(tx, claim, 0, tail, limit=_HEAD), *_between(tx, claim, tail, start, limit=_TAIL)]


def _between(tx: Tx, claim: Claim, after: int, until: int, *, limit: int) -> list[Record]:
    """Return the first records of a part of a session."""
    found = messages.after(tx, space=claim.space, session_id=claim.key, number=after, limit=limit)
    # Of those that were forgotten or taken back none is counted, so that the limit may reach beyond the part.
    return [record for record in found if record.number <= until]


def _first(
    new: list[Record], until: int, budget: int, tokens: Tokens, scene: Scene
) -> tuple[list[Record], int]:  # fmt: skip
    taken: list[Record] = []
    for record in new:
        budget -= tokens.count(request.line(record, scene)) + 2
        if taken and budget < 0:
            return taken, taken[-1].number
        taken.append(record)
    return taken, until


def _prompt(
    earlier: Sequence[Record],
    new: Sequence[Record],
    known: Sequence[Fact],
    scene: Scene,
    *,
    rules: LearningRules,
    budget: int | None,
    tokens: Tokens,
) -> str:
    if budget is None:  # without a model nothing is asked; it only matters whether there is anything to see
        return "\n".join(text for record in new if (text := request.line(record, scene)))
    told = request.instructions(written(rules))
    head = "\n".join(filter(None, (request.about([*earlier, *new], scene), told, request.known(known))))
    said = request.messages(earlier, new, scene, budget=max(100, budget - tokens.count(head)), tokens=tokens)
    return f"{head}\n{said}" if said else ""
