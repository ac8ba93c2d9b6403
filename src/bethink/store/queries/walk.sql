-- name: walk_from_facts
-- The source messages of some facts.
SELECT pairs.id AS from_id, pairs.number AS from_number, 'message' AS kind, s.session_id AS id, s.number
FROM pairs(:ids, :numbers) JOIN fact_sources s ON s.space_id = :space AND s.fact_id = pairs.id
ORDER BY s.session_id, s.number LIMIT :limit;

-- name: walk_from_documents
-- The sources of some versions of documents; of a fact, the version that was current when the document was written.
SELECT pairs.id AS from_id, pairs.number AS from_number, s.kind, s.source_id AS id, CASE WHEN s.kind = 'fact' THEN (
    SELECT max(f.version) FROM facts f WHERE f.space_id = :space AND f.id = s.source_id AND f.recorded_at <= d.valid_from
) ELSE s.number END AS number
FROM pairs(:ids, :numbers) JOIN documents d ON d.space_id = :space AND d.id = pairs.id AND d.version = pairs.number
JOIN document_sources s ON s.space_id = :space AND s.document_id = d.id AND s.version <= d.version
  AND (s.last_version IS NULL OR s.last_version >= d.version)
ORDER BY s.kind, s.source_id, s.number LIMIT :limit;

-- name: walk_from_session_summaries
-- The messages of the sessions of some session summaries, as far as these cover them.
SELECT pairs.id AS from_id, pairs.number AS from_number, 'message' AS kind, m.session_id AS id, m.number
FROM pairs(:ids, :numbers) JOIN session_summaries l ON l.space_id = :space AND l.session_id = pairs.id
JOIN messages m ON m.space_id = :space AND m.session_id = l.session_id AND m.number <= l.until_number
ORDER BY m.session_id, m.number LIMIT :limit;

-- name: walk_to_facts
-- The facts that are based on some messages, in their newest version.
SELECT pairs.id AS from_id, pairs.number AS from_number, 'fact' AS kind, s.fact_id AS id, (
    SELECT max(f.version) FROM facts f WHERE f.space_id = :space AND f.id = s.fact_id
) AS number
FROM pairs(:ids, :numbers)
JOIN fact_sources s ON s.space_id = :space AND s.session_id = pairs.id AND s.number = pairs.number
ORDER BY s.fact_id LIMIT :limit;

-- name: walk_to_session_summaries
-- The summaries of the sessions of some messages.
SELECT pairs.id AS from_id, pairs.number AS from_number, 'session_summary' AS kind, l.session_id AS id, 0 AS number
FROM pairs(:ids, :numbers)
JOIN session_summaries l ON l.space_id = :space AND l.session_id = pairs.id AND l.until_number >= pairs.number
ORDER BY l.session_id LIMIT :limit;

-- name: walk_to_documents
-- The documents that are based on some memories of a kind, in the newest version that is.
SELECT pairs.id AS from_id, pairs.number AS from_number, 'document' AS kind, s.document_id AS id, COALESCE(
    s.last_version, (SELECT max(d.version) FROM documents d WHERE d.space_id = :space AND d.id = s.document_id)
) AS number
FROM pairs(:ids, :numbers) JOIN document_sources s ON s.space_id = :space AND s.kind = :kind AND s.source_id = pairs.id
  AND (s.kind <> 'message' OR s.number = pairs.number)
ORDER BY s.document_id, s.version LIMIT :limit;
