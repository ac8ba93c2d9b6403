-- columns: session
space_id, id, conversation_id, agent_id, ordinal, learns, created_at, ended_at, end_reason,
last_number, invalidated_at, marked_at, marked_by, processed_until, tags, metadata;

-- name: ensure_space
-- Create a space at its first use.
INSERT INTO spaces (id, shard, created_at) VALUES (:space, :shard, :now) ON CONFLICT (id) DO NOTHING;

-- name: ensure_agent
-- Create an agent at its first use; its kind never changes.
INSERT INTO agents (space_id, id, name, kind, created_at) VALUES (:space, :id, :name, :kind, :now)
ON CONFLICT (space_id, name) DO NOTHING;

-- name: find_agent
-- An agent by its name in the space.
SELECT id, name, kind FROM agents WHERE space_id = :space AND name = :name;

-- name: ensure_conversation
-- Create a conversation at its first use.
INSERT INTO conversations (space_id, id, agent_id, key, created_at) VALUES (:space, :id, :agent, :key, :now)
ON CONFLICT (space_id, agent_id, key) DO NOTHING;

-- name: find_conversation
-- A conversation of an agent by its key.
SELECT c.id FROM conversations c JOIN agents a ON a.space_id = c.space_id AND a.id = c.agent_id
WHERE c.space_id = :space AND a.name = :agent AND c.key = :key;

-- name: conversation_key
-- The key that names a conversation.
SELECT key FROM conversations WHERE space_id = :space AND id = :id;

-- name: lock_conversation
-- Lock a conversation while its active session changes.
SELECT id FROM conversations WHERE space_id = :space AND id = :id /*for_update*/;

-- name: insert_session
-- Open the next session of a conversation.
INSERT INTO sessions (space_id, id, conversation_id, agent_id, ordinal, learns, created_at)
SELECT :space, :id, c.id, c.agent_id, :ordinal, :learns, :now
FROM conversations c WHERE c.space_id = :space AND c.id = :conversation;

-- name: label_session
-- Replace the tags and the metadata of a session.
UPDATE sessions SET tags = :tags, metadata = :metadata WHERE space_id = :space AND id = :id;

-- name: find_session
-- One session by its id.
SELECT session_columns() FROM sessions WHERE space_id = :space AND id = :id;

-- name: lock_session
-- One session by its id, locked until the transaction ends.
SELECT session_columns() FROM sessions
WHERE space_id = :space AND id = :id /*for_update*/;

-- name: newest_session
-- The newest session of a conversation, ended or not.
SELECT session_columns() FROM sessions
WHERE space_id = :space AND conversation_id = :conversation
ORDER BY ordinal DESC LIMIT 1;

-- name: find_marked
-- Those of these sessions that are marked.
SELECT session_columns() FROM sessions
WHERE space_id = :space AND id in_list(:ids) AND invalidated_at IS NOT NULL;

-- name: list_sessions
-- The sessions of a space with their agents and conversations, the newest first.
SELECT session_columns(s), c.key, a.name,
       (SELECT m.said_at FROM messages m WHERE m.space_id = :space AND m.session_id = s.id
        ORDER BY m.number LIMIT 1) AS begun_at,
       (SELECT m.said_at FROM messages m WHERE m.space_id = :space AND m.session_id = s.id
        AND m.retracted_at IS NULL ORDER BY m.number DESC LIMIT 1) AS last_at, l.summary, j.status, j.last_error
FROM sessions s
LEFT JOIN jobs j ON j.space_id = :space AND j.kind = 'extract' AND j.key = s.id
LEFT JOIN session_summaries l ON l.space_id = :space AND l.session_id = s.id
JOIN conversations c ON c.space_id = :space AND c.id = s.conversation_id
JOIN agents a ON a.space_id = :space AND a.id = s.agent_id
WHERE s.space_id = :space /*given before*/ AND s.id < :before /*end*/
  /*given failed*/ AND s.id IN (
      SELECT f.key FROM jobs f WHERE f.space_id = :space AND f.kind = 'extract' AND f.status IN ('failed', 'abandoned')
  ) /*end*/
  /*given queued*/ AND s.invalidated_at IS NOT NULL AND COALESCE(j.status, '') NOT IN ('failed', 'abandoned') /*end*/
  /*given learned*/ AND s.invalidated_at IS NULL AND s.learns = 1 AND s.last_number > 0
      AND s.processed_until >= s.last_number /*end*/
  /*given open*/ AND s.invalidated_at IS NULL AND s.learns = 1 AND COALESCE(s.processed_until, -1) < s.last_number
      AND COALESCE(j.status, '') NOT IN ('failed', 'abandoned') /*end*/
  /*given ephemeral*/ AND s.learns = 0 /*end*/
  /*given starting*/ AND substr(c.key, 1, length(:starting)) = :starting /*end*/
  /*only(session s)*/
ORDER BY s.id DESC LIMIT :limit;

-- name: count_space
-- The contents of a space: facts, current or replaced, and the versions of documents that have a text.
SELECT
    (SELECT count(*) FROM messages WHERE space_id = :space) AS messages,
    (SELECT count(DISTINCT id) FROM facts WHERE space_id = :space) AS facts,
    (SELECT count(*) FROM session_summaries WHERE space_id = :space) AS session_summaries,
    (SELECT count(*) FROM documents WHERE space_id = :space AND redacted = 0) AS documents,
    (SELECT count(*) FROM threads WHERE space_id = :space) AS threads
FROM spaces WHERE id = :space;

-- name: forget_space
-- Remove a space with everything in it.
DELETE FROM spaces WHERE id = :space;

