-- name: queue_job
-- Promise work, once; written in the transaction that made it necessary.
INSERT INTO jobs (space_id, kind, key, queued_at) VALUES (:space, :kind, :key, :now)
ON CONFLICT (space_id, kind, key) DO NOTHING;

-- name: drop_job
-- The promise is kept.
DELETE FROM jobs WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: drop_session_jobs
-- Take back the promises made for the sessions of a conversation.
DELETE FROM jobs WHERE space_id = :space AND kind = :kind AND key IN (
    SELECT id FROM sessions WHERE space_id = :space AND conversation_id = :conversation
);

-- name: list_jobs
-- Promised work of all spaces, oldest first.
SELECT space_id, key FROM jobs WHERE kind = :kind ORDER BY queued_at, space_id, key LIMIT :limit;
