-- name: queue_job
-- Queue a job, in the transaction that makes it necessary. Newer work ends a pause and revives an abandoned job.
-- Queueing always raises the watermark, even for something older: there is new work to do.
-- Tokens start at the current time, so that none is reused when a space is deleted and created again.
-- No pause and no lease lasts a week: a later due time comes from a clock that was ahead, and means now.
-- An extraction is ordered by when the first message that is not learned from yet was said.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, input_watermark, token, said_at)
VALUES (:space, :kind, :key, :now, 'queued', :now, :watermark, :now, CASE WHEN :kind = 'extract' THEN COALESCE((
        SELECT m.said_at FROM messages m WHERE m.space_id = :space AND m.session_id = :key AND m.number > COALESCE((
            SELECT s.processed_until FROM sessions s WHERE s.space_id = :space AND s.id = :key
        ), 0) ORDER BY m.number LIMIT 1
    ), :now) END)
ON CONFLICT (space_id, kind, key) DO UPDATE SET
    said_at = excluded.said_at,
    queued_at = CASE WHEN jobs.status IN ('waiting', 'done') THEN excluded.queued_at ELSE jobs.queued_at END,
    due_at = CASE WHEN jobs.status IN ('queued', 'running') AND jobs.due_at <= excluded.due_at + 604800000000
        THEN jobs.due_at ELSE excluded.due_at END,
    attempts = CASE WHEN jobs.status IN ('queued', 'running') THEN jobs.attempts ELSE 0 END,
    status = CASE WHEN jobs.status = 'running' THEN 'running' ELSE 'queued' END,
    input_watermark = CASE
        WHEN excluded.input_watermark > jobs.input_watermark THEN excluded.input_watermark
        ELSE jobs.input_watermark + 1 END;

-- name: await_quiet
-- Schedule a check of a session that may go idle without a mark.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, token)
VALUES (:space, :kind, :key, :now, 'waiting', :due, :now)
ON CONFLICT (space_id, kind, key) DO UPDATE SET due_at = excluded.due_at WHERE jobs.status = 'waiting';

-- name: claim_jobs
-- Lease the jobs that are due, the oldest first, each with a higher token than before. A crash has used up an attempt.
-- Retries have their own index, which a parameter in the condition would prevent from being used.
WITH fresh AS MATERIALIZED (
    SELECT space_id, kind, key FROM jobs
    WHERE :tried = 0 AND kind = :kind AND due_at <= :now AND status <> 'waiting' AND attempts = 0
    ORDER BY due_at LIMIT :limit /*skip_locked*/
), tried AS MATERIALIZED (
    SELECT space_id, kind, key FROM jobs
    WHERE :tried = 1 AND kind = :kind AND due_at <= :now AND status <> 'waiting' AND attempts > 0
    ORDER BY due_at LIMIT :limit /*skip_locked*/
), picked AS (
    SELECT space_id, kind, key FROM fresh UNION ALL SELECT space_id, kind, key FROM tried
)
UPDATE jobs SET status = 'running', token = jobs.token + 1, worker = :worker, attempts = jobs.attempts + 1,
    started_at = :now, finished_at = NULL, due_at = :lease
FROM picked
WHERE jobs.space_id = picked.space_id AND jobs.kind = picked.kind AND jobs.key = picked.key
RETURNING jobs.space_id, jobs.kind, jobs.key, jobs.token, jobs.attempts, jobs.input_watermark, jobs.queued_at;

-- name: claim_jobs_in
-- The same in one space, whose jobs are few.
WITH picked AS MATERIALIZED (
    SELECT space_id, kind, key FROM jobs
    WHERE space_id = :space AND kind = :kind AND due_at <= :now AND status <> 'waiting'
      AND CASE WHEN attempts > 0 THEN 1 ELSE 0 END = :tried
    ORDER BY due_at LIMIT :limit /*skip_locked*/
)
UPDATE jobs SET status = 'running', token = jobs.token + 1, worker = :worker, attempts = jobs.attempts + 1,
    started_at = :now, finished_at = NULL, due_at = :lease
