-- The plus sign keeps SQLite from reading all due jobs for those of one space.

-- expression: next_session(t)
COALESCE((
    SELECT j.key FROM jobs j WHERE j.space_id = t.space_id AND j.kind = 'extract' AND j.status = 'running'
), (
    SELECT j.key FROM jobs j WHERE j.space_id = t.space_id AND j.kind = 'extract'
      AND j.due_at IS NOT NULL AND +j.due_at <= :now AND j.status <> 'waiting'
    ORDER BY j.said_at, j.key LIMIT 1
));

-- expression: next_attempts(t)
COALESCE((
    SELECT j.attempts FROM jobs j WHERE j.space_id = t.space_id AND j.kind = 'extract' AND j.status = 'running'
), (
    SELECT j.attempts FROM jobs j WHERE j.space_id = t.space_id AND j.kind = 'extract'
      AND j.due_at IS NOT NULL AND +j.due_at <= :now AND j.status <> 'waiting'
    ORDER BY j.said_at, j.key LIMIT 1
));

-- name: claim_extractions
-- Lease the first session of each of some spaces, the longest due first, where it was not tried before.
-- The row of a space is locked first, so that nobody else leases another session of it at the same time.
WITH turns AS MATERIALIZED (
    SELECT t.space_id FROM learning_turns t WHERE t.fresh_due_at <= :now AND next_attempts(t) = 0
    ORDER BY t.fresh_due_at LIMIT :limit /*skip_locked*/
), heads AS MATERIALIZED (
    SELECT t.space_id, next_session(t) AS key FROM turns t
), picked AS MATERIALIZED (
    SELECT j.space_id, j.key FROM heads h CROSS JOIN jobs j
    WHERE j.space_id = h.space_id AND j.kind = 'extract' AND j.key = h.key AND +j.due_at <= :now AND j.status <> 'waiting'
      AND j.attempts = 0 /*skip_locked*/
)
UPDATE jobs SET status = 'running', token = jobs.token + 1, worker = :worker, attempts = jobs.attempts + 1,
    started_at = :now, finished_at = NULL, due_at = :lease
FROM picked
WHERE jobs.space_id = picked.space_id AND jobs.kind = 'extract' AND jobs.key = picked.key
RETURNING jobs.space_id, jobs.kind, jobs.key, jobs.token, jobs.attempts, jobs.input_watermark, jobs.queued_at;

-- name: claim_tried_extractions
-- The same where it was tried before. One whose lease has ended goes first: its worker may still be busy with it.
WITH turns AS MATERIALIZED (
    SELECT t.space_id FROM learning_turns t
    WHERE t.retry_due_at <= :now AND next_attempts(t) > 0
    ORDER BY t.retry_due_at LIMIT :limit /*skip_locked*/
), heads AS MATERIALIZED (
    SELECT t.space_id, next_session(t) AS key FROM turns t
), picked AS MATERIALIZED (
    SELECT j.space_id, j.key FROM heads h CROSS JOIN jobs j
    WHERE j.space_id = h.space_id AND j.kind = 'extract' AND j.key = h.key AND +j.due_at <= :now AND j.status <> 'waiting'
      AND j.attempts > 0 /*skip_locked*/
)
UPDATE jobs SET status = 'running', token = jobs.token + 1, worker = :worker, attempts = jobs.attempts + 1,
    started_at = :now, finished_at = NULL, due_at = :lease
FROM picked
WHERE jobs.space_id = picked.space_id AND jobs.kind = 'extract' AND jobs.key = picked.key
RETURNING jobs.space_id, jobs.kind, jobs.key, jobs.token, jobs.attempts, jobs.input_watermark, jobs.queued_at;

-- name: claim_extraction_in
-- Lease the first session of one space; with a key, only if it is that one.
WITH turns AS MATERIALIZED (
    SELECT t.space_id FROM learning_turns t
    WHERE t.space_id = :space AND (t.fresh_due_at <= :now OR t.retry_due_at <= :now) /*for_update*/
), heads AS MATERIALIZED (
    SELECT t.space_id, next_session(t) AS key FROM turns t
), picked AS MATERIALIZED (
    SELECT j.space_id, j.key FROM heads h CROSS JOIN jobs j
    WHERE j.space_id = h.space_id AND j.kind = 'extract' AND j.key = h.key AND +j.due_at <= :now AND j.status <> 'waiting'
      AND (CAST(:key AS text) IS NULL OR j.key = :key) /*skip_locked*/
)
UPDATE jobs SET status = 'running', token = jobs.token + 1, worker = :worker, attempts = jobs.attempts + 1,
    started_at = :now, finished_at = NULL, due_at = :lease
FROM picked
WHERE jobs.space_id = picked.space_id AND jobs.kind = 'extract' AND jobs.key = picked.key
RETURNING jobs.space_id, jobs.kind, jobs.key, jobs.token, jobs.attempts, jobs.input_watermark, jobs.queued_at;

-- name: list_due_extractions
-- The sessions that can be leased, one of each space, without leasing them.
WITH turns AS (
    SELECT space_id FROM (
        SELECT space_id FROM learning_turns WHERE fresh_due_at <= :now ORDER BY fresh_due_at LIMIT :limit
    ) f UNION SELECT space_id FROM (
        SELECT space_id FROM learning_turns WHERE retry_due_at <= :now ORDER BY retry_due_at LIMIT :limit
    ) r
), heads AS (
    SELECT t.space_id, next_session(t) AS key FROM turns t
)
SELECT j.space_id, j.key, j.token FROM heads h CROSS JOIN jobs j
WHERE j.space_id = h.space_id AND j.kind = 'extract' AND j.key = h.key ORDER BY j.due_at LIMIT :limit;

-- name: any_due_extraction
-- Whether any session can be leased.
SELECT space_id FROM (SELECT space_id FROM learning_turns WHERE fresh_due_at <= :now LIMIT 1) f
UNION ALL SELECT space_id FROM (SELECT space_id FROM learning_turns WHERE retry_due_at <= :now LIMIT 1) r LIMIT 1;
