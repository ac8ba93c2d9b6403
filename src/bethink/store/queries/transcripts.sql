-- name: messages_before
-- Messages of a session before a number, the last first.
SELECT session_id, number, role, content, name, tool_calls, tool_call_id, is_error, metadata, origin,
       idempotency_key, trace_parent, said_at, recorded_at, tags, retracted_at
FROM messages WHERE space_id = :space AND session_id = :session AND number < :before
ORDER BY number DESC LIMIT :limit;

-- name: facts_of_lines
-- The facts that are based on a range of messages, in their newest version, without those asked to be forgotten.
SELECT s.number AS line, f.id, f.version, f.content,
       f.retired_at IS NOT NULL OR COALESCE(f.valid_to <= :now, FALSE) OR COALESCE(f.expires_at <= :now, FALSE) AS is_past
FROM fact_sources s
JOIN facts f ON f.space_id = s.space_id AND f.id = s.fact_id AND f.version = (
    SELECT max(n.version) FROM facts n WHERE n.space_id = :space AND n.id = s.fact_id
)
WHERE s.space_id = :space AND s.session_id = :session AND s.number BETWEEN :first AND :last
  AND COALESCE(f.ended_as, '') <> 'hidden'
ORDER BY s.number, f.id LIMIT :limit;

-- name: documents_of_lines
-- The documents that are based on a range of messages, each in the newest such version.
SELECT s.number AS line, s.document_id AS id, COALESCE(
    s.last_version, (SELECT max(d.version) FROM documents d WHERE d.space_id = :space AND d.id = s.document_id)
) AS version
FROM document_sources s
WHERE s.space_id = :space AND s.kind = 'message' AND s.source_id = :session AND s.number BETWEEN :first AND :last
ORDER BY s.number, s.document_id, s.version LIMIT :limit;

-- name: claims_of_lines
-- The claims under review that quote a range of messages.
SELECT s.number AS line, r.id, r.status, r.reason FROM review_sources s
JOIN reviews r ON r.space_id = s.space_id AND r.id = s.review_id
WHERE s.space_id = :space AND s.session_id = :session AND s.number BETWEEN :first AND :last
ORDER BY s.number, r.id LIMIT :limit;

-- name: showings_of_lines
-- The number of times that each of a range of messages was shown.
SELECT number AS line, count(*) AS count FROM ledger_items
WHERE space_id = :space AND kind = 'message' AND id = :session AND number BETWEEN :first AND :last GROUP BY number;
