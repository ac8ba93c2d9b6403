"""Embed the texts of a claimed space: read them, embed them outside any transaction, check them again, store."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta

from anyio import to_thread

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import BadAnswer, StoreError
from bethink.extend import Embedder
from bethink.memory.recall.passages import passages
from bethink.memory.recall.reindex import gives_way, grow, switch_when_full
from bethink.model.jobs import Claim, JobKind, JobStatus, Learnt, Outcome
from bethink.model.rules import QUIET_CHECK
from bethink.model.text import clean
from bethink.store import facts, jobs, vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import Embedded, IndexStatus, Unembedded, VectorIndex

_AT_ONCE = 1_024
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_LONGEST_ERROR = 200

_log = logger("recall")


@frozen
class Indexer:
    """Embeds claimed spaces: every text without a vector of this embedder gets one."""

    database: Database
    embedder: Embedder
    batch: int = 64
    grown: int = vectors.GROWN
    """A space with more vectors than this gets an HNSW index (PostgreSQL only)."""

    async def process(self, claim: Claim) -> Learnt:
        """Embed what is missing and finish the claim together with the last batch.

        Raises `ModelError`, and `LostClaim` if another worker has taken over.
        """
        index, why = await self._index()
        if index is None or why:
            _log.warning("embedding is skipped: %s", why)
            return await self.database.transact(lambda tx: self._store(tx, claim, index), space=claim.space)
        learnt = await self._fill(claim, index)
        if index.status is IndexStatus.FILLING:
            await switch_when_full(self.database, index)
        _log.info("indexed a space: %s texts embedded", learnt.settled["embedded"])
        return learnt

    async def fail(
        self, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """Finish a claim that failed. If more work was queued meanwhile, the job is retried at once."""

        def body(tx: Tx) -> None:
            newer = (jobs.hold(tx, claim) or 0) > claim.input_watermark
            reason = " ".join(clean(error).split())[:_LONGEST_ERROR]
            jobs.fail(tx, claim, newer=newer, status=status, delay=delay, attempts=attempts, error=reason)

        await self.database.transact(body, space=claim.space, repeatable=True)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Queue a run if a text has no vector yet, such as the latest message; return whether it did."""
        index = vectors.live(tx, embedder=self.embedder.name, dimension=self.embedder.dimension)
        if vectors.available(tx) and (index is None or vectors.missing(tx, space=space, index=index, limit=1)):
            jobs.queue(tx, space=space, kind=JobKind.INDEX, key=key, watermark=0)
            return True
        due = tx.now + _DAY if vectors.may_grow(tx, space=space) else None
        jobs.settle_quiet(tx, space=space, kind=JobKind.INDEX, key=key, due=due)
        return False

    async def _index(self) -> tuple[VectorIndex | None, str]:
        """Return the index of this embedder, creating it on first use, and why it must not be filled, if so."""

        def find(tx: Tx) -> tuple[bool, list[VectorIndex]]:
            return vectors.available(tx), vectors.indexes(tx)

        def make(tx: Tx) -> VectorIndex:
            return vectors.register(tx, embedder=name, dimension=dimension)

        # Reading the dimension may load a model: keep that off the event loop and out of transactions.
        name, dimension = self.embedder.name, await to_thread.run_sync(lambda: self.embedder.dimension)
        possible, known = await self.database.transact(find, read=True)
        if not possible:
            return None, "the server has no pgvector"
        for each in known:
            if (each.embedder, each.dimension) == (name, dimension):
                # A retired index stays retired: a worker with old settings must not revive it, only a reindex does.
                return each, f"{name} was retired" if each.status is IndexStatus.RETIRED else ""
        other = gives_way(self.embedder, known)
        if other is not None:
            return None, f"the vectors in use are those of {other.embedder}; name an embedder in the settings"
        return await self.database.transact(make, repeatable=True), ""

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
                if stored or rows:
                    await self._grow(claim.space, index)
                return await self.database.transact(
                    lambda tx, rows=rows, stored=stored: self._store(tx, claim, index, rows, before=stored),
                    space=claim.space,
                )
            if stored == before:
                raise BadAnswer("none of the new vectors could be stored.")

    async def _grow(self, space: str, index: VectorIndex) -> None:
        """Build an HNSW index for a space that has become too large to scan, while the claim keeps others away."""
        try:
            if await grow(self.database, index, space=space, above=self.grown):
                _log.info("built an HNSW index for a large space")
        except StoreError as error:  # without one the space is scanned, which is only slower
            _log.warning("could not build an HNSW index: %s", error)

    async def _embedded(self, batch: Sequence["tuple[Unembedded, list[str]]"]) -> list[Embedded]:
        texts = [part for _, parts in batch for part in parts]
        if not texts:
            return []
        answer = await self.embedder.embed(texts, kind="message")
        if len(answer) != len(texts):
            raise BadAnswer(f"{self.embedder.name} returned {len(answer)} vectors for {len(texts)} texts.")
        given = iter(answer)
        return [Embedded(source, [next(given) for _ in parts]) for source, parts in batch]

    def _put(self, tx: Tx, claim: Claim, index: VectorIndex, rows: Sequence[Embedded]) -> int:
        self._lock(tx, claim)
        return vectors.put(tx, space=claim.space, index=index, rows=rows)

    def _store(
        self, tx: Tx, claim: Claim, index: VectorIndex | None, rows: Sequence[Embedded] = (), *, before: int = 0
    ) -> Learnt:
        """Store the last vectors and finish the claim. If more was queued meanwhile, the job runs again at once."""
        queued = self._lock(tx, claim)
        stored = before
        if index is not None and rows:
            stored += vectors.put(tx, space=claim.space, index=index, rows=rows)
        outcome = Outcome.SUCCEEDED if stored else Outcome.SUCCEEDED_NO_OUTPUT
        status, due = JobStatus.DONE, None
        if queued > claim.input_watermark:
            status, due = JobStatus.QUEUED, tx.now
        elif (known := vectors.indexes(tx)) and (index is None or known[0].id != index.id):
            status, due = JobStatus.QUEUED, tx.now + _MINUTE  # for a worker with that embedder
        elif vectors.may_grow(tx, space=claim.space):
            status, due = JobStatus.WAITING, tx.now + QUIET_CHECK
        mark = claim.input_watermark
        jobs.finish(tx, claim, status=status, outcome=outcome, due=due, attempts=0, watermark=mark)
        return Learnt(outcome=outcome, settled=Counter(embedded=stored))

    def _lock(self, tx: Tx, claim: Claim) -> int:
        # Lock the space, then the job, then texts: forgetting a text takes the locks in the same order.
        facts.lock(tx, space=claim.space)
        queued = jobs.hold(tx, claim)
        if queued is None:
            raise jobs.lost(claim)
        return queued


def _batches(waiting: list[Unembedded], size: int) -> Iterator[list[tuple[Unembedded, list[str]]]]:
    """Group texts into batches of at most `size` parts; the parts of one text stay together."""
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
