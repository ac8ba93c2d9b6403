"""What is true on a day: the semantics of `docs/explanation/time.md` as a small program, to compare with."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from tests.truth.script import CHANGES, Claim, Talk, day, moment

FOREVER = datetime(9999, 1, 1, tzinfo=UTC)
LISTED = ("current", "upcoming", "doubtful")


@dataclass(frozen=True)
class Statement:
    """A statement: when it was said, when memory learned it, and which statements it speaks of.

    `since` and `until` are what the words say; `until` is exclusive. `op` is what it does to the statements in `of`.
    """

    id: str
    text: str
    said_at: datetime
    learned_at: datetime
    since: datetime | None = None
    until: datetime | None = None
    op: str = "new"
    of: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    slot: tuple[str, str] | None = None
    """What it is about and the attribute, of which one value is true at a time."""


@dataclass(frozen=True)
class Decision:
    """A person's correction: how the words of some statements are to be understood, from when memory learned it."""

    at: datetime
    statement_ids: frozenset[str]
    text: str


@dataclass(frozen=True)
class Entry:
    """A fact as one view shows it. `valid_to` is exclusive, and None if it is open."""

    text: str
    status: str
    valid_from: datetime
    valid_to: datetime | None


@dataclass
class Reference:
    """A memory that keeps statements and decisions, in any order, and answers for any two times."""

    statements: dict[str, Statement] = field(default_factory=dict[str, Statement])
    decisions: list[Decision] = field(default_factory=list[Decision])

    def learn(self, talk: Talk, at: datetime) -> None:
        """Learn the claims of a talk. What is known already stays as it is."""
        for claim in talk.claims:
            for statement in _statements(claim, talk, at):
                self.statements.setdefault(statement.id, statement)

    def correct(self, text: str, correction: str, at: datetime) -> None:
        """Let a person decide what the statements with a text say."""
        facts = [fact for fact in self.view(at=at).facts.values() if fact.text == text]
        ids = frozenset(statement.id for fact in facts for statement in fact.statements)
        self.decisions.append(Decision(at, ids, correction))

    def view(self, *, at: datetime, as_of: datetime | None = None, known_at: datetime | None = None) -> "View":
        """Return the view of a moment: `at` is the present."""
        until = as_of or known_at or FOREVER
        forgotten = {
            name for statement in self.statements.values() if statement.op == "forget" for name in statement.of
        }
        statements = [
            replace(statement, of=self._with_repeated(statement.of))
            for statement in self.statements.values()
            if statement.op != "forget"
            and statement.said_at <= until
            and statement.learned_at <= (known_at or FOREVER)
            and statement.id.split("#")[0] not in forgotten
        ]
        decisions = [decision for decision in self.decisions if decision.at <= (known_at or FOREVER)]
        return View(statements, decisions, as_of or known_at or at)

    def _with_repeated(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return statements with those that they repeat: who speaks of one speaks of all."""
        for name in names:
            if name in self.statements and self.statements[name].op == "same":
                names = (*names, *self._with_repeated(self.statements[name].of))
        return names


def _statements(claim: Claim, talk: Talk, at: datetime) -> list[Statement]:
    """Return the statements of a claim: a compound claim has one for each part, named after its slot."""
    of = tuple(f"{target}#{claim.part}" if claim.part else target for target in claim.of)
    statement = Statement(
        id=claim.id,
        text=claim.text,
        said_at=talk.said_at(claim),
        learned_at=at,
        since=None if claim.since is None else day(claim.since),
        until=None if claim.until is None else day(claim.until) + timedelta(days=1),
        op=claim.op,
        of=of,
        rests_on=claim.rests_on,
        slot=None if claim.slot is None else (claim.subject, claim.slot),
    )
    parts = [
        replace(statement, id=f"{claim.id}#{slot}", text=text, slot=(claim.subject, slot)) for slot, text in claim.parts
    ]
    return parts or [statement]


@dataclass(frozen=True)
class Fact:
    """Statements that say the same, oldest first."""

    key: str
    text: str
    statements: tuple[Statement, ...]

    @property
    def first(self) -> Statement:
        return self.statements[0]

    @property
    def said_at(self) -> datetime:
        return self.first.said_at

    @property
    def repeated_at(self) -> datetime:
        return self.statements[-1].said_at


class View:
    """What memory knew of what had been said: a fact of each statement, and what changed it."""

    def __init__(self, statements: Iterable[Statement], decisions: Iterable[Decision], at: datetime) -> None:
        self.at = at
        by_id = {statement.id: statement for statement in statements}
        members: dict[str, list[Statement]] = {}
        keys: dict[str, str] = {}
        in_slot: dict[tuple[str, str], Statement] = {}
        for said in sorted(by_id.values(), key=lambda statement: statement.said_at):
            statement, key = said, _root(said, by_id)
            last = in_slot.get(statement.slot) if statement.slot is not None else None
            if last is not None and said.op == "corrects" and last.op != "ends" and not by_id.keys() & set(said.of):
                statement = replace(said, of=(last.id,))  # what it corrects is not known yet
            if last is not None and last.text == statement.text:  # nothing else was said of the slot in between
                key = keys[last.id]
            keys[statement.id] = keys.get(key, key)
            members.setdefault(keys[statement.id], []).append(statement)
            if statement.slot is not None:
                in_slot[statement.slot] = statement
        self.decisions = list(decisions)
        self.facts = {key: Fact(key, self._text(group), tuple(group)) for key, group in members.items()}
        self._fact_of = {statement.id: fact for fact in self.facts.values() for statement in fact.statements}
        # Answers are remembered: they do not change, and every one of them asks the others.
        self.begin, self.effect, self.changes = cache(self._begin), cache(self._effect), cache(self._changes)

    def entries(self) -> list[Entry]:
        """Return all facts with their status, those that are no longer listed as well."""
        entries: list[Entry] = []
        for fact in self.facts.values():
            valid_from, valid_to, status = self.period(fact)
            if status == "current" and self.cause_of_doubt(fact) is not None:
                status = "doubtful"
            entries.append(Entry(fact.text, status, valid_from, None if valid_to == FOREVER else valid_to))
        return entries

    def listed(self) -> set[Entry]:
        """Return what is listed as current."""
        return {entry for entry in self.entries() if entry.status in LISTED}

    def continued(self) -> set[Entry]:
        """Return all entries, those with one text as one if they follow each other without a gap."""
        continued: list[Entry] = []
        for entry in sorted(self.entries(), key=lambda entry: (entry.text, entry.valid_from)):
            last = continued[-1] if continued else entry
            touches = last.text == entry.text and last.valid_from < entry.valid_from <= (last.valid_to or FOREVER)
            if not touches or entry.valid_from == entry.valid_to:
                continued.append(entry)
                continue
            status = last.status if last.status in ("current", "doubtful") else entry.status
            continued[-1] = replace(last, status=status, valid_to=entry.valid_to)
        return set(continued)

    def period(self, fact: Fact) -> tuple[datetime, datetime, str]:
        """Return from when to when a fact is true, and its status: doubt is not looked at."""
        valid_from = self.begin(fact.key)
        changes = [(op, self.facts[key]) for op, key in self.changes(fact.key)]
        if any(op == "corrects" for op, _ in changes):
            return valid_from, valid_from, "corrected"
        if withdrawal := self._withdrawal(fact):
            return valid_from, valid_from, "ended" if withdrawal[0] == "ends" else "replaced"
        ends = [(statement.until, "ended") for statement in fact.statements[-1:] if statement.until is not None]
        for op, other in changes:
            if (at := self.effect(other.key)) is not None:
                ends.append((at, "ended" if op == "ends" else "replaced"))
        valid_to, reason = min(ends, key=lambda end: (end[0], end[1] == "ended"), default=(FOREVER, "ended"))
        valid_to = max(valid_from, valid_to)
        if self.at < valid_from:
            return valid_from, valid_to, "upcoming"
        return valid_from, valid_to, reason if valid_to <= self.at else "current"

    def cause_of_doubt(self, fact: Fact) -> str | None:
        """Return the fact or the text whose change put a fact in doubt, or None."""
        bases = {target for statement in fact.statements for target in statement.rests_on if target in self._fact_of}
        for base in (self._fact_of[target] for target in sorted(bases)):
            for _, key in self.changes(base.key):
                effect = self.effect(key)
                if self.facts[key].said_at > fact.repeated_at and effect is not None and effect <= self.at:
                    return self.facts[key].text
            for decision in self.decisions:
                if self._is_about(decision, base) and fact.repeated_at < decision.at <= self.at:
                    return decision.text
            cause = self.cause_of_doubt(base)
            if cause is not None and any(
                other.text == cause and other.said_at > fact.repeated_at for other in self.facts.values()
            ):
                return cause
        return None

    def _text(self, group: list[Statement]) -> str:
        text = group[0].text
        ids = {statement.id for statement in group}
        for decision in sorted(self.decisions, key=lambda decision: decision.at):
            text = decision.text if ids & decision.statement_ids else text
        return text

    @staticmethod
    def _is_about(decision: Decision, fact: Fact) -> bool:
        return any(statement.id in decision.statement_ids for statement in fact.statements)

    def _changes(self, key: str) -> list[tuple[str, str]]:
        """Return what changes a fact and how, in the order it was said: by name, or later in the same slot."""
        changes = [
            (other.said_at, change, fact.key)
            for fact in self.facts.values()
            for other in fact.statements
            for statement in self.facts[key].statements
            if fact.key != key and (change := _change(other, statement)) is not None
        ]
        return [(op, other) for _, op, other in sorted(changes)]

    def _begin(self, key: str) -> datetime:
        """Return when a fact begins: as its words say, else with what it corrects, else when it was first said."""
        first = self.facts[key].first
        if first.since is not None:
            return first.since
        targets = [self._fact_of[target] for target in first.of if target in self._fact_of]
        if first.op == "corrects" and targets:
            return min(self.begin(target.key) for target in targets)
        return first.said_at

    def _withdrawal(self, fact: Fact) -> tuple[str, str] | None:
        """Return the change that was said before the fact began: it was never in force."""
        for op, key in self.changes(fact.key):
            if op != "corrects" and self.facts[key].said_at < self.begin(fact.key):
                return op, key
        return None

    def _effect(self, key: str) -> datetime | None:
        """Return when a fact ends those that it replaces or ends; None if it was withdrawn before it began.

        What was corrected, or replaced before it began, passes its place on.
        """
        fact = self.facts[key]
        corrections = [other for op, other in self.changes(key) if op == "corrects"]
        if corrections:
            return self.effect(corrections[-1])
        if withdrawal := self._withdrawal(fact):
            return None if withdrawal[0] == "ends" else self.effect(withdrawal[1])
        return self.begin(key)


def _change(statement: Statement, earlier: Statement) -> str | None:
    """Return what a statement does to one that was said before it: as it says, or because both speak of a slot."""
    if statement.op in CHANGES and earlier.id in statement.of:
        return statement.op
    if statement.slot is None or statement.slot != earlier.slot or statement.said_at <= earlier.said_at:
        return None
    return "ends" if statement.op == "ends" else "replaces"


def _root(statement: Statement, by_id: dict[str, Statement]) -> str:
    while statement.op == "same" and (targets := [by_id[name] for name in statement.of if name in by_id]):
        statement = targets[0]
    return statement.id


def end_of_day(text: str) -> datetime:
    """Return the moment that `as_of` and `known_at` mean: a day alone means its end."""
    return moment(text) if "T" in text else day(text) + timedelta(days=1, microseconds=-1)
