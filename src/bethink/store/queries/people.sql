-- name: texts_of_message
-- Messages with their texts, page by page.
SELECT m.session_id AS id, m.number AS part, m.number, m.name AS speaker, '' AS subject, '[]' AS entities,
       m.said_at AS at, m.content AS text, CAST(m.tool_calls AS text) || CAST(m.metadata AS text) || CAST(m.tags AS text) AS more
FROM messages m WHERE m.space_id = :space AND (m.session_id, m.number) > (:after, :part)
ORDER BY m.session_id, m.number LIMIT :limit;

-- name: texts_of_fact
-- Facts in all versions, page by page.
SELECT f.id, f.version AS part, f.version AS number, f.speaker, COALESCE(f.subject, '') AS subject,
       CAST(f.entities AS text) AS entities, f.created_at AS at, f.content AS text,
       f.id || ' ' || COALESCE(f.slot, '') || ' ' || CAST(f.metadata AS text) || CAST(f.tags AS text) AS more
FROM facts f WHERE f.space_id = :space AND (f.id, f.version) > (:after, :part)
ORDER BY f.id, f.version LIMIT :limit;

-- name: texts_of_session_summary
-- Session summaries, page by page.
SELECT s.session_id AS id, 0 AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       s.generated_at AS at, s.summary || ' ' || s.raw_memory AS text, s.slug AS more
FROM session_summaries s WHERE s.space_id = :space AND s.session_id > :after
ORDER BY s.session_id LIMIT :limit;

-- name: texts_of_document
-- Documents in all versions that have a text, page by page.
SELECT d.id, d.version AS part, d.version AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       d.valid_from AS at, d.title || '. ' || d.description || ' ' || d.body AS text,
       d.reason || ' ' || CAST(d.metadata AS text) || CAST(d.tags AS text) AS more
FROM documents d WHERE d.space_id = :space AND (d.id, d.version) > (:after, :part) AND d.redacted = 0
ORDER BY d.id, d.version LIMIT :limit;

-- name: texts_of_chunk
-- Chunks of threads, page by page.
SELECT c.thread_id AS id, c.id AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       c.created_at AS at, CAST(c.content AS text) AS text, CAST(c.custom AS text) AS more
FROM chunks c WHERE c.space_id = :space AND (c.thread_id, c.id) > (:after, :part)
ORDER BY c.thread_id, c.id LIMIT :limit;

-- name: texts_of_event
-- Events of threads, page by page.
SELECT e.thread_id AS id, e.number AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       e.queued_at AS at, CAST(e.payload AS text) AS text, '' AS more
FROM events e WHERE e.space_id = :space AND (e.thread_id, e.number) > (:after, :part)
ORDER BY e.thread_id, e.number LIMIT :limit;

-- name: texts_of_review
-- Claims under review, page by page.
SELECT r.id, 0 AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities, r.created_at AS at,
       CAST(r.claim AS text) AS text, r.detail || ' ' || COALESCE(r.note, '') AS more
FROM reviews r WHERE r.space_id = :space AND r.id > :after ORDER BY r.id LIMIT :limit;

-- name: texts_of_summary
-- Summaries of conversations, page by page.
SELECT s.conversation_id AS id, 0 AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       s.set_at AS at, s.content AS text, '' AS more
FROM summaries s WHERE s.space_id = :space AND s.conversation_id > :after ORDER BY s.conversation_id LIMIT :limit;

-- name: texts_of_labels
-- The tags and the metadata of sessions that have any, page by page.
SELECT s.id, 0 AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities, s.created_at AS at,
       CAST(s.tags AS text) || CAST(s.metadata AS text) AS text, '' AS more
FROM sessions s WHERE s.space_id = :space AND s.id > :after
  AND CAST(s.tags AS text) || CAST(s.metadata AS text) <> '[]{}' ORDER BY s.id LIMIT :limit;

-- name: texts_of_feedback
-- Feedback notes on facts, page by page.
SELECT f.id, 0 AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities, f.given_at AS at,
       f.note AS text, '' AS more
FROM feedback f WHERE f.space_id = :space AND f.id > :after AND f.note IS NOT NULL ORDER BY f.id LIMIT :limit;

-- name: forget_review
-- Remove a claim under review.
DELETE FROM reviews WHERE space_id = :space AND id = :id;

-- name: forget_summary
-- Remove the summary of a conversation.
DELETE FROM summaries WHERE space_id = :space AND conversation_id = :id;

-- name: forget_labels
-- Remove the tags and the metadata of a session.
UPDATE sessions SET tags = '[]', metadata = '{}' WHERE space_id = :space AND id = :id
  AND CAST(tags AS text) || CAST(metadata AS text) <> '[]{}';

-- name: forget_feedback
-- Delete the note of feedback on a fact; the verdict is kept.
UPDATE feedback SET note = NULL WHERE space_id = :space AND id = :id AND note IS NOT NULL;

-- name: list_recorded_review
-- Every claim under review, and when it was created.
SELECT id, id AS name, created_at AS at FROM reviews WHERE space_id = :space ORDER BY id;

-- name: list_recorded_summary
-- Every summary of a conversation, and when it was set.
SELECT conversation_id AS id, conversation_id AS name, set_at AS at FROM summaries WHERE space_id = :space
ORDER BY conversation_id;

-- name: list_recorded_labels
-- The tags and the metadata of every session that has any. They have no time, so their content is part of their name.
SELECT id, id || ':' || CAST(tags AS text) || CAST(metadata AS text) AS name, created_at AS at FROM sessions
WHERE space_id = :space AND CAST(tags AS text) || CAST(metadata AS text) <> '[]{}' ORDER BY id;

-- name: name_of_labels
-- The same of one session.
SELECT id || ':' || CAST(tags AS text) || CAST(metadata AS text) AS name FROM sessions WHERE space_id = :space AND id = :id;

-- name: list_recorded_feedback
-- Every note on a fact, and when it was given.
SELECT id, id AS name, given_at AS at FROM feedback WHERE space_id = :space AND note IS NOT NULL ORDER BY id;
