-- name: queue_job
-- Promise work; written in the transaction that made it necessary. Something newer ends a rest and revives the dead.
-- Every promise raises the watermark, also one about something older: there is something to do that was not before.
-- Tokens begin at the time of day, so that none comes back when a space is forgotten and used again.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, input_watermark, token)
VALUES (:space, :kind, :key, :now, 'queued', :now, :watermark, :now)
ON CONFLICT (space_id, kind, key) DO UPDATE SET
    queued_at = CASE WHEN jobs.status IN ('waiting', 'done') THEN excluded.queued_at ELSE jobs.queued_at END,
    due_at = CASE WHEN jobs.status IN ('queued', 'running') THEN jobs.due_at ELSE excluded.due_at END,
    attempts = CASE WHEN jobs.status IN ('queued', 'running') THEN jobs.attempts ELSE 0 END,
    status = CASE WHEN jobs.status = 'running' THEN 'running' ELSE 'queued' END,
    input_watermark = CASE
        WHEN excluded.input_watermark > jobs.input_watermark THEN excluded.input_watermark
        ELSE jobs.input_watermark + 1 END;

-- name: await_quiet
-- Promise a look at a session that may go quiet without a mark.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, token)
VALUES (:space, :kind, :key, :now, 'waiting', :due, :now)
ON CONFLICT (space_id, kind, key) DO UPDATE SET due_at = excluded.due_at WHERE jobs.status = 'waiting';

-- name: claim_jobs
-- Take the jobs that are due, oldest first, each with a token above all it had before. A crash has used up an attempt.
-- What was tried before has an index of its own, which a parameter in its condition would hide.
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

-- name: any_due
-- Whether there is anything to claim.
SELECT key FROM jobs WHERE kind = :kind AND due_at <= :now AND status <> 'waiting' LIMIT 1;

-- name: list_quiet
-- What nobody promised and is to be looked at now, the longest due first.
SELECT space_id, key FROM jobs
WHERE kind = :kind AND due_at <= :now AND status = 'waiting' ORDER BY due_at LIMIT :limit;

-- name: settle_quiet
-- Look again later, or never.
UPDATE jobs SET status = CASE WHEN CAST(:due AS bigint) IS NULL THEN 'done' ELSE 'waiting' END, due_at = :due
WHERE space_id = :space AND kind = :kind AND key = :key AND status = 'waiting';

-- name: beat_job
-- Keep a claim alive. Touches nothing once the claim is lost.
UPDATE jobs SET due_at = :lease
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running';

-- name: charge_job
-- Write down what a model took, only under a claim that still holds.
UPDATE jobs SET calls = calls + :calls, input_tokens = input_tokens + :input_tokens,
    output_tokens = output_tokens + :output_tokens, cost = cost + :cost
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running';

-- name: hold_claim
-- What was promised for a job so far, if a claim on it still holds; held until the transaction ends.
SELECT input_watermark FROM jobs
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running' /*for_update*/;

-- name: finish_job
-- End a claim, only if it still holds.
UPDATE jobs SET status = :status, due_at = :due, outcome = :outcome, last_error = :error, worker = NULL,
    finished_at = :now, attempts = CASE WHEN CAST(:attempts AS bigint) IS NULL THEN attempts ELSE :attempts END,
    success_watermark = COALESCE(:watermark, success_watermark),
    queued_at = CASE WHEN :status = 'queued' THEN :now ELSE queued_at END
WHERE space_id = :space AND kind = :kind AND key = :key AND token = :token AND status = 'running';

-- name: settle_job
-- The promise is kept by someone else; whoever holds a claim loses it.
UPDATE jobs SET status = 'waiting', due_at = :due, worker = NULL, token = token + 1
WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: settle_forgotten_jobs
-- The same for sessions that hold nothing any more.
UPDATE jobs SET status = 'waiting', due_at = :due, worker = NULL, token = token + 1
WHERE space_id = :space AND kind = :kind AND key in_list(:sessions);