-- name: end_session
-- End a session; changes nothing if it has already ended.
UPDATE sessions SET ended_at = :now, end_reason = :reason
WHERE space_id = :space AND id = :id AND ended_at IS NULL;

-- name: take_numbers
-- Reserve the next numbers of an open session under its row lock, and mark it beyond the threshold.
UPDATE sessions SET
    last_number = last_number + :count,
    invalidated_at = CASE
        WHEN learns = 1 AND last_number + :count - COALESCE(processed_until, 0) > :threshold
             AND COALESCE(invalidated_at, 0) < last_number + :count
        THEN last_number + :count ELSE invalidated_at END,
    marked_at = CASE
        WHEN invalidated_at IS NULL AND learns = 1
             AND last_number + :count - COALESCE(processed_until, 0) > :threshold
        THEN CAST(:now AS bigint) ELSE marked_at END,
    marked_by = CASE
        WHEN invalidated_at IS NULL AND learns = 1
             AND last_number + :count - COALESCE(processed_until, 0) > :threshold
        THEN 'turn_threshold' ELSE marked_by END
WHERE space_id = :space AND id = :id AND ended_at IS NULL
RETURNING last_number, marked_at, (
    SELECT t.id FROM threads t WHERE t.space_id = sessions.space_id AND t.session_id = sessions.id
) AS thread_id, rests,
    COALESCE(
        (SELECT substr(m.seal, 17) FROM messages m WHERE m.space_id = :space AND m.session_id = sessions.id
         AND m.number = sessions.last_number - :count),
        (SELECT k.digest FROM chain_links k WHERE k.space_id = :space AND k.session_id = sessions.id
         AND k.number = sessions.last_number - :count)
    ) AS link,
    (SELECT p.key FROM spaces p WHERE p.id = :space) AS key,
    (SELECT p.place FROM spaces p WHERE p.id = :space) AS place,
    (SELECT max(i.doc) FROM terms i
     WHERE i.doc < (((SELECT p.place FROM spaces p WHERE p.id = :space) + 1) << 34)) AS last_doc,
    (SELECT 1 FROM tombstones b WHERE b.space_id = :space AND b.kind = 'idempotency_key' LIMIT 1) AS erased_keys;

-- name: mark_session
-- Raise the mark of a session. It is never lowered, and never set on a session that is not learned from.
UPDATE sessions SET
    invalidated_at = :number,
    rests = 0,
    marked_at = COALESCE(marked_at, :now),
    marked_by = COALESCE(marked_by, :trigger)
WHERE space_id = :space AND id = :id AND learns = 1
  AND (invalidated_at IS NULL OR invalidated_at < :number);

-- name: clear_mark
-- Record the learning progress, if the mark has not changed since. The watermark never moves back, nor past
-- the last record.
UPDATE sessions SET invalidated_at = NULL, marked_at = NULL, marked_by = NULL, rests = 0,
    processed_until = CASE
        WHEN processed_until > :until THEN processed_until
        WHEN :until > last_number THEN last_number ELSE :until END
WHERE space_id = :space AND id = :id AND invalidated_at = :expected;

-- name: clear_purged_marks
-- Without messages there is nothing to learn: the session counts as processed up to its last number.
UPDATE sessions SET invalidated_at = NULL, marked_at = NULL, marked_by = NULL, rests = 0,
    processed_until = CASE WHEN last_number > 0 THEN last_number ELSE processed_until END,
    tags = '[]', metadata = '{}'
WHERE space_id = :space AND id in_list(:sessions);

-- name: set_summary
-- Store the one summary of a conversation, replacing the previous one.
INSERT INTO summaries (space_id, conversation_id, content, set_at) VALUES (:space, :conversation, :content, :now)
ON CONFLICT (space_id, conversation_id) DO UPDATE SET content = excluded.content, set_at = excluded.set_at;

-- name: get_summary
-- The summary of a conversation.
SELECT content FROM summaries WHERE space_id = :space AND conversation_id = :conversation;

-- name: drop_summary
-- Remove the summary of a conversation.
DELETE FROM summaries WHERE space_id = :space AND conversation_id = :conversation;

-- name: last_sessions
-- The newest sessions of primary agents, the one with the last message first.
SELECT newest.id FROM (
    SELECT s.id, s.last_number, s.created_at FROM sessions s
    JOIN agents a ON a.space_id = s.space_id AND a.id = s.agent_id
    WHERE s.space_id = :space AND s.last_number > 0 AND a.kind = 'primary' AND s.created_at <= :known
    ORDER BY s.id DESC LIMIT :limit
) newest
LEFT JOIN messages m ON m.space_id = :space AND m.session_id = newest.id AND m.number = newest.last_number
ORDER BY COALESCE(m.said_at, newest.created_at) DESC, newest.id DESC;

-- name: ends_of_session
-- The first message of a user in a session, and the last one of the assistant.
SELECT m.role, m.session_id AS id, m.number, m.said_at FROM messages m
WHERE m.space_id = :space AND m.session_id = :session AND (
    m.number = (
        SELECT min(f.number) FROM messages f WHERE f.space_id = :space AND f.session_id = :session AND f.role = 'user'
          AND f.origin = 'user' AND f.retracted_at IS NULL AND length(f.content) >= :least
    ) OR m.number = (
        SELECT max(l.number) FROM messages l WHERE l.space_id = :space AND l.session_id = :session
          AND l.role = 'assistant' AND l.origin = 'assistant' AND l.retracted_at IS NULL
    )
)
ORDER BY m.number;
