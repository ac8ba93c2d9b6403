-- name: facts_from_message
-- Facts that rest on a message.
SELECT f.id, f.version FROM fact_sources s JOIN facts f ON f.space_id = s.space_id AND f.id = s.fact_id
WHERE s.space_id = :space AND s.session_id = :session AND s.number = :number ORDER BY f.id, f.version;

-- name: documents_resting_on
-- Versions of documents that rest on something; a message is named by its number, too.
SELECT document_id AS id, version FROM document_sources
WHERE space_id = :space AND kind = :kind AND source_id = :id AND number = :number ORDER BY document_id, version;
