"""Embeds what a space holds, under a claim: texts are read, embedded outside any transaction, and checked again."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from anyio import to_thread

from bethink.errors import BadAnswer, LostClaim
from bethink.extend import Embedder
from bethink.logs import logger
from bethink.model.jobs import Claim, JobKind, JobStatus, Learnt, Outcome
from bethink.model.recall import RefKind
from bethink.model.rules import QUIET_CHECK
from bethink.model.text import clean
from bethink.recall.reindex import switch_when_full
from bethink.store import facts, jobs, vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import Embedded, IndexStatus, Unembedded, VectorIndex

_AT_ONCE = 1_024
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_LONGEST_ERROR = 200

_PART = 1_000
_LONGEST_PART = 1_200
_SHORTEST_PART = 400
_MOST_PARTS = 8
# Where a text may be cut, the best place first: after a paragraph, a line or sentence, a word.
_CUTS = (re.compile(r"\n\s*\n"), re.compile(r"\n|(?<=[.!?…])[\"')\]]*\s|(?<=[。！？])"), re.compile(r"\s"))  # noqa: RUF001
_log = logger("recall")


def passages(source: Unembedded) -> list[str]:
    """Return what is embedded of a text: all of it in parts, but only the beginning of a message.

    The rest of a long message, and the speaker's name before it, were of no help on four public sets.
    """
    if source.ref.kind is RefKind.MESSAGE:
        return [source.text.strip()[:_LONGEST_PART]]
    return parts_of(source.text)


def parts_of(text: str) -> list[str]:
    """Cut a long text where a paragraph or sentence ends, into at most 8 parts of about 1,000 characters.

    There is always one, also of nothing; what follows the last is not embedded.
    """
    rest, parts = text.strip(), list[str]()
    while len(rest) > _LONGEST_PART and len(parts) < _MOST_PARTS - 1:
        place = _cut(rest)
        parts.append(rest[:place].rstrip())
        rest = rest[place:].lstrip()
    return [*parts, rest[: _cut(rest)].rstrip() if len(rest) > _LONGEST_PART else rest]


def _cut(text: str) -> int:
    window = text[:_LONGEST_PART]
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(window) if match.end() >= _SHORTEST_PART]
        if ends:
            return min(ends, key=lambda end: abs(end - _PART))
    return _PART


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """Embeds claimed spaces: whatever has no vector of this embedder gets one."""

    database: Database
    embedder: Embedder
    batch: int = 64

    async def process(self, claim: Claim) -> Learnt:
        """Embed what is missing and end the claim with the last of it. Raises `ModelError`, and `LostClaim`."""
        index = await self._index()
        if index is None or index.status is IndexStatus.RETIRED:
            why = "the server has no pgvector" if index is None else f"{index.embedder} was retired"
            _log.warning("nothing is embedded: %s", why)
            return await self.database.transact(lambda tx: self._store(tx, claim, index), space=claim.space)
        learnt = await self._fill(claim, index)
        if index.status is IndexStatus.FILLING:
            await switch_when_full(self.database, index)
        _log.info("indexed a space: %s texts embedded", learnt.settled["embedded"])
        return learnt

    async def fail(
        self, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """End a claim that came to nothing; what was promised since is reason enough to try again at once."""

        def body(tx: Tx) -> None:
            newer = (jobs.hold(tx, claim) or 0) > claim.input_watermark
            reason = " ".join(clean(error).split())[:_LONGEST_ERROR]
            jobs.fail(tx, claim, newer=newer, status=status, delay=delay, attempts=attempts, error=reason)

        await self.database.transact(body, space=claim.space, repeatable=True)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Promise a run where something was said that nobody promised to index, as in the middle of a session."""
        index = vectors.live(tx, embedder=self.embedder.name, dimension=self.embedder.dimension)
        if vectors.available(tx) and (index is None or vectors.missing(tx, space=space, index=index, limit=1)):
            jobs.queue(tx, space=space, kind=JobKind.INDEX, key=key, watermark=0)
            return True
        due = tx.now + _DAY if vectors.may_grow(tx, space=space) else None
        jobs.settle_quiet(tx, space=space, kind=JobKind.INDEX, key=key, due=due)
        return False

    async def _index(self) -> VectorIndex | None:
        """Return the index of this embedder, made at its first use; None where there can be none."""

        def find(tx: Tx) -> tuple[bool, list[VectorIndex]]:
            return vectors.available(tx), vectors.indexes(tx)

        def make(tx: Tx) -> VectorIndex:
            return vectors.register(tx, embedder=name, dimension=dimension)

        # The first look at its dimension may load a model: not on the event loop, and in no transaction.
        name, dimension = self.embedder.name, await to_thread.run_sync(lambda: self.embedder.dimension)
        possible, known = await self.database.transact(find, read=True)
        if not possible:
            return None
        ours = [each for each in known if (each.embedder, each.dimension) == (name, dimension)]
        # One that was retired stays so: only who reindexes brings it back, and not a worker with old settings.
        return ours[0] if ours else await self.database.transact(make, repeatable=True)

    async def _fill(self, claim: Claim, index: VectorIndex) -> Learnt:
        stored = 0
        while True:
            waiting = await self.database.transact(
                lambda tx: vectors.missing(tx, space=claim.space, index=index, limit=_AT_ONCE),
                space=claim.space,
                read=True,
            )
            *first, last = list(_batches(waiting, self.batch)) or [[]]
            before, more = stored, len(waiting) == _AT_ONCE
            for batch in [*first, last] if more else first:
                rows = await self._embedded(batch)
                stored += await self.database.transact(
                    lambda tx, rows=rows: self._put(tx, claim, index, rows), space=claim.space
                )
            if not more:
                rows = await self._embedded(last)
                return await self.database.transact(
                    lambda tx, rows=rows, stored=stored: self._store(tx, claim, index, rows, before=stored),
                    space=claim.space,
                )
            if stored == before:
                raise BadAnswer("nothing of what was embedded could be kept.")

    async def _embedded(self, batch: Sequence["tuple[Unembedded, list[str]]"]) -> list[Embedded]:
        texts = [part for _, parts in batch for part in parts]
        if not texts:
            return []
        answer = await self.embedder.embed(texts)
        if len(answer) != len(texts):
            raise BadAnswer(f"{self.embedder.name} gave {len(answer)} vectors for {len(texts)} texts.")
        given = iter(answer)
        return [Embedded(source, [next(given) for _ in parts]) for source, parts in batch]

    def _put(self, tx: Tx, claim: Claim, index: VectorIndex, rows: Sequence[Embedded]) -> int:
        self._hold(tx, claim)
        return vectors.put(tx, space=claim.space, index=index, rows=rows)

    def _store(
        self, tx: Tx, claim: Claim, index: VectorIndex | None, rows: Sequence[Embedded] = (), *, before: int = 0
    ) -> Learnt:
        """Keep the last vectors and end the claim: it begins again at once if more was promised meanwhile."""
        promised = self._hold(tx, claim)
        stored = before
        if index is not None and rows:
            stored += vectors.put(tx, space=claim.space, index=index, rows=rows)
        outcome = Outcome.SUCCEEDED if stored else Outcome.SUCCEEDED_NO_OUTPUT
        status, due = JobStatus.DONE, None
        if promised > claim.input_watermark:
            status, due = JobStatus.QUEUED, tx.now
        elif index is not None and vectors.indexes(tx)[0].id != index.id:
            status, due = JobStatus.QUEUED, tx.now + _MINUTE  # for a worker whose embedder came after ours
        elif vectors.may_grow(tx, space=claim.space):
            status, due = JobStatus.WAITING, tx.now + QUIET_CHECK
        mark = claim.input_watermark
        jobs.finish(tx, claim, status=status, outcome=outcome, due=due, attempts=0, watermark=mark)
        return Learnt(outcome=outcome, settled=Counter(embedded=stored))

    def _hold(self, tx: Tx, claim: Claim) -> int:
        # The space before the job, and both before any text: whoever forgets a text takes them in this order.
        facts.lock(tx, space=claim.space)
        promised = jobs.hold(tx, claim)
        if promised is None:
            raise LostClaim(f"the claim on {claim.space} was lost.")
        return promised


def _batches(waiting: list[Unembedded], size: int) -> Iterator[list[tuple[Unembedded, list[str]]]]:
    """Gather texts until their parts fill a batch; the parts of one text stay together."""
    batch: list[tuple[Unembedded, list[str]]] = []
    count = 0
    for each in waiting:
        parts = passages(each)
        if batch and count + len(parts) > size:
            yield batch
            batch, count = [], 0
        batch.append((each, parts))
        count += len(parts)
    if batch:
        yield batch