FROM picked
WHERE jobs.space_id = picked.space_id AND jobs.kind = picked.kind AND jobs.key = picked.key
RETURNING jobs.space_id, jobs.kind, jobs.key, jobs.token, jobs.attempts, jobs.input_watermark, jobs.queued_at;

-- name: claim_job
-- Lease one job by its name, if it is due.
UPDATE jobs SET status = 'running', token = token + 1, worker = :worker, attempts = attempts + 1,
    started_at = :now, finished_at = NULL, due_at = :lease
WHERE space_id = :space AND kind = :kind AND key = :key AND due_at <= :now AND status <> 'waiting'
RETURNING space_id, kind, key, token, attempts, input_watermark, queued_at;

-- name: list_due
-- Jobs that can be leased, the longest due first, without leasing them.
SELECT space_id, key, token FROM jobs
WHERE kind = :kind AND due_at <= :now AND status <> 'waiting' ORDER BY due_at LIMIT :limit;

-- name: any_due
-- Whether any job can be leased.
SELECT key FROM jobs WHERE kind = :kind AND due_at <= :now AND status <> 'waiting' LIMIT 1;

-- name: due_kinds
-- The kinds of which jobs can be leased, or sessions are to be checked now.
SELECT due.kind, due.leasable, due.idle FROM (
    SELECT pairs.id AS kind, EXISTS (
        SELECT 1 FROM jobs WHERE kind = pairs.id AND due_at <= :now AND status <> 'waiting'
        /*given space*/ AND space_id = :space /*end*/
    ) AS leasable, EXISTS (
        SELECT 1 FROM jobs WHERE kind = pairs.id AND due_at <= :now AND status = 'waiting'
        /*given space*/ AND space_id = :space /*end*/
    ) AS idle FROM pairs(:kinds, :order)
) AS due WHERE due.leasable OR due.idle;

-- name: list_quiet
-- Sessions without a queued job that are to be checked now, the longest due first.
SELECT space_id, key FROM jobs
WHERE kind = :kind AND due_at <= :now AND status = 'waiting' ORDER BY due_at LIMIT :limit;

-- name: list_quiet_in
-- The same in one space.
SELECT space_id, key FROM jobs
WHERE space_id = :space AND kind = :kind AND due_at <= :now AND status = 'waiting' ORDER BY due_at LIMIT :limit;

-- name: settle_quiet
-- Schedule the next check, or none.
UPDATE jobs SET status = CASE WHEN CAST(:due AS bigint) IS NULL THEN 'done' ELSE 'waiting' END, due_at = :due
WHERE space_id = :space AND kind = :kind AND key = :key AND status = 'waiting';

-- name: beat_job
-- Renew a lease. Changes nothing once the lease is lost.
UPDATE jobs SET due_at = :lease
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running';

-- name: charge_job
-- Record the cost of a model call, under a lease that is still valid.
UPDATE jobs SET calls = calls + :calls, input_tokens = input_tokens + :input_tokens,
    output_tokens = output_tokens + :output_tokens, cost = cost + :cost
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running';

-- name: hold_claim
-- The watermark of a job, if the lease is still valid; locked until the transaction ends.
SELECT input_watermark FROM jobs
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running' /*for_update*/;

-- name: finish_job
-- End a lease, if it is still valid.
UPDATE jobs SET status = :status, due_at = :due, outcome = :outcome, last_error = :error, worker = NULL,
    finished_at = :now, attempts = CASE WHEN CAST(:attempts AS bigint) IS NULL THEN attempts ELSE :attempts END,
    success_watermark = COALESCE(:watermark, success_watermark),
    queued_at = CASE WHEN :status = 'queued' THEN :now ELSE queued_at END,
    said_at = CASE WHEN :kind = 'extract' AND :status = 'queued' THEN COALESCE((
        SELECT m.said_at FROM messages m WHERE m.space_id = :space AND m.session_id = :key AND m.number > COALESCE((
            SELECT s.processed_until FROM sessions s WHERE s.space_id = :space AND s.id = :key
        ), 0) ORDER BY m.number LIMIT 1
    ), said_at) ELSE said_at END
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running';

