-- Documents that only summarize others are marked by a column, instead of a list of names in every query.
ALTER TABLE documents ADD COLUMN overview integer GENERATED ALWAYS AS (
    CASE WHEN author_kind = 'job' AND slug IN ('memory', 'consolidated', 'MEMORY.md', 'memory_summary.md')
    THEN 1 ELSE 0 END
) STORED;

DROP VIEW embeddable;
CREATE VIEW embeddable WITH (security_invoker = true) AS
SELECT space_id, 'message' AS kind, session_id AS id, number, role, name, '' AS title, '' AS description,
       content AS body, said_at
FROM messages
WHERE role IN ('user', 'assistant', 'tool') AND origin <> 'memory' AND btrim(content, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'fact', id, version, NULL, NULL, '', '', content, created_at
FROM facts WHERE btrim(content, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'session_memory', session_id, 0, NULL, NULL, '', summary, raw_memory, source_updated_at
FROM session_memories WHERE btrim(summary || raw_memory, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'document', id, version, NULL, NULL, title, description, body, valid_from
FROM documents
WHERE redacted = 0 AND overview = 0 AND btrim(title || description || body, E' \t\n\v\f\r') <> '';
