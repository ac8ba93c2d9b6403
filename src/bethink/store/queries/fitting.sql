-- name: fitting_messages
-- The messages that fit a filter, in order.
SELECT m.session_id AS id, m.number FROM messages m WHERE m.space_id = :space /*only(message m)*/
ORDER BY m.session_id, m.number;

-- name: fitting_facts
-- The facts of which a version fits a filter.
SELECT DISTINCT f.id FROM facts f WHERE f.space_id = :space /*only(fact f)*/ ORDER BY f.id;

-- name: fitting_session_memories
-- The session memories that fit a filter.
SELECT s.session_id AS id FROM session_memories s WHERE s.space_id = :space /*only(session_memory s)*/
ORDER BY s.session_id;

-- name: fitting_documents
-- The documents of which a version with a text fits a filter.
SELECT DISTINCT d.id FROM documents d WHERE d.space_id = :space AND d.redacted = 0 /*only(document d)*/ ORDER BY d.id;
