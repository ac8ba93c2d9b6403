"""Applies a relearning as one change, by the same steps as learning, and undoes it."""

from collections.abc import Sequence
from dataclasses import replace

from bethink.errors import VersionConflictError
from bethink.memory.facts.forget_requests import hide_learned
from bethink.memory.facts.reconcile import Settled, Settlement, link_claim, settle
from bethink.model.facts import Fact, SourceMessage
from bethink.model.moments import to_micros
from bethink.model.relearning import Relearning, RelearningCounts, RelearningStatus
from bethink.model.reviews import ClaimChange, ClaimedFact
from bethink.store import facts, holds, relearnings, statements, views
from bethink.store.db import Tx
from bethink.store.relearnings import RelearnedClaim, UndoLog
from bethink.store.statements import LINK_OF_CHANGE, Link, LinkKind, Statement

_LINKS = (LinkKind.REPLACES, LinkKind.CORRECTS, LinkKind.ENDS, LinkKind.RESTS_ON)


def apply(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Apply a proposal as one change.

    Raises `VersionConflictError` if a fact that it would change was changed since.
    """
    facts.lock(tx, space=space)
    relearning = relearnings.find(tx, space=space, relearning_id=relearning_id)
    if relearning.status is not RelearningStatus.PROPOSED:
        return relearning
    claims = relearnings.claims_of(tx, space=space, relearning_id=relearning_id)
    application = _Application(tx, space, claims)
    for item in relearning.changed:
        application.retire(item.before, successor_id=item.after.fact.id)
    for fact in relearning.removed:
        application.retire(fact, successor_id=relearning.id)
    for number, item in enumerate(claims):
        application.store(item, effect=f"{relearning.id}:{number}")
    application.refresh()
    counts = application.counts(replaced=len(relearning.changed), removed=len(relearning.removed))
    relearnings.mark_applied(tx, relearning, counts, application.log, space=space)
    return relearnings.find(tx, space=space, relearning_id=relearning_id)


def undo(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Restore the facts as they were before.

    Raises `VersionConflictError` if a fact that it added was changed since, and `LegalHoldError` if none may be
    removed.
    """
    holds.check_not_on_hold(tx, space=space)
    facts.lock(tx, space=space)
    relearning = relearnings.find(tx, space=space, relearning_id=relearning_id)
    if relearning.status is not RelearningStatus.APPLIED:
        return relearning
    log = relearnings.undo_log(tx, space=space, relearning_id=relearning_id)
    for fact_id in log.added:
        _check_unchanged(tx, fact_id, relearning_id, space=space)
    ids = {*log.added, *(row[0] for row in log.restated), *(row[0] for row in log.retired)}
    ids |= {row[0] for row in log.linked} | {row["target_id"] for row in log.unlinked}
    affected = views.neighbors(tx, space=space, fact_ids=ids)
    for fact_id in log.added:
        facts.delete(tx, space=space, fact_id=fact_id)
    for fact_id, support, expires_at in log.restated:
        _withdraw(tx, fact_id, support, expires_at, space=space)
    for target_id, kind, fact_id, support in log.linked:
        tx.run("delete_link", space=space, target=target_id, kind=kind, fact=fact_id, support=support)
    for row in log.unlinked:
        tx.run("restore_link", space=space, **row)
    for fact_id, version in log.retired:
        tx.run("restore_version", space=space, id=fact_id, version=version)
        tx.run("restore_statements", space=space, fact=fact_id, at=relearning.applied_at)
    affected |= views.neighbors(tx, space=space, fact_ids=ids)
    views.refresh(tx, space=space, fact_ids=affected)
    relearnings.mark_undone(tx, relearning, space=space)
    return relearnings.find(tx, space=space, relearning_id=relearning_id)


class _Application:
    """The changes of one relearning, as they are made."""

    def __init__(self, tx: Tx, space: str, claims: Sequence[RelearnedClaim]) -> None:
        self.log = UndoLog()
        self._tx = tx
        self._space = space
        self._mentioned = {item.claim.fact.id for item in claims}
        self._ids: dict[str, str | None] = {}
        """The facts that new claims became, by the id that the proposal gave them."""
        self._changed: set[str] = set()
        self._restated: set[str] = set()
        self._skipped = 0

    def retire(self, fact: Fact, *, successor_id: str) -> None:
        """Retire a fact that the proposal replaces or removes. Raises `VersionConflictError`."""
        tx, space = self._tx, self._space
        current = facts.find(tx, space=space, fact_id=fact.id)
        if current is None or current.version != fact.version:
            now = None if current is None else current.version
            raise VersionConflictError(f"Fact {fact.id} has changed since the proposal.", current=now)
        self._changed |= views.neighbors(tx, space=space, fact_ids=[fact.id])
        facts.retire(tx, space=space, fact_id=fact.id, successor_id=successor_id)
        statements.drop(tx, space=space, fact_id=fact.id)
        self.log.retired.append((fact.id, fact.version))

    def store(self, item: RelearnedClaim, *, effect: str) -> None:
        """Store a statement: as a new fact, for an existing one, or only its links if it is stored already."""
        fact_id = self._ids.get(item.claim.fact.id, item.claim.fact.id)
        if fact_id is None:
            self._skipped += 1
            return
        existing = facts.find(self._tx, space=self._space, fact_id=fact_id)
        claim = self._with_stored_ids(item.claim, fact_id)
        if existing is not None:
            statement = self._statement_of(fact_id, claim)
            if statement is not None:
                self._relink(statement, claim)
                return
        if item.is_settled:
            return
        if existing is not None and claim.change in (ClaimChange.NEW, ClaimChange.SAME):
            claim = ClaimedFact(
                fact=claim.fact, quotes=claim.quotes, change=ClaimChange.SAME, existing_ids=(fact_id,),
                rests_on=claim.rests_on,
            )  # fmt: skip
        self._settle(item, claim, effect=effect)

    def refresh(self) -> None:
        """Store anew when the changed facts are true."""
        tx, space = self._tx, self._space
        affected = self._changed | views.neighbors(tx, space=space, fact_ids=self._changed)
        views.refresh(tx, space=space, fact_ids=affected, new=self.log.added)

    def counts(self, *, replaced: int, removed: int) -> RelearningCounts:
        """Return what changed."""
        return RelearningCounts(
            added=len(self.log.added),
            replaced=replaced,
            removed=removed,
            restated=len(self._restated.difference(self.log.added)),
            skipped=self._skipped,
        )

    def _settle(self, item: RelearnedClaim, claim: ClaimedFact, *, effect: str) -> None:
        tx, space = self._tx, self._space
        same = facts.with_same_text(tx, space=space, content=claim.fact.text)
        same += [fact for fact in (facts.find(tx, space=space, fact_id=claim.fact.id),) if fact is not None]
        expiry = {fact.id: fact.expires_at for fact in same}
        settled: Settled = settle(tx, claim, space=space, effect=effect, token=0, position=item.position)
        hide_learned(
            tx, space=space, messages=[SourceMessage(quote.session_id, quote.number) for quote in claim.quotes]
        )
        if settled.settlement in (Settlement.DISPUTED, Settlement.KNOWN, Settlement.DECIDED):
            self._skipped += 1
            self._ids.setdefault(item.claim.fact.id, settled.fact_id)
            if settled.settlement is not Settlement.DECIDED:
                return
        fact_id = settled.fact_id
        if fact_id is None:
            return
        self._ids[item.claim.fact.id] = fact_id
        self._changed.add(fact_id)
        if fact_id == claim.fact.id and fact_id not in expiry:
            self.log.added.append(fact_id)
            return
        before = expiry.get(fact_id)
        self.log.restated.append((fact_id, effect, None if before is None else int(to_micros(before))))
        self._restated.add(fact_id)

    def _with_stored_ids(self, claim: ClaimedFact, fact_id: str) -> ClaimedFact:
        def stored(ids: Sequence[str]) -> tuple[str, ...]:
            final = (self._ids.get(name, name) for name in ids)
            return tuple(dict.fromkeys(name for name in final if name is not None and name != fact_id))

        return ClaimedFact(
            fact=replace(claim.fact, id=fact_id), quotes=claim.quotes, change=claim.change,
            existing_ids=stored(claim.existing_ids), rests_on=stored(claim.rests_on),
        )  # fmt: skip

    def _statement_of(self, fact_id: str, claim: ClaimedFact) -> Statement | None:
        """Return the statement that a fact has from the same message."""
        words = {(quote.session_id, quote.number) for quote in claim.quotes if not quote.context}
        own = statements.of_facts(self._tx, space=self._space, fact_ids=[fact_id])
        return next((entry for entry in own if entry.key[1:3] in words and entry.dropped_at is None), None)

    def _relink(self, statement: Statement, claim: ClaimedFact) -> None:
        """Give a stored statement the links that were learned now. Links to facts that were not learned stay."""
        tx, space = self._tx, self._space
        new_links = {(target, LinkKind.RESTS_ON) for target in claim.rests_on}
        if claim.change in LINK_OF_CHANGE:
            new_links |= {(target, LINK_OF_CHANGE[claim.change]) for target in claim.existing_ids}
        stored = {
            (link.target_id, LinkKind(link.kind)): link
            for link in statements.links_from(tx, space=space, fact_ids=[statement.fact_id])
            if link.support == statement.support and link.kind in _LINKS
        }
        stale = [
            link for key, link in stored.items() if key not in new_links and link.target_id in self._mentioned
        ]  # fmt: skip
        for link in stale:
            self._unlink(link)
        targets = [fact for name in claim.existing_ids if (fact := facts.find(tx, space=space, fact_id=name))]
        link_claim(tx, claim, statement, targets, space=space)
        for link in statements.links_from(tx, space=space, fact_ids=[statement.fact_id]):
            if link.support == statement.support and (link.target_id, link.kind) not in stored:
                self.log.linked.append((link.target_id, link.kind, link.fact_id, link.support))
                self._changed |= {link.target_id, link.fact_id}
                self._restated.add(link.target_id)

    def _unlink(self, link: Link) -> None:
        keys = {"target": link.target_id, "kind": link.kind, "fact": link.fact_id, "support": link.support}
        self._tx.run("delete_link", space=self._space, **keys)
        said_at, session_id, number, position = link.key
        self.log.unlinked.append(
            {
                "target_id": link.target_id, "kind": link.kind, "fact_id": link.fact_id, "support": link.support,
                "said_at": said_at, "session_id": session_id, "number": number, "position": position,
                "recorded_at": link.recorded_at, "begins_at": link.begins_at,
            }
        )  # fmt: skip
        self._changed |= {link.target_id, link.fact_id}
        self._restated.add(link.target_id)


def _check_unchanged(tx: Tx, fact_id: str, relearning_id: str, *, space: str) -> None:
    """Raise `VersionConflictError` if a fact that a relearning added was changed, stated again or replaced since."""
    versions = facts.versions(tx, space=space, fact_id=fact_id)
    own = statements.of_facts(tx, space=space, fact_ids=[fact_id])
    links = statements.links_to(tx, space=space, fact_ids=[fact_id])
    prefix = f"{relearning_id}:"
    is_changed = len(versions) != 1 or any(version.replaced_at is not None for version in versions)
    if is_changed or not all(entry.support.startswith(prefix) for entry in (*own, *links)):
        number = versions[-1].version if versions else None
        raise VersionConflictError(f"Fact {fact_id} has changed since the relearning.", current=number)


def _withdraw(tx: Tx, fact_id: str, support: str, expires_at: int | None, *, space: str) -> None:
    """Remove one occurrence of a fact."""
    tx.run("delete_links_of_statement", space=space, fact=fact_id, support=support)
    tx.run("delete_statement", space=space, fact=fact_id, support=support)
    tx.run("delete_support", space=space, fact=fact_id, support=support)
    tx.run("delete_unquoted_sources", space=space, fact=fact_id)
    tx.run("restore_expiry", space=space, id=fact_id, at=expires_at)
