-- columns: job
space_id, kind, key, status, queued_at, due_at, token, worker, attempts, input_watermark, success_watermark, started_at,
finished_at, outcome, last_error, calls, input_tokens, output_tokens, cost;

-- name: page_jobs_across
-- Jobs of all spaces in one state, the last queued first.
SELECT job_columns() FROM jobs
WHERE status = :status AND status IN ('queued', 'running', 'failed', 'abandoned') AND kind = :kind
  /*given key*/ AND (queued_at, space_id, key) < (:queued, :space, :key) /*end*/
  /*given until*/ AND queued_at <= :until /*end*/
ORDER BY queued_at DESC, space_id DESC, key DESC LIMIT :limit;

-- name: page_jobs_of_space
-- Jobs of a space, the last queued first.
SELECT job_columns() FROM jobs
WHERE space_id = :space
  /*given kind*/ AND kind = :kind /*end*/
  /*given status*/ AND status = :status /*end*/
  /*given key*/ AND (queued_at, kind, key) < (:queued, :last_kind, :key) /*end*/
ORDER BY queued_at DESC, kind DESC, key DESC LIMIT :limit;

-- name: list_attempts
-- The failed attempts of a job, the last first.
SELECT token, started_at, ended_at, error FROM attempts
WHERE space_id = :space AND kind = :kind AND key = :key ORDER BY token DESC LIMIT :limit;

-- name: spending_by_day
-- Spending per day.
SELECT day, '' AS name, CAST(SUM(calls) AS bigint) AS calls, CAST(SUM(input_tokens) AS bigint) AS input_tokens,
       CAST(SUM(output_tokens) AS bigint) AS output_tokens, CAST(SUM(cost) AS bigint) AS cost
FROM spending WHERE day BETWEEN :first AND :last GROUP BY day ORDER BY day DESC;

-- name: spending_by_kind
-- Spending per day and purpose.
SELECT day, kind AS name, CAST(SUM(calls) AS bigint) AS calls, CAST(SUM(input_tokens) AS bigint) AS input_tokens,
       CAST(SUM(output_tokens) AS bigint) AS output_tokens, CAST(SUM(cost) AS bigint) AS cost
FROM model_spending WHERE day BETWEEN :first AND :last GROUP BY day, kind ORDER BY day DESC, kind;

-- name: spending_by_model
-- Spending per day and model.
SELECT day, model AS name, CAST(SUM(calls) AS bigint) AS calls, CAST(SUM(input_tokens) AS bigint) AS input_tokens,
       CAST(SUM(output_tokens) AS bigint) AS output_tokens, CAST(SUM(cost) AS bigint) AS cost
FROM model_spending WHERE day BETWEEN :first AND :last GROUP BY day, model ORDER BY day DESC, model;

-- name: spending_of_spaces
-- The most expensive spaces of a day.
SELECT day, space_id AS name, calls, input_tokens, output_tokens, cost FROM space_spending
WHERE day = :day ORDER BY cost DESC, space_id DESC LIMIT :limit;

-- name: spending_of_space
-- Spending of a space per day.
SELECT day, '' AS name, calls, input_tokens, output_tokens, cost FROM space_spending
WHERE space_id = :space AND day BETWEEN :first AND :last ORDER BY day DESC;