-- name: record_attempt
-- Record why an attempt failed.
INSERT INTO attempts (space_id, kind, key, token, started_at, ended_at, error)
SELECT space_id, kind, key, token, started_at, :now, :error FROM jobs
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token
ON CONFLICT (space_id, kind, key, token) DO NOTHING;

-- name: prune_attempts
-- Delete all but the last attempts of a job.
DELETE FROM attempts WHERE space_id = :space AND kind = :kind AND key = :key AND token <= :token - :kept;

-- name: cancel_job
-- Cancel a job that was done in another way. Its lease is lost.
UPDATE jobs SET status = 'waiting', due_at = :due, worker = NULL, token = token + 1, quoted_from = NULL
WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: cancel_forgotten_jobs
-- The same for sessions without any remaining messages.
UPDATE jobs SET status = 'waiting', due_at = :due, worker = NULL, token = token + 1, quoted_from = NULL
WHERE space_id = :space AND kind = :kind AND key in_list(:sessions);

-- name: list_spaces
-- The spaces that ever had a job, by name: every space that is not empty.
SELECT DISTINCT space_id FROM jobs WHERE space_id > :after ORDER BY space_id LIMIT :limit;

-- name: fence_extractors
-- Revoke the leases on some sessions and restart their jobs, without counting an attempt.
UPDATE jobs SET token = token + 1, status = 'queued', due_at = :now, worker = NULL, attempts = attempts - 1
WHERE space_id = :space AND kind = :kind AND key in_list(:sessions) AND status = 'running';

-- name: fence_writers
-- Revoke the leases of all writers of a space and restart their jobs, without counting an attempt.
UPDATE jobs SET token = token + 1, status = 'queued', due_at = :now, worker = NULL, attempts = attempts - 1
WHERE space_id = :space AND kind <> :kind AND status = 'running';

-- name: note_quoted
-- Record after which record a session was only quoted.
UPDATE jobs SET quoted_from = COALESCE(quoted_from, :start) WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: list_quoted
-- Sessions of all spaces that were only quoted, the oldest first.
SELECT space_id, key FROM jobs WHERE quoted_from IS NOT NULL ORDER BY queued_at LIMIT :limit;

-- name: list_quoted_in
-- The same in one space.
SELECT space_id, key FROM jobs
WHERE space_id = :space AND kind = :kind AND quoted_from IS NOT NULL ORDER BY queued_at LIMIT :limit;

-- name: find_quoted
-- The record after which a session was only quoted.
SELECT quoted_from FROM jobs
WHERE space_id = :space AND kind = :kind AND key = :key AND quoted_from IS NOT NULL /*for_update*/;

-- name: forget_quoted
-- Clear the mark of a session that was only quoted, before it is learned from.
UPDATE jobs SET quoted_from = NULL WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: list_marked
-- Sessions of all spaces that have something to learn, the oldest job first.
SELECT space_id, key FROM jobs
WHERE kind = :kind AND status IN ('queued', 'running', 'failed', 'abandoned')
ORDER BY queued_at, space_id, key LIMIT :limit;

-- name: list_jobs
-- The jobs of a space, the newest first.
SELECT space_id, kind, key, status, queued_at, due_at, token, worker, attempts, input_watermark, success_watermark,
       started_at, finished_at, outcome, last_error, calls, input_tokens, output_tokens, cost
FROM jobs WHERE space_id = :space ORDER BY queued_at DESC, kind, key LIMIT :limit;

-- name: find_job
-- One job.
SELECT space_id, kind, key, status, queued_at, due_at, token, worker, attempts, input_watermark, success_watermark,
       started_at, finished_at, outcome, last_error, calls, input_tokens, output_tokens, cost