-- name: list_spaces
-- The spaces for which work was ever promised, by name: every one that holds anything.
SELECT DISTINCT space_id FROM jobs WHERE space_id > :after ORDER BY space_id LIMIT :limit;

-- name: fence_extractors
-- Take from whoever learns from some sessions the claim it holds, and let its job begin again: that is no attempt.
UPDATE jobs SET token = token + 1, status = 'queued', due_at = :now, worker = NULL, attempts = attempts - 1
WHERE space_id = :space AND kind = :kind AND key in_list(:sessions) AND status = 'running';

-- name: fence_writers
-- Take from every writer of a space the claim it holds, and let its job begin again: that is no attempt.
UPDATE jobs SET token = token + 1, status = 'queued', due_at = :now, worker = NULL, attempts = attempts - 1
WHERE space_id = :space AND kind <> :kind AND status = 'running';

-- name: list_marked
-- Sessions of all spaces that have something to learn, the oldest promise first.
SELECT space_id, key FROM jobs
WHERE kind = :kind AND status IN ('queued', 'running', 'failed', 'dead')
ORDER BY queued_at, space_id, key LIMIT :limit;

-- name: list_jobs
-- The jobs of a space, newest promise first.
SELECT space_id, kind, key, status, queued_at, due_at, token, worker, attempts, input_watermark, success_watermark,
       started_at, finished_at, outcome, last_error, calls, input_tokens, output_tokens, cost
FROM jobs WHERE space_id = :space ORDER BY queued_at DESC, kind, key LIMIT :limit;

-- name: find_job
-- One job.
SELECT space_id, kind, key, status, queued_at, due_at, token, worker, attempts, input_watermark, success_watermark,
       started_at, finished_at, outcome, last_error, calls, input_tokens, output_tokens, cost
FROM jobs WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: retry_job
-- Let a job that failed or was given up start over.
UPDATE jobs SET status = 'queued', due_at = :now, attempts = 0
WHERE space_id = :space AND kind = :kind AND key = :key AND status IN ('failed', 'dead');

-- name: count_jobs
-- How many jobs there are in each state but done. Those that are done grow without end and are never looked at here:
-- jobs_marked and jobs_quiet hold the others, each with its condition.
SELECT kind, status, count(*) AS count FROM jobs
WHERE status IN ('queued', 'running', 'failed', 'dead') GROUP BY kind, status
UNION ALL
SELECT kind, 'waiting', count(*) FROM jobs WHERE status = 'waiting' AND due_at IS NOT NULL GROUP BY kind
ORDER BY kind, status;

-- name: count_overdue
-- How many jobs could have been claimed a while ago, and how many leases ran out as long ago.
SELECT count(*) AS count, COALESCE(SUM(CASE WHEN status = 'running' THEN 1 ELSE 0 END), 0) AS abandoned
FROM jobs WHERE kind = :kind AND due_at <= :before AND status <> 'waiting';

-- name: sample_spaces
-- A few spaces that are in use: some with a session that is open, some with work to do.
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
-- Add to what was paid today, in this worker's own row.
INSERT INTO spending (day, slot, calls, input_tokens, output_tokens, cost)
VALUES (:day, :slot, :calls, :input_tokens, :output_tokens, :cost)
ON CONFLICT (day, slot) DO UPDATE SET
    calls = spending.calls + excluded.calls, input_tokens = spending.input_tokens + excluded.input_tokens,
    output_tokens = spending.output_tokens + excluded.output_tokens, cost = spending.cost + excluded.cost;

-- name: spent
-- What was paid on a day.
SELECT COALESCE(SUM(calls), 0) AS calls, COALESCE(SUM(input_tokens), 0) AS input_tokens,
       COALESCE(SUM(output_tokens), 0) AS output_tokens, COALESCE(SUM(cost), 0) AS cost
FROM spending WHERE day = :day;

-- name: ensure_deployment_key
-- Keep the first key that was made.
INSERT INTO deployment_keys (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING;

-- name: find_deployment_key
-- A key by its name.
SELECT value FROM deployment_keys WHERE name = :name;
