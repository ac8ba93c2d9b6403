"""Embed the texts of a leased space: read them, embed them outside any transaction, check them again, store."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta

from anyio import to_thread

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import DatabaseError, ModelResponseError
from bethink.extend import Embedder
from bethink.memory.recall.passages import passages
from bethink.memory.recall.reindex import find_protected_index, grow, switch_when_full
from bethink.model.jobs import JobKind, JobResult, JobStatus, Lease, Outcome
from bethink.model.rules import QUIET_CHECK
from bethink.model.text import clean
from bethink.store import facts, jobs, vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import Embedded, IndexStatus, Unembedded, VectorIndex

_MAX_TEXTS = 1_024
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_MAX_ERROR = 200

_log = logger("recall")


@frozen
class Indexer:
    """Embeds leased spaces: every text without a vector of this embedder gets one."""

    database: Database
    embedder: Embedder
    batch: int = 64
    index_above: int = vectors.GROWN
    """A space with more vectors than this gets an HNSW index (PostgreSQL only)."""

    async def process(self, lease: Lease) -> JobResult:
        """Embed all texts without a vector, and finish the job together with the last batch.

        Raises `ModelError`, and `LeaseLostError` if another worker has taken over.
        """
        index, reason = await self._index()
        if index is None or reason:
            _log.warning("Embedding is skipped: %s", reason)
            return await self.database.transact(lambda tx: self._store(tx, lease, index), space=lease.space)
        report = await self._fill(lease, index)
        if index.status is IndexStatus.FILLING:
            await switch_when_full(self.database, index)
        _log.info("Indexed a space: %s texts embedded", report.settled["embedded"])
        return report

    async def fail(
        self, lease: Lease, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """Finish a failed job. If more work was queued in the meantime, the job is retried at once."""

        def body(tx: Tx) -> None:
            newer = (jobs.lock_job(tx, lease) or 0) > lease.input_watermark
            reason = " ".join(clean(error).split())[:_MAX_ERROR]
            jobs.fail(tx, lease, newer=newer, status=status, delay=delay, attempts=attempts, error=reason)

        await self.database.transact(body, space=lease.space, repeatable=True)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Queue a run if a text has no vector yet, such as the latest message; return whether it did."""
        index = vectors.live(tx, embedder=self.embedder.name, dimension=self.embedder.dimension)
        if vectors.available(tx) and (index is None or vectors.missing(tx, space=space, index=index, limit=1)):
            jobs.queue(tx, space=space, kind=JobKind.INDEX, key=key, watermark=0)
            return True
        due = tx.now + _DAY if vectors.may_grow(tx, space=space) else None
        jobs.set_idle_check(tx, space=space, kind=JobKind.INDEX, key=key, due=due)
        return False

    async def _index(self) -> tuple[VectorIndex | None, str]:
        """Return the index of this embedder, created on first use, and the reason if it must not be filled."""

        def find(tx: Tx) -> tuple[bool, list[VectorIndex]]:
            return vectors.available(tx), vectors.indexes(tx)

        def make(tx: Tx) -> VectorIndex:
            if getattr(self.embedder, "automatic", False) and vectors.indexes(tx):
                # A new default replaces an earlier one, which nobody asked for: embed what is already stored, too.
                vectors.queue_all_spaces(tx)
            return vectors.register(tx, embedder=name, dimension=dimension)

        # Reading the dimension may load a model: keep that off the event loop and out of transactions.
        name, dimension = self.embedder.name, await to_thread.run_sync(lambda: self.embedder.dimension)
        possible, indexes = await self.database.transact(find, read_only=True)
        if not possible:
            return None, "the server does not have pgvector"
        for index in indexes:
            if (index.embedder, index.dimension) == (name, dimension):
                # A retired index stays retired: only a reindex revives it, not a worker with old settings.
                return index, f"{name} was retired" if index.status is IndexStatus.RETIRED else ""
        protected = find_protected_index(self.embedder, indexes)
        if protected is not None:
            return None, f"the vectors in use are those of {protected.embedder}. Set `embedder` to replace them"
        return await self.database.transact(make, repeatable=True), ""

    async def _fill(self, lease: Lease, index: VectorIndex) -> JobResult:
        stored = 0
        while True:
            waiting = await self.database.transact(
                lambda tx: vectors.missing(tx, space=lease.space, index=index, limit=_MAX_TEXTS),
                space=lease.space,
                read_only=True,
            )
            *first, last = list(_batches(waiting, self.batch)) or [[]]
            before, more = stored, len(waiting) == _MAX_TEXTS
            for batch in [*first, last] if more else first:
                rows = await self._embed(batch)
                stored += await self.database.transact(
                    lambda tx, rows=rows: self._put(tx, lease, index, rows), space=lease.space
                )
            if not more:
                rows = await self._embed(last)
                if stored or rows:
                    await self._grow(lease.space, index)
                return await self.database.transact(
                    lambda tx, rows=rows, stored=stored: self._store(tx, lease, index, rows, before=stored),
                    space=lease.space,
                )
            if stored == before:
                raise ModelResponseError("None of the new vectors could be stored.")

    async def _grow(self, space: str, index: VectorIndex) -> None:
        """Build an HNSW index for a space that has become too large to scan. The lease keeps other workers away."""
        try:
            if await grow(self.database, index, space=space, above=self.index_above):
                _log.info("Built an HNSW index for a large space")
        except DatabaseError as error:  # without an index the space is scanned, which is only slower
            _log.warning("Could not build an HNSW index: %s", error)

    async def _embed(self, batch: Sequence["tuple[Unembedded, list[str]]"]) -> list[Embedded]:
        texts = [part for _, parts in batch for part in parts]
        if not texts:
            return []
        answer = await self.embedder.embed(texts, kind="message")
        if len(answer) != len(texts):
            raise ModelResponseError(f"{self.embedder.name} returned {len(answer)} vectors for {len(texts)} texts.")
        vectors_left = iter(answer)
        return [Embedded(source, [next(vectors_left) for _ in parts]) for source, parts in batch]

    def _put(self, tx: Tx, lease: Lease, index: VectorIndex, rows: Sequence[Embedded]) -> int:
        self._lock(tx, lease)
        return vectors.put(tx, space=lease.space, index=index, rows=rows)

    def _store(
        self, tx: Tx, lease: Lease, index: VectorIndex | None, rows: Sequence[Embedded] = (), *, before: int = 0
    ) -> JobResult:
        """Store the last vectors and finish the job. If more was queued in the meantime, it runs again at once."""
        queued = self._lock(tx, lease)
        stored = before
        if index is not None and rows:
            stored += vectors.put(tx, space=lease.space, index=index, rows=rows)
        outcome = Outcome.SUCCEEDED if stored else Outcome.SUCCEEDED_NO_OUTPUT
        status, due = JobStatus.DONE, None
        if queued > lease.input_watermark:
            status, due = JobStatus.QUEUED, tx.now
        elif (indexes := vectors.indexes(tx)) and (index is None or indexes[0].id != index.id):
            status, due = JobStatus.QUEUED, tx.now + _MINUTE  # for a worker with that embedder
        elif vectors.may_grow(tx, space=lease.space):
            status, due = JobStatus.WAITING, tx.now + QUIET_CHECK
        mark = lease.input_watermark
        jobs.finish(tx, lease, status=status, outcome=outcome, due=due, attempts=0, watermark=mark)
        return JobResult(outcome=outcome, settled=Counter(embedded=stored))

    def _lock(self, tx: Tx, lease: Lease) -> int:
        # Lock the space, then the job, then texts: deleting a text takes the locks in the same order.
        facts.lock(tx, space=lease.space)
        queued = jobs.lock_job(tx, lease)
        if queued is None:
            raise jobs.lease_lost(lease)
        return queued


def _batches(waiting: list[Unembedded], size: int) -> Iterator[list[tuple[Unembedded, list[str]]]]:
    """Group texts into batches of at most `size` parts; the parts of one text stay together."""
    batch: list[tuple[Unembedded, list[str]]] = []
    count = 0
    for source in waiting:
        parts = passages(source)
        if batch and count + len(parts) > size:
            yield batch
            batch, count = [], 0
        batch.append((source, parts))
        count += len(parts)
    if batch:
        yield batch
