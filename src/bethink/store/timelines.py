"""Periods in which facts are true, computed from their statements and the links between them, for any view of memory.

This is the only place that decides it. `docs/explanation/time.md` has the rules, and `tests/truth/reference.py` states
them a second time, independently.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bethink.model.facts import FactStatus
from bethink.model.reviews import ClaimChange
from bethink.model.views import NOW, TimeView
from bethink.store.statements import SAVED, Key, Link, LinkKind, Statement

_MAX_STEPS = 5
"""How far doubt and the beginning of corrected statements are followed."""
_ENDED_AS = {
    LinkKind.CORRECTS: FactStatus.CORRECTED,
    LinkKind.REPLACES: FactStatus.REPLACED,
    LinkKind.ENDS: FactStatus.ENDED,
}
_CHANGES = (LinkKind.REPLACES, LinkKind.ENDS)


class Period(NamedTuple):
    """Time in which a statement was true, and what ended it. `cause` is empty if its own words or a person did."""

    begins: int
    ends: int | None
    ended_as: FactStatus | None = None
    cause: str = ""
    said_at: int = 0
    """When it was said that it ended."""
    recorded_at: int | None = None
    """When memory learned that, unless its own words name the end."""
    begins_named: bool = False
    """Whether words name the beginning, or a corrected statement had it; otherwise it is when it was said."""


class Doubt(NamedTuple):
    """Why a fact is in doubt: the fact whose statement changed what it rests on, and since when."""

    cause: str
    since: int
    said_at: int


class FactTimes(NamedTuple):
    """Times of a fact in one view of memory. `valid_from` is None if it begins when it was first said."""

    first_said: int
    valid_from: int | None
    valid_to: int | None
    ended_as: FactStatus | None
    cause: str
    end_recorded_at: int | None
    """When memory learned what ended it, unless its own words name the end."""
    doubt: Doubt | None

    def status(self, at: int) -> FactStatus:
        """Return whether it is true at a moment."""
        if self.valid_to is not None and self.valid_to <= at:
            return self.ended_as or FactStatus.ENDED
        if self.valid_from is not None and self.valid_from > at:
            return FactStatus.UPCOMING
        if self.doubt is not None and self.doubt.since <= at:
            return FactStatus.DOUBTFUL
        return FactStatus.CURRENT


class Timelines:
    """The statements and links that count in one view, and when each fact is true."""

    def __init__(self, statements: Iterable[Statement], links: Iterable[Link], view: TimeView = NOW) -> None:
        self._links_to: dict[str, list[Link]] = defaultdict(list)
        self._links_from: dict[tuple[str, str], list[Link]] = defaultdict(list)
        self._bases: dict[str, list[Link]] = defaultdict(list)
        self._periods: dict[tuple[str, str], Period] = {}
        links = list(links)
        self._forgotten: dict[str, Key] = {}
        for link in links:  # a request to forget counts in every view
            if link.kind == LinkKind.FORGETS:
                self._forgotten[link.target_id] = max(link.key, self._forgotten.get(link.target_id, link.key))
        self._by_fact: dict[str, list[Statement]] = defaultdict(list)
        self._by_topic: dict[tuple[str, str], list[Statement]] = defaultdict(list)
        self._topics: dict[str, tuple[tuple[str, str], ...]] = {}
        self._source_of: dict[tuple[str, str], Statement] = {}
        self._dropped: set[tuple[str, str]] = set()
        said, known = view.said_until, view.known_until
        for statement in sorted(set(statements), key=lambda statement: (statement.key, statement.fact_id)):
            if statement.is_dropped(said_until=said, known_until=known):
                self._dropped.add((statement.fact_id, statement.support))
                continue
            if statement.said_at > said or statement.recorded_at > known:
                continue
            if self._is_forgotten(statement.fact_id, statement.key):
                continue
            self._by_fact[statement.fact_id].append(statement)
            self._source_of[statement.fact_id, statement.support] = statement
        self._sort_by_topic()
        for link in links:
            if link.said_at <= said and link.recorded_at <= known:
                self._add_link(link)

    def _sort_by_topic(self) -> None:
        """Sort the statements by slot. The same words speak of the same one, also where a model named it only once."""
        for fact_id, own in self._by_fact.items():
            topics = dict.fromkeys(statement.topic for statement in own if statement.topic is not None)
            for topic in topics:
                self._by_topic[topic] += own
            self._topics[fact_id] = tuple(topics)
        for line in self._by_topic.values():
            line.sort(key=lambda statement: (statement.key, statement.fact_id))

    def _add_link(self, link: Link) -> None:
        is_withdrawn = (link.fact_id, link.support) in self._dropped
        is_forgotten = bool(link.fact_id) and self._is_forgotten(link.fact_id, link.key)
        if link.kind == LinkKind.FORGETS or is_withdrawn or is_forgotten:
            return
        if link.kind == LinkKind.RESTS_ON:
            self._bases[link.fact_id].append(link)
            return
        self._links_to[link.target_id].append(link)
        self._links_from[link.fact_id, link.support].append(link)

    def _is_forgotten(self, fact_id: str, key: Key) -> bool:
        request = self._forgotten.get(fact_id)
        return request is not None and key < request

    def of(self, fact_id: str, at: int) -> FactTimes | None:
        """Return when a fact is true, seen from a moment; None if it was not said in this view, or is forgotten."""
        statements = self._by_fact.get(fact_id)
        if not statements:
            return None
        periods = [self._period(statement) for statement in statements]
        lasting = [period for period in periods if period.ends is None or period.ends > at]
        begun = [period for period in lasting if period.begins <= at]
        chosen = begun[-1] if begun else lasting[0] if lasting else periods[-1]
        # Words said again before they ended go on with the period that they repeat.
        ended = (chosen.ends, chosen.ended_as)
        run = begun or [period for period in periods if (period.ends, period.ended_as) == ended]
        begins = min(period.begins for period in run)
        # Words said again after another statement had replaced them begin a new period.
        named = any(period.begins_named for period in run) or len(run) < len(periods)
        first_said = statements[0].said_at
        return FactTimes(
            first_said=first_said,
            valid_from=begins if named and begins != first_said else None,
            valid_to=chosen.ends,
            ended_as=chosen.ended_as,
            cause=chosen.cause,
            end_recorded_at=chosen.recorded_at,
            doubt=self._doubt(fact_id, at, _MAX_STEPS),
        )

    def _begins(self, statement: Statement, steps: int = _MAX_STEPS) -> tuple[int, bool]:
        """Return when a statement begins, and whether that is named: a correction begins when what it corrects did."""
        if statement.begins_at is not None:
            return statement.begins_at, True
        corrected = self._corrected_by(statement)
        if not corrected or not steps:
            return statement.said_at, False
        return min(self._begins(earlier, steps - 1)[0] for earlier in corrected), True

    def _corrected_by(self, statement: Statement) -> list[Statement]:
        """Return what a statement corrects: the facts that it names, or else what was said last about its slot."""
        links = self._links_from.get((statement.fact_id, statement.support), ())
        targets = [link.target_id for link in links if link.kind == LinkKind.CORRECTS]
        if not targets and statement.change == ClaimChange.CORRECTS:
            # Its target was learned later, or on another device.
            rivals = self._in_same_slots(statement.fact_id)
            position = bisect_left(rivals, statement.key, key=lambda rival: rival.key)
            earlier = [rival for rival in rivals[:position] if rival.fact_id != statement.fact_id]
            targets = [rival.fact_id for rival in earlier[-1:] if rival.change != ClaimChange.ENDS]
        return [earlier for target in targets for earlier in self._last_run(target, statement.key)]

    def _period(self, statement: Statement) -> Period:
        """Return when a statement was true. It depends on many others, so it is computed once."""
        key = statement.fact_id, statement.support
        if key not in self._periods:
            self._periods[key] = self._computed_period(statement)
        return self._periods[key]

    def _computed_period(self, statement: Statement) -> Period:
        begins, named = self._begins(statement)
        correction = self._correction(statement)
        if correction is not None:
            never = min(begins, correction.said_at, correction.recorded_at)  # not upcoming either
            period = Period(never, never, FactStatus.CORRECTED, correction.fact_id, correction.said_at)
            return _with_record_time(period, statement, correction, named=named)
        better = self._better(statement, begins)
        if better is not None:
            never = min(begins, statement.said_at, statement.recorded_at)
            period = Period(never, never, FactStatus.REPLACED, better.fact_id, better.said_at)
            return _with_record_time(period, statement, better, named=named)
        first: Period | None = None
        if statement.ends_at is not None:
            first = Period(begins, statement.ends_at, FactStatus.ENDED, "", statement.said_at)
        for change in self._changes(statement, begins):
            if first is None or first.ends is None or (change.ends or 0) < first.ends:
                first = change
        if first is None:
            return Period(begins, None, begins_named=named)
        # What was replaced before it began was never in force.
        return first._replace(begins=min(begins, first.ends or begins), begins_named=named)

    def _correction(self, statement: Statement) -> Link | Statement | None:
        for link in self._links_to.get(statement.fact_id, ()):
            is_later = link.kind == LinkKind.CORRECTS and link.key > statement.key
            if is_later and statement in self._last_run(statement.fact_id, link.key):
                return link
        unnamed = (rival for rival in self._rivals_after(statement) if rival.change == ClaimChange.CORRECTS)
        return next((rival for rival in unnamed if statement in self._corrected_by(rival)), None)

    def _last_run(self, fact_id: str, before: Key) -> list[Statement]:
        """Return the statements of a fact up to a moment, since something else was last said in between.

        What was said before something else was true belongs to another period, which a correction leaves alone.
        """
        statements = [statement for statement in self._by_fact.get(fact_id, ()) if statement.key < before]
        if len(statements) < 2:
            return statements
        last = statements[-1].key
        links = [link for link in self._links_to.get(fact_id, ()) if link.kind in _CHANGES]
        changes = [
            link.key for link in links if not self._was_called_off(self._source_of.get((link.fact_id, link.support)))
        ]
        changes += [rival.key for rival in self._rivals_after(statements[0]) if not self._was_called_off(rival)]
        begins = max((key for key in changes if key < last), default=statements[0].key)
        return [statement for statement in statements if statement.key >= begins]

    def _was_called_off(self, statement: Statement | None) -> bool:
        """Return whether a link ended a plan before it began, without asking whether that link counts in turn."""
        if statement is None or statement.begins_at is None:
            return False
        later = (link for link in self._links_to.get(statement.fact_id, ()) if link.kind in _CHANGES)
        return any(link.key > statement.key and link.said_at < statement.begins_at for link in later)

    def _dropped_by(self, statement: Statement) -> Link | Statement | None:
        """Return what changed a statement about the future before it began, so that it was never in force."""
        begins = statement.begins_at
        if begins is None or begins <= statement.said_at:
            return None
        links = (link for link in self._links_to.get(statement.fact_id, ()) if link.kind in _CHANGES)
        later: list[Link | Statement] = [link for link in links if link.key > statement.key]
        later += [rival for rival in self._rivals_after(statement) if self._counts(rival)]
        early = [change for change in later if change.said_at < begins]
        return min(early, key=lambda change: change.key, default=None)

    def _changes(self, statement: Statement, begins: int) -> Iterator[Period]:
        """Yield the ends of a statement: by links first, then by later statements about the same slot."""

        def end(at: int, said_at: int) -> int:
            # At once, if it had not begun when the change was said.
            return said_at if begins > said_at else max(at, begins)

        for link in self._links_to.get(statement.fact_id, ()):
            change = self._in_force(link) if link.kind in _CHANGES and link.key > statement.key else None
            if change is not None:
                ends = end(change.begins_at, change.said_at)
                period = Period(begins, ends, _ENDED_AS[LinkKind(change.kind)], change.fact_id, change.said_at)
                yield _with_record_time(period, statement, change)
        first: int | None = None
        for rival in self._rivals_after(statement):
            if rival.trust < statement.trust:
                continue
            ends = end(self._begins(rival)[0], rival.said_at)
            # Most later statements end it later than the next one does, and need not be looked at.
            if (first is None or ends < first) and self._counts(rival):
                first = ends
                ended_as = FactStatus.ENDED if rival.change == ClaimChange.ENDS else FactStatus.REPLACED
                period = Period(begins, ends, ended_as, rival.fact_id, rival.said_at)
                yield _with_record_time(period, statement, rival)

    def _in_force(self, link: Link) -> Link | None:
        """Return a change as it took effect: what replaced a plan that was dropped takes its place, if anything did."""
        source = self._source_of.get((link.fact_id, link.support))
        change = None if source is None else self._dropped_by(source)
        if change is None:
            return link
        if isinstance(change, Statement):
            begins = self._begins(change)[0]
            return link._replace(fact_id=change.fact_id, support=change.support, key=change.key, begins_at=begins)
        return change if change.kind == LinkKind.REPLACES else None

    def _rivals_after(self, statement: Statement) -> Sequence[Statement]:
        rivals = self._in_same_slots(statement.fact_id)
        position = bisect_right(rivals, statement.key, key=lambda rival: rival.key)
        return [rival for rival in rivals[position:] if rival.fact_id != statement.fact_id]

    def _in_same_slots(self, fact_id: str) -> Sequence[Statement]:
        """Return the statements about the slots of a fact, in the order in which they were said."""
        topics = self._topics.get(fact_id, ())
        if len(topics) < 2:
            return self._by_topic[topics[0]] if topics else ()
        lines = {statement for topic in topics for statement in self._by_topic[topic]}
        return sorted(lines, key=lambda statement: (statement.key, statement.fact_id))

    def _counts(self, rival: Statement) -> bool:
        """Return whether a statement can end another: it was not corrected or dropped, and is not only past."""
        is_past = rival.ends_at is not None and rival.ends_at <= rival.said_at
        return not is_past and self._correction(rival) is None and self._dropped_by(rival) is None

    def _better(self, statement: Statement, begins: int) -> Statement | None:
        """Return an earlier statement of a more trusted source that was still true when this one was made.

        A program that saves a fact without a message knows what it does: its facts are never outranked.
        """
        if statement.support.startswith(SAVED):
            return None
        for rival in self._in_same_slots(statement.fact_id):
            if rival.key >= statement.key:
                break
            if rival.trust > statement.trust and rival.fact_id != statement.fact_id and self._counts(rival):
                period = self._period(rival)
                if period.ends is None or period.ends > begins:
                    return rival
        return None

    def _doubt(self, fact_id: str, at: int, steps: int) -> Doubt | None:
        """Return what changed under a fact since it was last stated. What an earlier period rested on has no effect."""
        statements = self._by_fact.get(fact_id, [])
        lasting = {statement.support for statement in statements if (self._period(statement).ends or at + 1) > at}
        bases = [link for link in self._bases.get(fact_id, ()) if link.support in lasting]
        if not bases:
            return None
        last_said, last_recorded = statements[-1].said_at, max(entry.recorded_at for entry in statements)
        direct = {link.target_id for link in bases}
        for base in self._with_successors(dict.fromkeys(link.target_id for link in bases)):
            for period in map(self._period, self._by_fact.get(base, ())):
                by_statement = period.ended_as is not None and period.said_at > last_said
                if by_statement and period.ends is not None and (period.cause or self._ended_by_person(base)):
                    return Doubt(period.cause or base, max(period.ends, period.said_at), period.said_at)
            for link in self._links_to.get(base, ()):
                if base in direct and link.kind == LinkKind.REWORDS and link.recorded_at > last_recorded:
                    return Doubt(base, link.said_at, link.said_at)
            deeper = self._doubt(base, at, steps - 1) if steps else None
            if deeper is not None and deeper.said_at >= last_said:
                return deeper
        return None

    def _with_successors(self, fact_ids: Iterable[str]) -> list[str]:
        """Return facts with those that took their place: words said again after that rest on these."""
        result = dict.fromkeys(fact_ids)
        level = list(result)
        for _ in range(_MAX_STEPS):
            periods = (self._period(entry) for fact_id in level for entry in self._by_fact.get(fact_id, ()))
            level = [period.cause for period in periods if period.cause and period.cause not in result]
            result.update(dict.fromkeys(level))
        return list(result)

    def _ended_by_person(self, fact_id: str) -> bool:
        return any(link.kind == LinkKind.ENDS and not link.fact_id for link in self._links_to.get(fact_id, ()))


def _with_record_time(period: Period, statement: Statement, cause: Statement | Link, *, named: bool = False) -> Period:
    """Return a period with the time when memory knew both the statement and what ended it."""
    return period._replace(recorded_at=max(statement.recorded_at, cause.recorded_at), begins_named=named)
