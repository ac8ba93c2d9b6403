-- Which embedders have vectors here. An id is never given out again.
CREATE TABLE vector_indexes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension BETWEEN 1 AND 16000),
    status TEXT NOT NULL CHECK (status IN ('filling', 'live', 'retired')),
    created_at INTEGER NOT NULL,
    live_at INTEGER,
    UNIQUE (embedder, dimension)
) STRICT;

-- Half precision. The rows of a space lie together: a search reads them all.
CREATE TABLE vectors (
    space_id TEXT NOT NULL,
    index_id INTEGER NOT NULL REFERENCES vector_indexes (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    part INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (space_id, index_id, kind, id, number, part)
) STRICT, WITHOUT ROWID;

-- What has words that can be embedded, one row for each text.
CREATE VIEW embeddable AS
SELECT space_id, 'message' AS kind, session_id AS id, number, role, name, '' AS title, '' AS description,
       content AS body, said_at
FROM messages
WHERE role IN ('user', 'assistant', 'tool') AND origin <> 'memory' AND trim(content, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'fact', id, version, NULL, NULL, '', '', content, created_at
FROM facts WHERE trim(content, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'session_memory', session_id, 0, NULL, NULL, '', summary, raw_memory, source_updated_at
FROM session_memories WHERE trim(summary || raw_memory, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'document', id, version, NULL, NULL, title, description, body, valid_from
FROM documents
WHERE redacted = 0 AND NOT (author_kind = 'job' AND slug IN ('memory', 'consolidated', 'MEMORY.md', 'memory_summary.md'))
  AND trim(title || description || body, char(9, 10, 11, 12, 13, 32)) <> '';

-- A vector goes with its text: whatever is deleted takes its vectors along.
CREATE TRIGGER messages_vectors_ad AFTER DELETE ON messages BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER facts_vectors_ad AFTER DELETE ON facts BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER session_memories_vectors_ad AFTER DELETE ON session_memories BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER documents_vectors_ad AFTER DELETE ON documents BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'document' AND id = old.id AND number = old.version;
END;

-- The same for a text that was changed; it is embedded again.
CREATE TRIGGER messages_vectors_au AFTER UPDATE OF name, content ON messages
WHEN old.name IS NOT new.name OR old.content IS NOT new.content BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER facts_vectors_au AFTER UPDATE OF content ON facts
WHEN old.content IS NOT new.content BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER session_memories_vectors_au AFTER UPDATE OF summary, raw_memory ON session_memories
WHEN old.summary IS NOT new.summary OR old.raw_memory IS NOT new.raw_memory BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER documents_vectors_au AFTER UPDATE OF title, description, body ON documents
WHEN old.title IS NOT new.title OR old.description IS NOT new.description OR old.body IS NOT new.body BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'document' AND id = old.id AND number = old.version;
END;

-- Every space has something to embed.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at)
SELECT s.id, 'index', 'space', s.created_at, 'queued', s.created_at FROM spaces s WHERE true
ON CONFLICT (space_id, kind, key) DO NOTHING;
