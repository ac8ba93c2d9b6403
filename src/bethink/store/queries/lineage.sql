-- name: facts_from_message
-- Facts that rest on a message.
SELECT f.id, f.version FROM fact_sources s JOIN facts f ON f.space_id = s.space_id AND f.id = s.fact_id
WHERE s.space_id = :space AND s.session_id = :session AND s.number = :number ORDER BY f.id, f.version;

-- name: documents_resting_on
-- Versions of documents that rest on something; a message is named by its number, too.
SELECT document_id AS id, version FROM document_sources
WHERE space_id = :space AND kind = :kind AND source_id = :id AND number = :number ORDER BY document_id, version;

-- name: facts_for_context
-- Facts that hold at a time: what users asked for themselves first, then what was most of use, then the newest.
SELECT f.id, f.version, f.content, f.kind, f.origin, f.source, f.tags, f.metadata, f.entities, f.subject, f.slot,
       f.valid_from, f.valid_to, f.created_at, f.recorded_at, f.retired_at, f.retired_by, f.model, f.prompt, f.extractor
FROM facts f
LEFT JOIN usage u ON u.space_id = f.space_id AND u.kind = 'fact' AND u.id = f.id AND u.number = f.version
WHERE f.space_id = :space AND f.recorded_at <= :at AND (f.retired_at IS NULL OR f.retired_at > :at)
  AND (f.valid_to IS NULL OR f.valid_to > :now)
ORDER BY CASE WHEN f.kind in_list(:directive) AND f.origin = 'user' THEN 0 ELSE 1 END,
         COALESCE(u.usage_count, 0) DESC, f.recorded_at DESC, f.id LIMIT :limit;

-- name: session_memories_for_context
-- What is remembered of sessions, the most used and newest first.
SELECT session_id AS id, summary, raw_memory, source_updated_at AS at, slug FROM session_memories
WHERE space_id = :space AND generated_at <= :at
ORDER BY usage_count DESC, source_updated_at DESC, session_id DESC LIMIT :limit;

-- name: documents_for_context
-- Documents as they stood at a time, those that were written first ahead.
SELECT id, version AS number, slug, title, description, '' AS body, origin, valid_from AS at, valid_to FROM documents
WHERE space_id = :space AND redacted = 0 AND valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)
  AND NOT (author_kind = 'job' AND slug IN ('memory', 'consolidated', 'MEMORY.md', 'memory_summary.md'))
ORDER BY created_at, id LIMIT :limit;
