-- name: fitting_messages
-- The messages that match a filter, in order.
SELECT m.session_id AS id, m.number FROM messages m WHERE m.space_id = :space /*only(message m)*/
ORDER BY m.session_id, m.number;

-- name: fitting_facts
-- The facts with a version that matches a filter.
SELECT DISTINCT f.id FROM facts f WHERE f.space_id = :space /*only(fact f)*/ ORDER BY f.id;

-- name: fitting_session_summaries
-- The session summaries that match a filter.
SELECT s.session_id AS id FROM session_summaries s WHERE s.space_id = :space /*only(session_summary s)*/
ORDER BY s.session_id;

-- name: fitting_documents
-- The documents with a version with a text that matches a filter.
SELECT DISTINCT d.id FROM documents d WHERE d.space_id = :space AND d.redacted = 0 /*only(document d)*/ ORDER BY d.id;
