-- name: texts_of_message
-- Messages with their texts, page by page.
SELECT m.session_id AS id, m.number AS part, m.number, m.name AS speaker, '' AS subject, '[]' AS entities,
       m.said_at AS at, m.content AS text, CAST(m.tool_calls AS text) || CAST(m.metadata AS text) AS more
FROM messages m WHERE m.space_id = :space AND (m.session_id, m.number) > (:after, :part)
ORDER BY m.session_id, m.number LIMIT :limit;

-- name: texts_of_fact
-- Facts in all versions, page by page.
SELECT f.id, f.version AS part, f.version AS number, f.speaker, COALESCE(f.subject, '') AS subject,
       CAST(f.entities AS text) AS entities, f.created_at AS at, f.content AS text, CAST(f.metadata AS text) AS more
FROM facts f WHERE f.space_id = :space AND (f.id, f.version) > (:after, :part)
ORDER BY f.id, f.version LIMIT :limit;

-- name: texts_of_session_memory
-- Session memories, page by page.
SELECT s.session_id AS id, 0 AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       s.generated_at AS at, s.summary || ' ' || s.raw_memory AS text, '' AS more
FROM session_memories s WHERE s.space_id = :space AND s.session_id > :after
ORDER BY s.session_id LIMIT :limit;

-- name: texts_of_document
-- Documents in all versions that have a text, page by page.
SELECT d.id, d.version AS part, d.version AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       d.valid_from AS at, d.title || '. ' || d.description || ' ' || d.body AS text, CAST(d.metadata AS text) AS more
FROM documents d WHERE d.space_id = :space AND (d.id, d.version) > (:after, :part) AND d.redacted = 0
ORDER BY d.id, d.version LIMIT :limit;

-- name: texts_of_chunk
-- What threads hold, page by page.
SELECT c.thread_id AS id, c.id AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       c.created_at AS at, CAST(c.content AS text) AS text, '' AS more
FROM chunks c WHERE c.space_id = :space AND (c.thread_id, c.id) > (:after, :part)
ORDER BY c.thread_id, c.id LIMIT :limit;

-- name: texts_of_event
-- What happened in threads, page by page.
SELECT e.thread_id AS id, e.number AS part, 0 AS number, NULL AS speaker, '' AS subject, '[]' AS entities,
       e.queued_at AS at, CAST(e.payload AS text) AS text, '' AS more
FROM events e WHERE e.space_id = :space AND (e.thread_id, e.number) > (:after, :part)
ORDER BY e.thread_id, e.number LIMIT :limit;
