-- name: record_answer
-- Store the answer of a model before it is used.
INSERT INTO answers (space_id, kind, key, run, position, content, agent_id, model, prompt, token, recorded_at)
VALUES (:space, :kind, :key, :run, :position, :content, :agent, :model, :prompt, :token, :now)
ON CONFLICT (space_id, kind, key, run, position) DO NOTHING;

-- name: list_answers
-- The answers of models for a job, the newest run first.
SELECT run, position, content, agent_id, model, prompt, token, recorded_at FROM answers
WHERE space_id = :space AND kind = :kind AND key = :key ORDER BY recorded_at DESC, position LIMIT :limit;

-- name: list_runs
-- The runs of a job that a model has answered.
SELECT DISTINCT run FROM answers WHERE space_id = :space AND kind = :kind AND key = :key;

-- name: list_run_answers
-- The answers of one run, in order.
SELECT position, content FROM answers
WHERE space_id = :space AND kind = :kind AND key = :key AND run = :run ORDER BY position;

-- name: put_session_summary
-- Replace the summary of a session.
INSERT INTO session_summaries (space_id, session_id, raw_memory, summary, slug, until_number, source_updated_at,
                              generated_at, model, prompt, extractor, token, said_from, said_until)
SELECT :space, :session, :raw_memory, :summary, :slug, :until, :source_updated_at, :now, :model, :prompt,
       :extractor, :token, min(m.said_at), max(m.said_at)
FROM messages m WHERE m.space_id = :space AND m.session_id = :session AND m.number <= :until
  AND m.said_at BETWEEN :first_day AND :last_day
ON CONFLICT (space_id, session_id) DO UPDATE SET
    raw_memory = excluded.raw_memory, summary = excluded.summary, slug = excluded.slug,
    until_number = excluded.until_number, source_updated_at = excluded.source_updated_at,
    generated_at = excluded.generated_at, model = excluded.model, prompt = excluded.prompt,
    extractor = excluded.extractor, token = excluded.token, said_from = excluded.said_from,
    said_until = excluded.said_until;

-- name: find_session_summary
-- The summary of a session.
SELECT space_id, session_id, raw_memory, summary, slug, until_number, source_updated_at, generated_at, model, prompt,
       extractor, said_from, said_until
FROM session_summaries WHERE space_id = :space AND session_id = :session;

-- name: start_over
-- Reset a session that was only quoted, so that it is learned from after its first quoted record.
UPDATE sessions SET processed_until = CASE WHEN CAST(:start AS bigint) > 0 THEN :start END, invalidated_at = NULL,
    rests = 0
WHERE space_id = :space AND id = :session AND learns = 1;

-- name: drop_session_summary
-- Delete the summary of a session.
DELETE FROM session_summaries WHERE space_id = :space AND session_id = :session;

-- name: forget_session_summaries
-- Delete the summaries of some sessions.
DELETE FROM session_summaries WHERE space_id = :space AND session_id in_list(:sessions);

-- name: forget_session_answers
-- Remove the answers of models about some sessions.
DELETE FROM answers WHERE space_id = :space AND kind = :kind AND key in_list(:sessions);

-- name: forget_writers_answers
-- Delete the answers of models about an entire space: they may repeat deleted text.
DELETE FROM answers WHERE space_id = :space AND kind <> :kind;

-- name: conversation_sessions
-- The sessions of a conversation.
SELECT id FROM sessions WHERE space_id = :space AND conversation_id = :conversation ORDER BY ordinal;

-- name: lock_space
-- Lock the facts of a space, so that one transaction at a time reconciles them.
SELECT id FROM spaces WHERE id = :space /*for_update*/;

-- name: existing_numbers
-- Those of these messages that exist and were not retracted.
SELECT number FROM messages WHERE space_id = :space AND session_id = :session AND number in_list(:numbers)
  AND retracted_at IS NULL;

-- name: advance_session
-- Record the learning progress, unless another worker did; the mark is cleared unless it is higher.
UPDATE sessions SET processed_until = :until, rests = 0,
    invalidated_at = CASE WHEN invalidated_at > :until THEN invalidated_at END,
    marked_at = CASE WHEN invalidated_at > :until THEN marked_at END,
    marked_by = CASE WHEN invalidated_at > :until THEN marked_by END
WHERE space_id = :space AND id = :session AND COALESCE(processed_until, 0) = :start AND :until <= last_number
RETURNING invalidated_at, ended_at;

-- name: rest_session
-- Record that the job of a session failed, so that a new message restarts it.
UPDATE sessions SET rests = 1 WHERE space_id = :space AND id = :session;

-- name: wake_session
-- Clear the pause of a job, because of a new message.
UPDATE sessions SET rests = 0 WHERE space_id = :space AND id = :session;

-- name: last_said
-- When the newest record of a session was stored.
SELECT recorded_at FROM messages WHERE space_id = :space AND session_id = :session ORDER BY number DESC LIMIT 1;

-- name: broken_sessions
-- Of the newest sessions of a space: those processed beyond their last record, or marked without a job to learn from them.
-- The job is looked up for each of them: for EXISTS, PostgreSQL would read all jobs of the space.
SELECT count(*) AS count FROM (
    SELECT n.*, (
        SELECT j.status FROM jobs j WHERE j.space_id = :space AND j.kind = :kind AND j.key = n.id
    ) AS job
    FROM (SELECT * FROM sessions WHERE space_id = :space ORDER BY id DESC LIMIT :limit) n
) s WHERE s.processed_until > s.last_number OR s.invalidated_at > s.last_number OR (
    COALESCE(s.job, 'done') = 'done'
    AND (s.invalidated_at IS NOT NULL OR (s.ended_at IS NULL AND s.learns = 1 AND s.rests = 0))
);

-- name: count_newest_unsupported
-- The number of the newest facts of a space that were learned and have no remaining source message.
SELECT count(DISTINCT f.id) AS count FROM (
    SELECT id, effect FROM facts WHERE space_id = :space ORDER BY recorded_at DESC, id DESC, version DESC LIMIT :limit
) f WHERE f.effect IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM fact_sources s WHERE s.space_id = :space AND s.fact_id = f.id
);
