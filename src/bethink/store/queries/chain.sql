-- name: page_chained_sessions
-- The sessions of a space, by id, with the numbers between which each has a seal or a link.
SELECT id, sealed_from, last_number FROM sessions WHERE space_id = :space AND id > :after ORDER BY id LIMIT :limit;

-- name: page_chain
-- The messages of a session in order, with the links that remain of deleted ones.
SELECT session_id, number, recorded_at, role, content, name, CAST(tool_calls AS text) AS tool_calls, tool_call_id,
       is_error, CAST(metadata AS text) AS metadata, origin, idempotency_key, trace_parent, said_at,
       CAST(tags AS text) AS tags, seal, 0 AS erased
FROM messages WHERE space_id = :space AND session_id = :session AND number > :after
UNION ALL
SELECT session_id, number, 0, '', '', '', '', '', 0, '', '', '', '', 0, '', digest, 1
FROM chain_links WHERE space_id = :space AND session_id = :session AND number > :after
ORDER BY number LIMIT :limit;

-- name: record_restore
-- Record that this database was restored.
INSERT INTO restores (epoch, backup_at, tombstones) VALUES (:epoch, :backup_at, :tombstones);

-- name: last_restore
-- The last time that this database was restored.
SELECT epoch, backup_at, tombstones FROM restores ORDER BY epoch DESC LIMIT 1;

-- name: fence_jobs
-- Revoke every lease on a job: no earlier token is issued again.
UPDATE jobs SET token = CASE WHEN token < :epoch THEN :epoch ELSE token + 1 END,
    due_at = CASE WHEN status = 'running' THEN :now ELSE due_at END,
    worker = CASE WHEN status = 'running' THEN NULL ELSE worker END,
    status = CASE WHEN status = 'running' THEN 'queued' ELSE status END;

-- name: fence_steps
-- Revoke every lease on a step of a thread.
UPDATE threads SET step_token = CASE WHEN step_token < :epoch THEN :epoch ELSE step_token + 1 END, step_id = NULL,
    step_until = NULL;

-- name: end_open_sessions
-- End every open session, so that no number that was issued after the backup is issued again.
UPDATE sessions SET ended_at = :now, end_reason = 'restored' WHERE ended_at IS NULL;

-- name: record_restored
-- Record in every space that it was restored. Its numbers continue above all that were issued before.
INSERT INTO changes (space_id, number, at, kind, ref, session_id)
SELECT k.space_id, CASE WHEN max(k.number) < :epoch THEN :epoch ELSE max(k.number) + 1 END, :now, 'space.restored', '',
       NULL
FROM (SELECT space_id, number FROM changes UNION ALL SELECT id, 0 FROM spaces) k GROUP BY k.space_id;

-- name: drop_deployment_key
-- Delete the value of a name.
DELETE FROM deployment_keys WHERE name = :name;

-- name: list_buried_spaces
-- Every space in which anything was ever erased, including deleted spaces.
SELECT DISTINCT space_id FROM erasure_sinks ORDER BY space_id;
