-- name: facts_from_messages
-- Facts that are based on one of some messages of a session.
SELECT f.id, f.version FROM fact_sources s JOIN facts f ON f.space_id = s.space_id AND f.id = s.fact_id
WHERE s.space_id = :space AND s.session_id = :session AND s.number in_list(:numbers)
ORDER BY f.id, f.version;

-- name: what_rests_on_message
-- Whether its session summary or a document may repeat a message, and whether a fact, a claim under review or the
-- summary of its conversation does.
SELECT EXISTS (
    SELECT 1 FROM session_summaries l
    WHERE l.space_id = :space AND l.session_id = :session AND l.until_number >= :number
) OR EXISTS (
    SELECT 1 FROM document_sources d
    WHERE d.space_id = :space AND d.kind = 'message' AND d.source_id = :session AND d.number = :number
) AS noted, EXISTS (
    SELECT 1 FROM fact_sources f WHERE f.space_id = :space AND f.session_id = :session AND f.number = :number
) OR EXISTS (
    SELECT 1 FROM review_sources r WHERE r.space_id = :space AND r.session_id = :session AND r.number = :number
) OR EXISTS (
    SELECT 1 FROM messages m JOIN sessions s ON s.space_id = m.space_id AND s.id = m.session_id
    JOIN summaries u ON u.space_id = s.space_id AND u.conversation_id = s.conversation_id
    WHERE m.space_id = :space AND m.session_id = :session AND m.number = :number AND u.set_at >= m.recorded_at
) AS told;

-- name: facts_from_sessions
-- Facts that are based on a message of some sessions.
SELECT DISTINCT fact_id FROM fact_sources WHERE space_id = :space AND session_id in_list(:sessions);

-- name: documents_resting_on
-- Versions of documents that are based on a source, the oldest document first; a message is also identified by its
-- number.
SELECT d.id, d.version FROM document_sources s JOIN documents d
  ON d.space_id = s.space_id AND d.id = s.document_id AND d.version >= s.version
     AND (s.last_version IS NULL OR s.last_version >= d.version)
WHERE s.space_id = :space AND s.kind = :kind AND s.source_id = :id AND s.number = :number
ORDER BY d.created_at, d.slug, d.id, d.version;