FROM jobs WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: retry_job
-- Restart a failed or abandoned job.
UPDATE jobs SET status = 'queued', due_at = :now, attempts = 0
WHERE space_id = :space AND kind = :kind AND key = :key AND status IN ('failed', 'abandoned');

-- name: count_jobs
-- The number of jobs in each state except done: maintained by triggers, never counted.
SELECT kind, status, CAST(SUM(count) AS bigint) AS count FROM job_counts WHERE status <> 'done'
GROUP BY kind, status HAVING SUM(count) > 0 ORDER BY kind, status;

-- name: count_overdue
-- The number of jobs that were due before a time, and of leases that expired before it, up to a limit.
SELECT count(*) AS count, COALESCE(SUM(CASE WHEN status = 'running' THEN 1 ELSE 0 END), 0) AS abandoned FROM (
    SELECT status FROM jobs WHERE kind = :kind AND due_at <= :before AND status <> 'waiting' LIMIT :limit
) AS late;

-- name: sample_spaces
-- A few spaces in use: some with an open session, some with jobs to do.
SELECT space_id FROM (
    SELECT space_id FROM jobs WHERE kind = :kind AND due_at IS NOT NULL AND status = 'waiting'
    ORDER BY due_at DESC LIMIT :limit
) open
UNION
SELECT space_id FROM (
    SELECT space_id FROM jobs WHERE kind = :kind AND due_at IS NOT NULL AND status <> 'waiting'
    ORDER BY due_at DESC LIMIT :limit
) busy;

-- name: spend
-- Add to today's spending, in this worker's own row.
INSERT INTO spending (day, slot, calls, input_tokens, output_tokens, cost)
VALUES (:day, :slot, :calls, :input_tokens, :output_tokens, :cost)
ON CONFLICT (day, slot) DO UPDATE SET
    calls = spending.calls + excluded.calls, input_tokens = spending.input_tokens + excluded.input_tokens,
    output_tokens = spending.output_tokens + excluded.output_tokens, cost = spending.cost + excluded.cost;

-- name: spend_on_model
-- Add to today's spending on a kind of work with a model, in this worker's own row.
INSERT INTO model_spending (day, kind, model, slot, calls, input_tokens, output_tokens, cost)
VALUES (:day, :kind, :model, :slot, :calls, :input_tokens, :output_tokens, :cost)
ON CONFLICT (day, kind, model, slot) DO UPDATE SET calls = model_spending.calls + excluded.calls,
    input_tokens = model_spending.input_tokens + excluded.input_tokens,
    output_tokens = model_spending.output_tokens + excluded.output_tokens,
    cost = model_spending.cost + excluded.cost;

-- name: spend_on_space
-- Add to today's spending of a space, unless it was deleted.
INSERT INTO space_spending (space_id, day, calls, input_tokens, output_tokens, cost)
SELECT id, :day, :calls, :input_tokens, :output_tokens, :cost FROM spaces WHERE id = :space
ON CONFLICT (space_id, day) DO UPDATE SET calls = space_spending.calls + excluded.calls,
    input_tokens = space_spending.input_tokens + excluded.input_tokens,
    output_tokens = space_spending.output_tokens + excluded.output_tokens,
    cost = space_spending.cost + excluded.cost;

-- name: spent
-- The spending of a day.
SELECT COALESCE(SUM(calls), 0) AS calls, COALESCE(SUM(input_tokens), 0) AS input_tokens,
       COALESCE(SUM(output_tokens), 0) AS output_tokens, COALESCE(SUM(cost), 0) AS cost
FROM spending WHERE day = :day;

-- name: ensure_deployment_key
-- Store a key, unless there is one.
INSERT INTO deployment_keys (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING;

-- name: set_deployment_value
-- Store a value, replacing the previous one.
INSERT INTO deployment_keys (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: find_deployment_key
-- A key by its name.
SELECT value FROM deployment_keys WHERE name = :name;
